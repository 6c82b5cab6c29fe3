// Pages of the pack coder, a warp a page.
#pragma once

#include "kernels/pages/page_kernels.h"

namespace gdelta::cuda {

/// ColumnPath::page_warp; every task of the launch has this width and tuple (1 ... 4).
/// `max_pages` bounds the grid: more than there are does no harm.
cudaError_t launch_unpack_pages_warp(int value_bytes, int tuple, const UnpackArgs& args,
                                     std::uint64_t max_pages, cudaStream_t stream);

}  // namespace gdelta::cuda
