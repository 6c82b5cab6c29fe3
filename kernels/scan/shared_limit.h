// How much dynamic shared memory a kernel may be launched with.
#pragma once

#include <cuda_runtime_api.h>

namespace gdelta::scan {

/// Lets `kernel` be launched with all the dynamic shared memory that a block of this device can have.
/// The limit belongs to the kernel, not to a launch: one that followed each launch's own need would
/// be lowered by another thread between this thread's setting and its launch.
template <class Kernel>
cudaError_t raise_shared_limit(Kernel kernel) {
  int device = 0;
  int most = 0;
  cudaFuncAttributes attributes{};
  if (const cudaError_t error = cudaGetDevice(&device)) return error;
  if (const cudaError_t error =
          cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device))
    return error;
  if (const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel)) return error;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              most - static_cast<int>(attributes.sharedSizeBytes));
}

}  // namespace gdelta::scan
