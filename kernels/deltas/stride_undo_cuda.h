// Undoes stride links in place: value[i] += value[i - stride], `order` times, per lane, zero before
// the column; then value map and byte order. Spec: formats/gdelta/spec.md, section 5.
//
// A column with a stride of P tuples of s values is P × s running sums side by side. Up to some thousands of them are
// summed by a block that takes the column through shared memory, tile by tile, so that it is read and written
// once; threads share a sum if there are fewer sums than threads. More of them go to many threads, each walking down
// its own, so that neighbours read neighbouring values.
// Cannot fail.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pages/column_task.h"
#include "kernels/words/lane_maps.h"

namespace gdelta::cuda {

/// Undoes link `link` (1, then 0) of every task that has it. `lane_maps` [num_tasks]: of those with
/// kMapsOfLanes, which have no steps.
cudaError_t launch_stride_undo(const ColumnTask* tasks, const LaneMaps* lane_maps,
                               std::uint32_t num_tasks, int link, cudaStream_t stream);

}  // namespace gdelta::cuda
