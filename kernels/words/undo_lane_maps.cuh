// Maps of lanes undone where values are stored: of values of one lane in registers, or of tuples.
#pragma once

#include "kernels/words/finish_value.cuh"
#include "kernels/words/lane_maps.h"

namespace gdelta::cuda {

/// Does the last steps of decoding some values of a lane.
template <int kCount, class Word>
__device__ __forceinline__ void undo_lane_map(const LaneMaps& maps, int lane, int value_bytes,
                                              Word (&values)[kCount]) {
  with_lane_map(maps.lanes[lane], [&](auto map) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) values[i] = map.undo(values[i], 8 * value_bytes);
  });
  if (maps.big_endian) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) values[i] = swap_value(values[i], value_bytes);
  }
}

/// Does them for consecutive tuples of few lanes; `aligned` as load_value says.
template <int ValueBytes, int kTuples>
__device__ inline void undo_maps_of_tuples(const LaneMaps& maps, int tuple, unsigned char* tuples,
                                           bool aligned) {
  using Word = WordOf<ValueBytes>;
  const auto load = [&](int lane, Word(&values)[kTuples]) {
#pragma unroll
    for (int i = 0; i < kTuples; ++i)
      values[i] = load_value<Word>(tuples + (i * tuple + lane) * ValueBytes, ValueBytes, aligned);
  };
  const auto store = [&](int lane, const Word(&values)[kTuples]) {
#pragma unroll
    for (int i = 0; i < kTuples; ++i)
      store_value(tuples + (i * tuple + lane) * ValueBytes, ValueBytes, aligned, values[i]);
  };
  for (int number = maps.num_steps; number-- > 0;) {
    const LaneStep step = maps.steps[number];
    Word sources[kTuples], targets[kTuples];
    load(step.source, sources);
    load(step.target, targets);
#pragma unroll
    for (int i = 0; i < kTuples; ++i)
      targets[i] += taken_off(step.kind, sources[i], 8 * ValueBytes);
    store(step.target, targets);
  }
  for (int lane = 0; lane < tuple; ++lane) {
    if (maps.lanes[lane].map == 0 && !maps.big_endian) continue;
    Word values[kTuples];
    load(lane, values);
    undo_lane_map(maps, lane, ValueBytes, values);
    store(lane, values);
  }
}

}  // namespace gdelta::cuda
