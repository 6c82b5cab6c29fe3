// Unpacks pages of the pack coder: a warp takes a page of narrow tuples, a block one of wide tuples.
#pragma once

#include "kernels/pages/page_kernels.h"

namespace gdelta::cuda {

/// Takes ColumnPath::page_warp; every task of the launch has this width, and this tuple, or if it is wide any
/// wide tuple up to it. `max_pages` bounds the grid: more than there are does no harm.
cudaError_t launch_unpack_pages_warp(int value_bytes, int most_tuple, const UnpackArgs& args,
                                     std::uint64_t max_pages, cudaStream_t stream);

/// The same of tasks with LaneMaps, which are undone where values are stored; `tuple` is not wide.
cudaError_t launch_unpack_pages_maps(int value_bytes, int tuple, const UnpackArgs& args,
                                     std::uint64_t max_pages, cudaStream_t stream);

}  // namespace gdelta::cuda
