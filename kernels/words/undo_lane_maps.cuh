// Maps of lanes undone where values are stored: of values of one lane in registers, or of tuples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/device/warp.cuh"
#include "kernels/words/finish_value.cuh"
#include "kernels/words/lane_maps.h"

namespace gdelta::cuda {

/// Whether the map undoes short words faster.
template <class Map>
inline constexpr bool kHasShortWords = requires(const Map& map, std::uint32_t word) {
  map.undo_short(word);
};

/// Undoes the map if all words are short; false if they are not.
template <class Map, int kCount>
__device__ __forceinline__ bool undo_short_words(const Map& map, std::uint32_t (&values)[kCount]) {
  std::uint32_t most = 0;
#pragma unroll
  for (int i = 0; i < kCount; ++i) most = max(most, values[i] + Map::kMostShort);
  if (most > 2 * Map::kMostShort || !map.has_short_power()) return false;
#pragma unroll
  for (int i = 0; i < kCount; ++i) values[i] = map.undo_short(values[i]);
  return true;
}

/// `kValueBytes`: those of the values, or of their words if that is not known before.
template <int kValueBytes, int kCount, class Word>
__device__ __forceinline__ void undo_map(const LaneMapping& mapping, int value_bytes,
                                         Word (&values)[kCount]) {
  with_lane_map(mapping, [&](auto map) {
    using Map = decltype(map);
    if constexpr (kValueBytes >= 4 || !kHasSteps<Map>) {  // there are no shorter floats of steps
      if constexpr (kValueBytes == 4 && kHasShortWords<Map>) {
        if (undo_short_words(map, values)) return;
      }
#pragma unroll
      for (int i = 0; i < kCount; ++i) values[i] = map.undo(values[i], 8 * value_bytes);
    }
  });
}

/// Words that are indices become the values that they stand for. Returns those beyond the table, a bit each.
template <int kCount, class Word>
__device__ __forceinline__ std::uint32_t look_up(const LaneMapping& mapping,
                                                 Word (&values)[kCount]) {
  const auto* const table = reinterpret_cast<const Word*>(mapping.step);
  const auto entries = static_cast<std::uint32_t>(mapping.offset);
  std::uint32_t beyond = 0;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const bool is_there = values[i] < entries;
    if (!is_there) beyond |= 1u << i;
    values[i] = table[is_there ? static_cast<std::uint32_t>(values[i]) : 0];
  }
  return beyond;
}

/// Says that a lane has indices beyond its table, if some of the first `count` are.
__device__ __forceinline__ void report_indices(const LaneMaps& maps, std::uint32_t beyond,
                                               int count) {
  if (beyond != 0 && __ffs(static_cast<int>(beyond)) <= count)
    atomicMin(maps.damaged_at, static_cast<unsigned long long>(maps.table_at));
}

/// Whether a lane that is alone is looked up.
template <int ValueBytes>
__device__ __forceinline__ bool is_looked_up(const LaneMapping& mapping) {
  return may_look_up(ValueBytes, 1) && mapping.map == kMapNumber<DictionaryMap>;
}

/// Undoes the map of a lane that is alone, or looks its words up and calls report(what look_up returns).
template <int ValueBytes, int kCount, class Report>
__device__ __forceinline__ void undo_map_of_lane_alone(const LaneMapping& mapping,
                                                       WordOf<ValueBytes> (&values)[kCount],
                                                       const Report& report) {
  if (is_looked_up<ValueBytes>(mapping)) {
    report(look_up(mapping, values));
  } else {
    undo_map<ValueBytes>(mapping, ValueBytes, values);
  }
}

template <int kCount, class Word>
__device__ __forceinline__ void swap_values(int value_bytes, Word (&values)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) values[i] = swap_value(values[i], value_bytes);
}

/// Does the last steps of decoding some values of a lane, but looks nothing up.
template <int kCount, class Word>
__device__ __forceinline__ void undo_lane_map(const LaneMaps& maps, int lane, int value_bytes,
                                              Word (&values)[kCount]) {
  undo_map<sizeof(Word)>(maps.lanes[lane], value_bytes, values);
  if (maps.big_endian) swap_values(value_bytes, values);
}

/// LaneMaps in the registers of a warp, a word a thread: kernels whose warps wait for each other's loads ask for them
/// once a page and not in every tile. The whole warp calls each of these.
class LaneMapsOfWarp {
 public:
  __device__ explicit LaneMapsOfWarp(const LaneMaps& maps) {
    constexpr int kWords = sizeof(LaneMaps) / sizeof(std::uint32_t);
    static_assert(kWords <= 32);
    const int thread = device::thread_of_warp();
    const auto* const words = reinterpret_cast<const std::uint32_t*>(&maps);
    own_ = words[thread < kWords ? thread : 0];
  }

  __device__ LaneMapping of(int lane) const {
    const std::size_t at = lane * sizeof(LaneMapping);
    return {static_cast<std::uint8_t>(word(at)), words(at + offsetof(LaneMapping, step)),
            words(at + offsetof(LaneMapping, offset))};
  }
  __device__ std::uint64_t steps() const { return words(offsetof(LaneMaps, steps)); }
  /// What there is, as the last bytes of LaneMaps say it: one exchange tells all of it.
  struct Contents {
    int num_steps;
    bool has_maps, big_endian;
  };
  __device__ Contents contents() const {
    constexpr std::size_t kAt = offsetof(LaneMaps, num_steps);
    static_assert(kAt % 4 == 0 && offsetof(LaneMaps, has_maps) == kAt + 1 &&
                  offsetof(LaneMaps, big_endian) == kAt + 2);
    const std::uint32_t all = word(kAt);
    return {static_cast<std::uint8_t>(all), (all >> 8 & 1) != 0, (all >> 16 & 1) != 0};
  }

 private:
  __device__ std::uint32_t word(std::size_t byte) const {
    return __shfl_sync(device::kWholeWarp, own_, static_cast<int>(byte / 4));
  }
  __device__ std::uint64_t words(std::size_t byte) const {
    return std::uint64_t{word(byte + 4)} << 32 | word(byte);
  }

  std::uint32_t own_;
};

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

/// Calls function(constant) with the lane as a constant: each has code of its own.
template <int kLanes, class Function>
__device__ __forceinline__ void with_lane(int lane, const Function& function) {
  if (kLanes == 1 || lane == kLanes - 1) {
    function(std::integral_constant<int, kLanes - 1>{});
  } else {
    if constexpr (kLanes > 1) with_lane<kLanes - 1>(lane, function);
  }
}

template <int ValueBytes, int kLanes, int kTuples>
__device__ __forceinline__ void undo_lane_step(LaneStep step,
                                               WordOf<ValueBytes> (&values)[kLanes][kTuples]) {
  with_lane<kLanes>(step.target, [&](auto target) {
    with_lane<kLanes>(step.source, [&](auto source) {
      if constexpr (target() != source())
        undo_step_of_lanes<ValueBytes, target(), source()>(step.kind, values);
    });
  });
}

/// Does the last steps of decoding consecutive tuples in registers. `report` as of undo_map_of_lane_alone.
template <int ValueBytes, int kLanes, int kTuples, class Report>
__device__ __forceinline__ void undo_maps_of_run(const LaneMapsOfWarp& maps,
                                                 WordOf<ValueBytes> (&values)[kLanes][kTuples],
                                                 const Report& report) {
  const LaneMapsOfWarp::Contents contents = maps.contents();
  if (kLanes > 1 && contents.num_steps > 0) {
    const std::uint64_t steps = maps.steps();
#pragma unroll 1
    for (int number = contents.num_steps; number-- > 0;)
      undo_lane_step<ValueBytes>(step_of(static_cast<std::uint32_t>(steps >> 8 * number)), values);
  }
  if (contents.has_maps) {
    if constexpr (kLanes == 1) {
      undo_map_of_lane_alone<ValueBytes>(maps.of(0), values[0], report);
    } else {
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane)
        undo_map<ValueBytes>(maps.of(lane), ValueBytes, values[lane]);
    }
  }
  if (contents.big_endian) {
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) swap_values(ValueBytes, values[lane]);
  }
}

/// Does them for consecutive tuples of few lanes in memory, but looks nothing up; `aligned` as load_value says.
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
    const LaneStep step = step_of(maps.steps[number]);
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
