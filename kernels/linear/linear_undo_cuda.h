// Undoes linear prediction in place, run by run; then maps and byte order. Spec:
// formats/gdelta/predictors/linear.md.
//
// A block walks along 32 runs side by side, a warp along one of their lanes, a thread along that lane of a run. Tile by
// tile they go through shared memory, where each run has a row. Tuples that are too long for that, and taps that
// encoders do not write, are done where they lie, slowly. Cannot fail.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pages/column_task.h"
#include "kernels/words/lane_maps.h"

namespace gdelta::cuda {

/// Undoes every task that is predicted linearly, of columns of one width and `most_tuple` lanes or fewer;
/// together they have about `max_runs` runs or fewer. `lane_maps` [num_tasks]: of tasks whose map is kMapsOfLanes.
cudaError_t launch_linear_undo(const ColumnTask* tasks, const LaneMaps* lane_maps,
                               std::uint32_t num_tasks, int value_bytes, int most_tuple,
                               std::uint64_t max_runs, cudaStream_t stream);

}  // namespace gdelta::cuda
