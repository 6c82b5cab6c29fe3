// The running sums of a column's strides, as a block keeps them from one stretch of tuples to the next.
#pragma once

#include <cstdint>

#include "kernels/deltas/stride_undo_cuda.h"
#include "kernels/pages/column_task.h"

namespace gdelta::cuda {

/// What the running sums of a link take: four values of it go together.
__device__ inline std::uint32_t stride_sums_bytes(const ColumnTask& task, const TaskStride& link) {
  return (link.stride * task.tuple * (task.value_bytes == 8 ? 8 : 4) + 15) / 16 * 16;
}

/// Whether a block can keep all that a column has: of links of order 1.
__device__ inline bool fits_stride_sums(const ColumnTask& task) {
  std::uint32_t bytes = 0;
  for (int link = 0; link < task.num_strides; ++link) {
    const TaskStride& stride = task.strides[link];
    if (stride.order != 1 || stride.stride > kStrideSumsBytes) return false;
    bytes += stride_sums_bytes(task, stride);
  }
  return bytes <= kStrideSumsBytes;
}

}  // namespace gdelta::cuda
