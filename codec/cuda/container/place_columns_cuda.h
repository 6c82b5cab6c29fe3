// Puts raw columns (ColumnPath::copy) and constant ones (ColumnPath::fill) to their places: the
// bytes of tuple after tuple, or of one tuple over and over. Cannot fail.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pages/column_task.h"

namespace gdelta::cuda {

/// `bytes`   at most of all these columns together; it only sizes the grid
cudaError_t launch_place_columns(const ColumnTask* tasks, std::uint32_t num_tasks,
                                 std::uint64_t bytes, cudaStream_t stream);

}  // namespace gdelta::cuda
