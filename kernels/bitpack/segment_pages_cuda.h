// Columns that are predicted inside segments, decoded by the kernels that decode pages: values leave them in place.
// Spec: formats/gdelta/predictors/segments.md. Nothing synchronises; launch errors are returned.
//
// Two launches over the pages of ColumnPath::page_segments. The first leaves the residuals of heads where
// `ColumnTask::out` says, and what each page hands on to those behind it. When heads have been summed
// (segment_undo_cuda.h), the second sums all other tuples inside their segments and stores all of them. A column
// that it does not suit, as is known when its lengths are, leaves all of its residuals in the first. If all tuples are
// heads, they are summed as tuples of one segment are.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/deltas/segment_pages.h"
#include "kernels/deltas/segment_undo_cuda.h"
#include "kernels/pages/page_kernels.h"

namespace gdelta::cuda {

/// Whether there are kernels for such a column, of pages of a warp and at most this order in a lane.
GDELTA_HD constexpr bool fits_segment_pages(int value_bytes, int tuple, int most_order) {
  return (value_bytes == 2 || value_bytes == 4 || value_bytes == 8) && !is_wide(tuple) &&
         most_order <= kSummedOrders;
}

/// `pages.starts` counts the pages of this path.
struct SegmentPagesArgs {
  UnpackArgs pages;
  const SegmentedChunk* chunks;
  bool many_heads;  // a guess by which the size of a window is chosen
};

/// Every task of the launch has this width and this tuple.
cudaError_t launch_open_segment_pages(int value_bytes, int tuple, const SegmentPagesArgs& args,
                                      std::uint64_t max_pages, cudaStream_t stream);
cudaError_t launch_sum_segment_pages(int value_bytes, int tuple, const SegmentPagesArgs& args,
                                     std::uint64_t max_pages, cudaStream_t stream);

}  // namespace gdelta::cuda
