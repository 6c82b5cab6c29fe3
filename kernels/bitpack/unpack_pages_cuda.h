// Pages of the pack coder: of narrow tuples a warp a page, of wide ones a block.
#pragma once

#include "kernels/pages/page_kernels.h"

namespace gdelta::cuda {

/// ColumnPath::page_warp; every task of the launch has this width, and this tuple, or if it is wide any
/// wide tuple up to it. `max_pages` bounds the grid: more than there are does no harm.
cudaError_t launch_unpack_pages_warp(int value_bytes, int most_tuple, const UnpackArgs& args,
                                     std::uint64_t max_pages, cudaStream_t stream);

}  // namespace gdelta::cuda
