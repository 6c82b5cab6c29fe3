// How much dynamic shared memory a kernel may be launched with.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gdelta::device {

/// Lets `kernel` be launched with all the dynamic shared memory that a block of this device can have.
/// The limit belongs to the kernel, not to a launch: one that followed each launch's own need would
/// be lowered by another thread between this thread's setting and its launch. So it is raised once a
/// kernel and device; every thread would set the same.
/// A kernel's limit is one a context, so it is lost when the device is reset: not noticed here.
inline cudaError_t raise_shared_limit(const void* kernel) {
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device)) return error;
  // What was raised, each kernel and device in the place that its hash says. Whatever finds another
  // there is raised once more.
  constexpr int kPlaceBits = 10;
  static std::atomic<std::uint64_t> raised[std::size_t{1} << kPlaceBits];
  const std::uint64_t key =
      reinterpret_cast<std::uintptr_t>(kernel) ^ static_cast<std::uint64_t>(device) << 48;
  std::atomic<std::uint64_t>& place = raised[key * 0x9e3779b97f4a7c15 >> (64 - kPlaceBits)];
  if (place.load(std::memory_order_acquire) == key) return cudaSuccess;

  int most = 0;
  cudaFuncAttributes attributes{};
  if (const cudaError_t error =
          cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device))
    return error;
  if (const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel)) return error;
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           most - static_cast<int>(attributes.sharedSizeBytes));
  if (error == cudaSuccess) place.store(key, std::memory_order_release);
  return error;
}

template <class... Parameters>
cudaError_t raise_shared_limit(void (*kernel)(Parameters...)) {
  return raise_shared_limit(reinterpret_cast<const void*>(kernel));
}

}  // namespace gdelta::device
