// Columns that are predicted inside segments, decoded by the kernels that decode pages: values leave them in place.
// Spec: formats/gdelta/predictors/segments.md. Nothing synchronises; launch errors are returned.
//
// Two launches over the pages of ColumnPath::page_segments, behind launch_measure_segments. The first leaves the heads where
// the task's residuals would be, summed. The second sums all other tuples inside their segments and stores all of them. If
// all tuples are heads, they are summed as tuples of one segment are, in the second.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/deltas/segment_pages.h"
#include "kernels/deltas/segment_undo_cuda.h"
#include "kernels/pages/page_kernels.h"

namespace gdelta::cuda {

/// `pages.starts` counts the pages of this path.
struct SegmentPagesArgs {
  UnpackArgs pages;
  const SegmentedChunk* chunks;
  bool many_heads;  // a guess by which the size of a window is chosen
};

/// Every task of the launch has this width and this tuple.
cudaError_t launch_segment_heads(int value_bytes, int tuple, const SegmentPagesArgs& args,
                                 std::uint64_t max_pages, cudaStream_t stream);
cudaError_t launch_sum_segment_pages(int value_bytes, int tuple, const SegmentPagesArgs& args,
                                     std::uint64_t max_pages, cudaStream_t stream);

}  // namespace gdelta::cuda
