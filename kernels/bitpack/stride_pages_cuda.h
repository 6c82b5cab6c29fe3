// Columns with one stride link of order 1, decoded by warps that take a whole column each, page after page: what stands
// `stride` tuples before a value is in shared memory, so that values leave once, summed, and held against their
// checks. A column is one warp's, however long it is, so there must be many to keep a device busy; few of them take less
// time page by page, with a pass behind them (kernels/deltas/stride_undo_cuda.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pages/page_kernels.h"
#include "kernels/words/lane_maps.h"

namespace gdelta::cuda {

/// Of running sums side by side.
inline constexpr std::uint32_t kStrideSumsBytes = 4096;

/// Whether there is a kernel for such columns, of pages of a warp.
GDELTA_HD constexpr bool fits_stride_pages(int value_bytes, int tuple, std::uint64_t stride) {
  const int word_bytes = value_bytes == 8 ? 8 : 4;
  return (value_bytes == 2 || value_bytes == 4 || value_bytes == 8) && !is_wide(tuple) &&
         stride <= kStrideSumsBytes / word_bytes / tuple;
}

/// Gives how many columns of a launch, counted over chunks, are so many that a warp for each takes less time.
cudaError_t enough_stride_columns(std::uint64_t& columns);

/// Takes ColumnPath::page_strides, and page_strides_verified. Every task of the launch has this width and this tuple;
/// `starts` and `tickets` are not looked at. Maps and byte order are undone; `lane_maps` [num tasks]: of those with
/// kMapsOfLanes, which have no steps.
cudaError_t launch_stride_pages(int value_bytes, int tuple, const UnpackArgs& args,
                                const LaneMaps* lane_maps, cudaStream_t stream);

}  // namespace gdelta::cuda
