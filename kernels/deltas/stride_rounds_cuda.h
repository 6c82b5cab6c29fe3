// Undoes strides of columns in rounds (stride_rounds.cuh), a block a column: of those that have two links, so that values leave
// memory once; and of those whose parts are held against their checks behind each round, before they leave the cache.
// Cannot fail.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/deltas/stride_undo_cuda.h"

namespace gdelta::cuda {

/// Whether it is launched for so many tasks: if each multiprocessor has one.
cudaError_t has_stride_rounds(std::uint32_t num_tasks, bool& has_rounds);

/// Takes the tasks of is_undone_in_rounds.
cudaError_t launch_stride_rounds(const StrideUndoArgs& args, cudaStream_t stream);

}  // namespace gdelta::cuda
