// Undoes stride links in place: value[i] += value[i - stride], `order` times, per lane, zero before
// the column; then value map and byte order. Spec: formats/gdelta/spec.md, section 5.
//
// A column with a stride of P tuples of s values is P × s running sums side by side. Many of them
// go to many threads, each walking down its own, so that neighbours read neighbouring values; few
// of them a block walks down together, a tile after the other: its threads sum stretches of columns, and
// the sums say what stands before each. If tasks are fewer than multiprocessors, a cluster of blocks shares each;
// else columns with two links have them undone together, if they can (stride_pairs_cuda.h). Columns
// of ColumnPath::page_strides have been summed by the kernel that decodes their pages.
// Cannot fail.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pages/column_task.h"
#include "kernels/words/lane_maps.h"

namespace gdelta::cuda {

/// Of the running sums side by side, of all links together, that a block keeps from round to round (stride_rounds.cuh), or from
/// page to page (stride_slots.cuh).
inline constexpr std::uint32_t kStrideSumsBytes = 8192;

/// Undoes the links of all tasks, of which some may have two if `pairs`. `lane_maps` [num_tasks]: of those with
/// kMapsOfLanes, which have no steps.
cudaError_t launch_stride_undo(const ColumnTask* tasks, const LaneMaps* lane_maps,
                               std::uint32_t num_tasks, bool pairs, cudaStream_t stream);

}  // namespace gdelta::cuda
