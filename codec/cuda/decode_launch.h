// The launches that decode a range of chunks: heads, pages, strides, maps, verdicts. What the device API
// and the backend have in common.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "codec/cuda/decode_call.h"
#include "codec/cuda/device_layout.h"
#include "gdelta/pages/device_pages.h"

namespace gdelta::cuda {

/// Enqueues everything; never synchronises; may be captured. `scratch` is 256-byte aligned.
cudaError_t launch_decode(const DeviceLayout& device_layout, const DecodeCall& call,
                          cudaStream_t stream);

/// Enqueues what readers of a column's pages need: heads parsed and checked, pages counted.
/// `call` has no output, and its kinds are those of columns that are all pages of warps.
cudaError_t launch_open_pages(const DeviceLayout& device_layout, const DecodeCall& call,
                              std::size_t column, DevicePages& pages, cudaStream_t stream);

/// Enqueues the verdicts behind the readers.
cudaError_t launch_close_pages(const DevicePages& pages, cudaStream_t stream);

}  // namespace gdelta::cuda
