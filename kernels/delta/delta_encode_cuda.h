// Launcher of the device delta encoder, readable by any C++ compiler.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gdelta {

/// delta_encode in device memory, on `stream`; same shapes and requirements. Returns the launch's
/// error.
cudaError_t launch_delta_encode(int value_bytes, int order, std::uint64_t tuple,
                                std::uint64_t count, const void* in, void* out,
                                cudaStream_t stream);

}  // namespace gdelta
