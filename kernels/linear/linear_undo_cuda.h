// Undoes linear prediction in place, run by run; then value map and byte order. Spec:
// formats/gdelta/predictors/linear.md.
//
// A thread walks along a run, and a warp along 32 of them side by side. Tile by tile they go through shared
// memory, where a row of places has one of each run, so that threads read and write rows, and memory is
// read and written along runs. Tuples that are too long for that are done where they lie, slowly.
// Cannot fail.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pages/column_task.h"

namespace gdelta::cuda {

/// Undoes every task that is predicted linearly, of columns of one width and `most_tuple` lanes or fewer;
/// together they have about `max_runs` runs or fewer.
cudaError_t launch_linear_undo(const ColumnTask* tasks, std::uint32_t num_tasks, int value_bytes,
                               int most_tuple, std::uint64_t max_runs, cudaStream_t stream);

}  // namespace gdelta::cuda
