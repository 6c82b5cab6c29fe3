// Undoes both stride links of columns that have two: a block a column, in rounds (stride_rounds.cuh), so that values leave
// memory once.
// Cannot fail.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pages/column_task.h"
#include "kernels/words/lane_maps.h"

namespace gdelta::cuda {

/// Takes the tasks of is_stride_pair whose pages have been decoded. `lane_maps` as of launch_stride_undo.
cudaError_t launch_stride_pairs(const ColumnTask* tasks, const LaneMaps* lane_maps,
                                std::uint32_t num_tasks, cudaStream_t stream);

}  // namespace gdelta::cuda
