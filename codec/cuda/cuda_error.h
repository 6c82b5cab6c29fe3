// CUDA's errors as errors of the library.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "gdelta/error.h"

namespace gdelta::cuda {

inline tl::unexpected<Error> cuda_failure(cudaError_t error, const char* call) {
  const Errc code = error == cudaErrorMemoryAllocation ? Errc::out_of_memory : Errc::device_error;
  return fail(code, std::string(call) + ": " + cudaGetErrorString(error));
}

}  // namespace gdelta::cuda

/// Returns a device_error (or out_of_memory) from the enclosing function if a CUDA call fails.
#define GDELTA_CUDA_TRY(call)                                   \
  do {                                                          \
    if (const cudaError_t gdelta_error = (call))                \
      return ::gdelta::cuda::cuda_failure(gdelta_error, #call); \
  } while (false)
