// How installed headers start their kernels. A function, not `<<< >>>`, so that tests can run kernels if
// there is no GPU (tests/simulator).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace gdelta::device {

/// Enqueues a kernel of `blocks` blocks, as many as a grid can have.
template <class... Parameters, class... Arguments>
cudaError_t start_kernel(void (*kernel)(Parameters...), std::uint64_t blocks, int threads,
                         cudaStream_t stream, const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

}  // namespace gdelta::device
