// Maps of lanes undone where values are stored: of values of one lane in registers, or of tuples.
#pragma once

#include <type_traits>
#include <utility>

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

/// Undoes a step of consecutive tuples by lanes that are known at compile time, for those are registers.
template <int ValueBytes, int kTarget, int kSource, int kLanes, int kTuples>
__device__ __forceinline__ void undo_step_of_lanes(LaneStepKind kind,
                                                   WordOf<ValueBytes> (&values)[kLanes][kTuples]) {
  with_lane_step(kind, [&](auto step) {
#pragma unroll
    for (int i = 0; i < kTuples; ++i)
      values[kTarget][i] = step.undo(values[kTarget][i], values[kSource][i], 8 * ValueBytes);
  });
}

/// Undoes a step of consecutive tuples: each pair of lanes has code of its own.
template <int ValueBytes, int kLanes, int kTuples, int... kPairs>
__device__ __forceinline__ void undo_lane_step(LaneStep step,
                                               WordOf<ValueBytes> (&values)[kLanes][kTuples],
                                               std::integer_sequence<int, kPairs...>) {
  const auto undo = [&](auto pair) {
    constexpr int kTarget = decltype(pair)::value / kLanes,
                  kSource = decltype(pair)::value % kLanes;
    if constexpr (kTarget != kSource) {
      if (step.target == kTarget && step.source == kSource)
        undo_step_of_lanes<ValueBytes, kTarget, kSource>(step.kind, values);
    }
  };
  (undo(std::integral_constant<int, kPairs>{}), ...);
}

/// Does the last steps of decoding consecutive tuples in registers.
template <int ValueBytes, int kLanes, int kTuples>
__device__ __forceinline__ void undo_maps_of_run(const LaneMaps& maps,
                                                 WordOf<ValueBytes> (&values)[kLanes][kTuples]) {
  if constexpr (kLanes > 1) {
#pragma unroll 1
    for (int number = maps.num_steps; number-- > 0;)
      undo_lane_step<ValueBytes>(maps.steps[number], values,
                                 std::make_integer_sequence<int, kLanes * kLanes>{});
  }
#pragma unroll
  for (int lane = 0; lane < kLanes; ++lane) undo_lane_map(maps, lane, ValueBytes, values[lane]);
}

/// Does them for consecutive tuples of few lanes in memory; `aligned` as load_value says.
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
    with_lane_step(step.kind, [&](auto of_kind) {
#pragma unroll
      for (int i = 0; i < kTuples; ++i)
        targets[i] = of_kind.undo(targets[i], sources[i], 8 * ValueBytes);
    });
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
