// The running sums of a column's strides, as a block keeps them from one stretch of tuples to the next.
#pragma once

#include <cstdint>

#include "kernels/deltas/stride_undo_cuda.h"
#include "kernels/pages/column_task.h"

namespace gdelta::cuda {

/// What a sum takes of a block that walks down columns in rounds, or as it stands in a slot (stride_slots.cuh).
__device__ inline std::uint32_t sum_bytes_in_rounds(const ColumnTask& task) {
  return task.value_bytes == 8 ? 8 : 4;
}
__device__ inline std::uint32_t sum_bytes_in_slots(const ColumnTask& task) {
  return task.value_bytes == 3 ? 4 : task.value_bytes;
}

/// What the running sums of a link take: units of values begin at multiples of 16 bytes.
__device__ inline std::uint32_t stride_sums_bytes(const ColumnTask& task, const TaskStride& link,
                                                  std::uint32_t sum_bytes) {
  return (link.stride * task.tuple * sum_bytes + 15) / 16 * 16;
}

/// Whether a block can keep all that a column has: of links of order 1.
__device__ inline bool fits_stride_sums(const ColumnTask& task, std::uint32_t sum_bytes) {
  std::uint32_t bytes = 0;
  for (int link = 0; link < task.num_strides; ++link) {
    const TaskStride& stride = task.strides[link];
    if (stride.order != 1 || stride.stride > kStrideSumsBytes) return false;
    bytes += stride_sums_bytes(task, stride, sum_bytes);
  }
  return bytes <= kStrideSumsBytes;
}

/// Columns of more running sums, counted in units, have each page in a slot summed by several warps together.
inline constexpr std::uint32_t kMostSumsOfPages = 128;

/// Whether a column is summed in slots, where all it has finds room. Not if that is done by many single values of less than a word:
/// a pass takes less time.
__device__ inline bool suits_slots(const ColumnTask& task) {
  const std::uint32_t sum_bytes = sum_bytes_in_slots(task);
  const std::uint32_t values = task.strides[0].stride * task.tuple;
  const bool is_slow =
      sum_bytes < 4 && task.num_strides == 1 && values % 4 != 0 && values > kMostSumsOfPages;
  return !is_slow && fits_stride_sums(task, sum_bytes);
}

}  // namespace gdelta::cuda
