// Kernels that follow each other on a stream and overlap (programmatic launch): each starts as soon
// as there is room for its blocks beside the kernel before it, and waits inside until that one is
// done. So the time to start it is not spent between the two.
#pragma once

#include <cuda_runtime.h>

#include "kernels/chunk/kernel_facts.cuh"
#include "kernels/scan/ptx.cuh"

namespace gdelta::cuda {

/// Launches a kernel all of whose threads call scan::wait_for_predecessor() before they read what
/// earlier work may have written or write anything but shared memory. Where its code was compiled
/// for devices that cannot wait (before sm_90), it starts behind the kernel before it, as any other.
template <auto kKernel, class... Arguments>
cudaError_t launch_after(dim3 grid, int threads, cudaStream_t stream,
                         const Arguments&... arguments) {
  int capability = 0;
  if (const cudaError_t error = compiled_for<kKernel>(capability)) return error;
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = capability >= 90 ? 1 : 0;
  return cudaLaunchKernelEx(&config, kKernel, arguments...);
}

}  // namespace gdelta::cuda
