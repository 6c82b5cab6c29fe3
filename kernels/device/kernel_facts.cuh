// What the driver says about a device, or about a kernel on it, asked once.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>

namespace gdelta::device {

/// A value for each device, asked for once. Devices beyond the last kept one are asked every time.
template <class Value>
class KeptByDevice {
 public:
  /// `ask(device, value)` finds the value and returns a cudaError_t.
  template <class Ask>
  cudaError_t get(int device, Value& value, const Ask& ask) {
    const bool keeps = device >= 0 && device < kKeptDevices;
    if (keeps && is_kept_[device].load(std::memory_order_acquire)) {
      value = kept_[device].load(std::memory_order_relaxed);
      return cudaSuccess;
    }
    if (const cudaError_t error = ask(device, value)) return error;
    if (keeps) {  // whoever asks at the same time keeps the same
      kept_[device].store(value, std::memory_order_relaxed);
      is_kept_[device].store(true, std::memory_order_release);
    }
    return cudaSuccess;
  }

  /// For the current device.
  template <class Ask>
  cudaError_t get(Value& value, const Ask& ask) {
    int device = 0;
    if (const cudaError_t error = cudaGetDevice(&device)) return error;
    return get(device, value, ask);
  }

 private:
  static constexpr int kKeptDevices = 64;
  std::atomic<Value> kept_[kKeptDevices] = {};
  std::atomic<bool> is_kept_[kKeptDevices] = {};
};

/// An attribute of the current device.
template <cudaDeviceAttr kAttribute>
cudaError_t device_attribute(int& value) {
  static KeptByDevice<int> kept;
  return kept.get(value, [](int device, int& asked) {
    return cudaDeviceGetAttribute(&asked, kAttribute, device);
  });
}

/// Blocks of so many threads and bytes of dynamic shared memory that a device holds at once; asked anew.
template <auto kKernel>
cudaError_t count_resident_blocks(int device, int threads, std::size_t shared_bytes, int& blocks) {
  int processors = 0, resident = 0;
  if (const cudaError_t error =
          cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device))
    return error;
  if (const cudaError_t error =
          cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kKernel, threads, shared_bytes))
    return error;
  blocks = processors * resident;
  return cudaSuccess;
}

/// Those without dynamic shared memory.
template <auto kKernel>
cudaError_t resident_blocks(int threads, int& blocks) {
  static KeptByDevice<int> kept;
  return kept.get(blocks, [threads](int device, int& value) {
    return count_resident_blocks<kKernel>(device, threads, 0, value);
  });
}

/// Has blocks of the kernel run with as much memory for the first-level cache as they leave.
template <auto kKernel>
cudaError_t prefer_first_cache() {
  static KeptByDevice<bool> kept;
  bool asked = false;
  return kept.get(asked, [](int, bool& value) {
    value = true;
    return cudaFuncSetAttribute(reinterpret_cast<const void*>(kKernel),
                                cudaFuncAttributePreferredSharedMemoryCarveout,
                                cudaSharedmemCarveoutMaxL1);
  });
}

/// The __CUDA_ARCH__ / 10 that the kernel's code was compiled for. Below the device's own if the
/// driver compiled it from the PTX of an older one.
template <auto kKernel>
cudaError_t compiled_for(int& capability) {
  static KeptByDevice<int> kept;
  return kept.get(capability, [](int, int& value) {
    cudaFuncAttributes attributes{};
    if (const cudaError_t error = cudaFuncGetAttributes(&attributes, kKernel)) return error;
    value = attributes.ptxVersion;
    return cudaSuccess;
  });
}

}  // namespace gdelta::device
