// The residuals of a group in the registers of a warp: value map, stride links, differences, zigzag.
// Thread l holds those of tuples l, l + 32, l + 64 and l + 96 of the group.
#pragma once

#include <cstdint>

#include "kernels/deltas/zigzag.h"
#include "kernels/device/warp.cuh"
#include "kernels/pages/pack_task.h"
#include "kernels/words/finish_value.cuh"
#include "kernels/words/maps/differences.h"

namespace gdelta::cuda {

inline constexpr int kGroupRegisters = kGroupValues / 32;

/// One lane of a column. kSteps: less another lane, if the task says so; without it tasks have no steps.
template <class Word, bool kSteps = false>
struct LaneView {
  const unsigned char* first;   // its value in the first record
  const unsigned char* source;  // that of the other lane; null: there is none
  std::uint32_t step;           // a chunk has at most 2^28 bytes, so offsets fit 32 bits
  std::uint32_t records;
  int value_bytes;
  bool aligned;
  std::uint8_t map;
  bool big_endian;
  bool has_strides;

  __device__ LaneView(const PackTask& task, std::uint32_t lane, std::uint8_t value_map)
      : first(task.values + lane * task.value_bytes),
        source(source_of(task, lane)),
        step(task.record_bytes),
        records(task.records),
        value_bytes(task.value_bytes),
        aligned(is_value_aligned(task.values, task.record_bytes, task.value_bytes)),
        map(value_map),
        big_endian(task.big_endian),
        has_strides(task.num_strides > 0) {}

  /// Becomes the view of the lane behind its own.
  __device__ void take_next(const PackTask& task, std::uint32_t lane) {
    first += value_bytes;
    if constexpr (kSteps) source = source_of(task, lane);
  }

  /// Values after byte order, map and step.
  template <int kCount>
  __device__ void load(const std::uint32_t (&tuples)[kCount], Word (&values)[kCount]) const {
    if constexpr (!kSteps) {
      load_mapped(first, tuples, values);
    } else {
#pragma unroll
      for (Word& value : values) value = 0;
        // One copy of the code for both lanes: the source comes first, and is then what the lane loses.
#pragma unroll 1
      for (const unsigned char* from = source != nullptr ? source : first;; from = first) {
        Word loaded[kCount];
        load_mapped(from, tuples, loaded);
#pragma unroll
        for (int j = 0; j < kCount; ++j)
          values[j] = MinusStep::apply(loaded[j], values[j], 8 * value_bytes) &
                      value_mask<Word>(8 * value_bytes);
        if (from == first) break;
      }
    }
  }

  /// Values of the lane whose first is at `first`, after byte order and map. All loads are under way before the first value is
  /// looked at.
  template <int kCount>
  __device__ void load_mapped(const unsigned char* first, const std::uint32_t (&tuples)[kCount],
                              Word (&values)[kCount]) const {
    if (aligned && value_bytes == static_cast<int>(sizeof(Word))) {
#pragma unroll
      for (int j = 0; j < kCount; ++j)
        values[j] = *reinterpret_cast<const Word*>(first + tuples[j] * step);
    } else if (aligned && value_bytes == 2) {
#pragma unroll
      for (int j = 0; j < kCount; ++j)
        values[j] = *reinterpret_cast<const std::uint16_t*>(first + tuples[j] * step);
    } else {
#pragma unroll
      for (int j = 0; j < kCount; ++j) values[j] = load_bytes(first + tuples[j] * step);
    }
    if (big_endian) {
#pragma unroll
      for (int j = 0; j < kCount; ++j) values[j] = swap_value(values[j], value_bytes);
    }
    with_map(map, [&](auto of) {
#pragma unroll
      for (int j = 0; j < kCount; ++j)
        values[j] =
            decltype(of)::apply(values[j], 8 * value_bytes) & value_mask<Word>(8 * value_bytes);
    });
  }

  /// Loads any width at any address.
  __device__ Word load_bytes(const unsigned char* p) const {
    Word value = p[0];
#pragma unroll
    for (int i = 1; i < static_cast<int>(sizeof(Word)); ++i) {
      if (i < value_bytes) value |= static_cast<Word>(p[i]) << (8 * i);
    }
    return value;
  }

  __device__ Word load_one(std::uint32_t tuple) const {
    const std::uint32_t tuples[1] = {tuple};
    Word values[1];
    load(tuples, values);
    return values[0];
  }

 private:
  __device__ static const unsigned char* source_of(const PackTask& task, std::uint32_t lane) {
    if constexpr (!kSteps) return nullptr;
    const std::uint32_t behind = task.sources[lane];
    return behind == 0 ? nullptr : task.values + (behind - 1) * task.value_bytes;
  }
};

/// The links are multiplied out: every product of their powers is one more distance to look back.
template <class Word, bool kSteps, int kCount>
__device__ void take_strides(const PackTask& task, const LaneView<Word, kSteps>& view,
                             const std::uint32_t (&tuples)[kCount], Word (&values)[kCount]) {
  const TaskStride links[2] = {task.num_strides > 0 ? task.strides[0] : TaskStride{0, 0},
                               task.num_strides > 1 ? task.strides[1] : TaskStride{0, 0}};
  Word outer = 1;  // the binomial coefficient with its sign
#pragma unroll 1
  for (std::uint32_t a = 0; a <= links[0].order; ++a) {
    Word inner = outer;
    std::uint32_t plain = 1;
#pragma unroll 1
    for (std::uint32_t b = 0; b <= links[1].order; ++b) {
      const std::uint32_t distance = a * links[0].stride + b * links[1].stride;
      if (distance > 0) {
        std::uint32_t before[kCount];
        Word old[kCount];
#pragma unroll
        for (int j = 0; j < kCount; ++j)
          before[j] = tuples[j] >= distance ? tuples[j] - distance : 0;
        view.load(before, old);
#pragma unroll
        for (int j = 0; j < kCount; ++j) {
          if (tuples[j] >= distance) values[j] += inner * old[j];
        }
      }
      plain = plain * (links[1].order - b) / (b + 1);
      inner = (b & 1) == 0 ? Word{0} - outer * plain : outer * plain;
    }
    // C(n, a + 1) from C(n, a), by way of its magnitude.
    const std::uint32_t magnitude =
        static_cast<std::uint32_t>((a & 1) == 0 ? outer : Word{0} - outer);
    const Word next = magnitude * (links[0].order - a) / (a + 1);
    outer = (a & 1) == 0 ? Word{0} - next : next;
  }
}

/// A group before its differences: registers 1 … 4 are its values, register 0 ends with those
/// before them.
template <class Word>
struct GroupValues {
  Word words[kGroupRegisters + 1];

  /// One difference. Returns, in the last thread, the value just before the group: a state.
  __device__ Word difference() {
    const int thread = threadIdx.x & 31;
    const Word state = words[0];
    Word turned[kGroupRegisters + 1];
#pragma unroll
    for (int j = 0; j <= kGroupRegisters; ++j)
      turned[j] = __shfl_sync(device::kWholeWarp, words[j], (thread + 31) & 31);
#pragma unroll
    for (int j = kGroupRegisters; j >= 1; --j) words[j] -= thread == 0 ? turned[j - 1] : turned[j];
    words[0] -= turned[0];  // thread 0 has nothing before it; nobody reads so far back
    return state;
  }

  /// Gives them zigzagged, and zero behind the last tuple.
  __device__ void residuals(std::uint32_t first, std::uint32_t records, int value_bits,
                            Word (&out)[kGroupRegisters]) const {
#pragma unroll
    for (int j = 0; j < kGroupRegisters; ++j) out[j] = zigzag_encode(words[j + 1], value_bits);
    if (first + 32 * kGroupRegisters <= records) return;
#pragma unroll
    for (int j = 0; j < kGroupRegisters; ++j) {
      if (first + (threadIdx.x & 31) + 32 * j >= records) out[j] = 0;
    }
  }
};

/// Loads the group that begins at tuple `first`, with `before` values before it; what lies before
/// the chunk is its first value. `differs` is set if a value is not `origin`, the lane's first, if
/// that is asked.
template <bool kCompare, class Word, bool kSteps>
__device__ GroupValues<Word> load_group(const PackTask& task, const LaneView<Word, kSteps>& view,
                                        std::uint32_t first, int before, Word origin,
                                        bool& differs) {
  const std::uint32_t thread = threadIdx.x & 31;
  std::uint32_t tuples[kGroupRegisters + 1];
#pragma unroll
  for (int j = 0; j < kGroupRegisters; ++j)
    tuples[j + 1] = min(first + 32 * j + thread, view.records - 1);
  // Threads that need no history look at what the next register holds: no further memory.
  const bool has_history = static_cast<int>(thread) >= 32 - before;
  tuples[0] = !has_history ? tuples[1] : first + thread >= 32 ? first + thread - 32 : 0;
  GroupValues<Word> group;
  view.load(tuples, group.words);
  if constexpr (kCompare) {
#pragma unroll
    for (int j = 1; j <= kGroupRegisters; ++j) differs |= group.words[j] != origin;
  }
  if (view.has_strides) take_strides(task, view, tuples, group.words);
  return group;
}

// ---- Units

/// The groups that a warp works on: groups [begin, begin + count) of a page, lane after lane.
struct UnitView {
  std::uint32_t page;
  std::uint32_t part;        // which unit of the page
  std::uint32_t first;       // tuple of the page
  std::uint32_t groups;      // of each lane
  std::uint32_t all_groups;  // of the page
  std::uint32_t begin;
  std::uint32_t count;
};

/// kNarrow: the task is known to have no strips.
template <bool kNarrow = false>
__device__ inline UnitView unit_view(const PackTask& task, std::uint32_t unit) {
  UnitView view;
  view.page = unit / task.page_units;
  view.part = unit % task.page_units;
  const std::uint32_t page_tuples = kGroupValues * task.page_groups;
  view.first = view.page * page_tuples;
  view.groups = (min(page_tuples, task.records - view.first) + kGroupValues - 1) / kGroupValues;
  view.all_groups = view.groups * task.tuple;
  const std::uint32_t most =
      !kNarrow && task.has_strips() ? kStripLanes * view.groups : kUnitGroups;
  view.begin = min(view.part * most, view.all_groups);
  view.count = min(view.all_groups - view.begin, most);
  return view;
}

/// Goes through the groups of a unit. The values of the next group are on their way while those of
/// this one are worked on; what the task says is looked up once a lane. Tasks have no steps.
template <bool kCompare, class Word>
struct UnitGroups {
  const PackTask& task;
  std::uint32_t page_first;
  std::uint32_t groups;  // of each lane
  std::uint32_t lane;
  std::uint32_t number;  // of the group in its lane
  LaneView<Word> values;
  int order = 0;
  Word origin = 0;
  bool differs = false;
  GroupValues<Word> ahead{};

  __device__ UnitGroups(const PackTask& of_task, const UnitView& view)
      : task(of_task),
        page_first(view.first),
        groups(view.groups),
        lane(view.begin / view.groups),
        number(view.begin % view.groups - 1),  // one before; `next` comes first
        values(of_task, lane, of_task.map) {
    if (view.count > 0) enter_lane();
  }
  /// First tuple of the group that is loaded.
  __device__ std::uint32_t first() const { return page_first + kGroupValues * number; }

  /// Loads the next group; there must be one.
  __device__ void next() {
    if (++number == groups) {
      number = 0;
      ++lane;
      values.take_next(task, lane);
      enter_lane();
    }
    ahead = load_group<kCompare>(task, values, first(), order, origin, differs);
  }

 private:
  __device__ void enter_lane() {
    order = task.orders[lane];
    if constexpr (kCompare) origin = values.load_one(0);
  }
};

}  // namespace gdelta::cuda
