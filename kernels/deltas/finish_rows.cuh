// What is left to do for values behind the last stride link: the map of their lane, and byte order.
#pragma once

#include "kernels/pages/column_task.h"
#include "kernels/words/undo_lane_maps.cuh"

namespace gdelta::cuda {

/// Of one lane, in words of so many bytes. `lane_maps`: null if all lanes have the task's map.
template <int kRows, class Value>
__device__ void finish_rows(const ColumnTask& task, const LaneMaps* lane_maps, int lane, int bytes,
                            Value (&values)[kRows]) {
  if (lane_maps != nullptr) {
    undo_lane_map(*lane_maps, lane, bytes, values);
    return;
  }
  with_map(task.map, [&](auto of) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) values[i] = decltype(of)::undo(values[i], 8 * bytes);
  });
  if (!task.big_endian) return;
#pragma unroll
  for (int i = 0; i < kRows; ++i) values[i] = swap_value(values[i], bytes);
}

}  // namespace gdelta::cuda
