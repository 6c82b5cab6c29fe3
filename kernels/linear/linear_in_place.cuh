// Linear prediction undone where values lie, a run a thread, slowly: of tuples that are too long for shared memory, and of
// taps that there are no places for (linear_taps.cuh).
#pragma once

#include "kernels/linear/linear_runs.cuh"
#include "kernels/words/undo_lane_maps.cuh"

namespace gdelta::cuda {

/// The prediction of one value of a run, from those before it.
template <int ValueBytes>
__device__ WordOf<ValueBytes> predict_in_place(const ColumnTask& task, const LinearHead& head,
                                               const Run& run, const LinearLane& lane, int number,
                                               const unsigned char* taps, std::uint64_t bit,
                                               std::uint32_t i) {
  using Word = WordOf<ValueBytes>;
  const Reading<ValueBytes> reading(head.is_unsigned);
  const auto word = [&](int of_lane, std::uint32_t back) {
    return load_value<Word>(value_at(task, run.first + i - back, of_lane), ValueBytes, false);
  };
  if (i < static_cast<std::uint32_t>(lane.history()))
    return early_prediction<Word>(i, i < 1 ? 0 : word(number, 1), i < 2 ? 0 : word(number, 2));
  std::uint64_t sum = lane.shift > 0 ? std::uint64_t{1} << (lane.shift - 1) : 0;
  const auto add = [&](int of_lane, std::uint32_t back) {
    const auto coefficient =
        static_cast<std::uint64_t>(read_linear_coefficient(taps, head.table, bit));
    sum += coefficient *
           (static_cast<std::uint64_t>(reading.number(word(of_lane, back))) + reading.bias);
    bit += taps[2];
    taps += kLinearTapBytes;
  };
  for (std::uint32_t k = 0; k < lane.own; ++k) add(number, k + 1);
  for (int source = 0; source < lane.num_sources; ++source)
    for (std::uint32_t k = 0; k < lane.sources[source].taps; ++k) add(lane.sources[source].lane, k);
  return static_cast<Word>(static_cast<std::int64_t>(sum) >> lane.shift);
}

/// A run, by one thread.
template <int ValueBytes>
__device__ void undo_in_place(const ColumnTask& task, const LaneMaps* maps, const LinearHead& head,
                              const Run& run) {
  using Word = WordOf<ValueBytes>;
  for (std::uint32_t i = 0; i < run.tuples; ++i) {
    const unsigned char* fields = head.lanes;
    std::uint64_t bit = run.bit;
    for (int number = 0; number < task.tuple; ++number) {
      LinearLane lane;
      const unsigned char* const taps = read_linear_lane(fields, lane);
      unsigned char* const value = value_at(task, run.first + i, number);
      store_value(value, ValueBytes, false,
                  static_cast<Word>(
                      load_value<Word>(value, ValueBytes, false) +
                      predict_in_place<ValueBytes>(task, head, run, lane, number, taps, bit, i)));
      fields = taps + kLinearTapBytes * lane.taps();
      for (const unsigned char* tap = taps; tap < fields; tap += kLinearTapBytes) bit += tap[2];
    }
  }
  // Once nothing is predicted from them any more.
  if (maps != nullptr) {
    for (std::uint32_t i = 0; i < run.tuples; ++i)
      undo_maps_of_tuples<ValueBytes, 1>(*maps, task.tuple, value_at(task, run.first + i, 0),
                                         false);
    return;
  }
  if (task.map == 0 && !task.big_endian) return;
  for (std::uint32_t i = 0; i < run.tuples; ++i)
    for (int number = 0; number < task.tuple; ++number) {
      unsigned char* const value = value_at(task, run.first + i, number);
      store_value(value, ValueBytes, false,
                  finish_value(load_value<Word>(value, ValueBytes, false), ValueBytes, task.map,
                               task.big_endian));
    }
}

}  // namespace gdelta::cuda
