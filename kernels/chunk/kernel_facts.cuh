// What the driver says about a kernel on the current device, asked once a kernel and device.
#pragma once

#include <cuda_runtime.h>

#include <atomic>

namespace gdelta::cuda {

/// A number not below zero for each device. Devices beyond the last kept one are asked every time.
class KeptByDevice {
 public:
  /// `ask(device, value)` finds the number and returns a cudaError_t.
  template <class Ask>
  cudaError_t get(int& value, const Ask& ask) {
    int device = 0;
    if (const cudaError_t error = cudaGetDevice(&device)) return error;
    const bool keeps = device >= 0 && device < kKeptDevices;
    if (keeps) {
      value = kept_[device].load(std::memory_order_relaxed) - 1;
      if (value >= 0) return cudaSuccess;
    }
    if (const cudaError_t error = ask(device, value)) return error;
    if (keeps) kept_[device].store(value + 1, std::memory_order_relaxed);
    return cudaSuccess;
  }

 private:
  static constexpr int kKeptDevices = 64;
  std::atomic<int> kept_[kKeptDevices] = {};  // the number and one; 0: not asked yet
};

/// Blocks of so many threads, without dynamic shared memory, that the device holds at once.
template <auto kKernel>
cudaError_t resident_blocks(int threads, int& blocks) {
  static KeptByDevice kept;
  return kept.get(blocks, [threads](int device, int& value) {
    int processors = 0, resident = 0;
    if (const cudaError_t error =
            cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device))
      return error;
    if (const cudaError_t error =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kKernel, threads, 0))
      return error;
    value = processors * resident;
    return cudaSuccess;
  });
}

/// The __CUDA_ARCH__ / 10 that the kernel's code was compiled for. Below the device's own where the
/// driver compiled it from the PTX of an older one.
template <auto kKernel>
cudaError_t compiled_for(int& capability) {
  static KeptByDevice kept;
  return kept.get(capability, [](int, int& value) {
    cudaFuncAttributes attributes{};
    if (const cudaError_t error = cudaFuncGetAttributes(&attributes, kKernel)) return error;
    value = attributes.ptxVersion;
    return cudaSuccess;
  });
}

}  // namespace gdelta::cuda
