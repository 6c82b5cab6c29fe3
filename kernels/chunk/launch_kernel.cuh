// A launch that starts when all work before it on its stream is done; see launch_after.cuh for one
// that overlaps with it. A function, not `<<< >>>`, so that any C++ compiler reads it and tests can
// run kernels where there is no GPU (tests/simulator).
#pragma once

#include <cuda_runtime.h>

namespace gdelta::cuda {

template <class... Parameters, class... Arguments>
cudaError_t launch_kernel(void (*kernel)(Parameters...), dim3 grid, int threads,
                          cudaStream_t stream, const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace gdelta::cuda
