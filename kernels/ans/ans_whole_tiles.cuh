// Whole tiles of columns whose values go to neighbouring places as they are summed: most of what is decoded. The
// loops have nothing at hand that only other tiles need, so that they take few registers and instructions.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <cstdint>

#include "kernels/ans/ans_page_check.cuh"
#include "kernels/ans/ans_run.cuh"
#include "kernels/ans/ans_store.cuh"
#include "kernels/device/warp_uniform.cuh"
#include "kernels/words/undo_lane_maps.cuh"

namespace gdelta::cuda::ans_page {

/// Offsets of so many bits at most are in a ring that has had its turn, those of all of a lane of a tile.
template <class Ring, int ValueBytes>
constexpr std::uint32_t ring_offset_bits() {
  constexpr std::uint32_t kInRing = (Ring::kBytes - Ring::kSegment - 8) / (kMaxAnsTile / 8);
  return std::min({kInRing, std::uint32_t{8 * ValueBytes}, std::uint32_t{32}});
}
/// Whole tiles have offsets of no more bits: shifts look at five bits.
template <class Ring, int ValueBytes>
constexpr std::uint32_t most_offset_bits() {
  return std::min(ring_offset_bits<Ring, ValueBytes>(), std::uint32_t{31});
}

/// Ones from bit `n` on, n being the low five bits of `bits`.
__device__ inline std::uint32_t ones_from(std::uint32_t bits) {
  return __funnelshift_l(0, 0xffffffffu, bits);
}

/// Adds the offsets of residuals kFirst to kFirst + kCount - 1, which are the low bits of `high` and `low`. Of `bits` the
/// low five count.
template <int kFirst, int kCount, class Word>
__device__ void take_fields(const std::uint32_t (&bits)[kAnsRun], std::uint32_t low,
                            std::uint32_t high, Word (&values)[kAnsRun]) {
#pragma unroll
  for (int i = kFirst; i < kFirst + kCount; ++i) {
    values[i] += low & ~ones_from(bits[i]);
    low = __funnelshift_r(low, high, bits[i]);
    high = __funnelshift_r(high, 0, bits[i]);
  }
}

/// Adds the offsets of the thread's run, which have 31 bits at most and stand from bit `bit` of the ring on.
template <class Ring, class Word>
__device__ void add_ring_offsets(const std::uint32_t (&bits)[kAnsRun], const unsigned char* ring,
                                 std::uint32_t bit, std::uint32_t first_half, std::uint32_t total,
                                 Word (&values)[kAnsRun]) {
  constexpr int kHalf = kAnsRun / 2;
  const auto words_at = [ring](std::uint32_t at) {
    return reinterpret_cast<const std::uint32_t*>(ring + (at / 8 & (Ring::kBytes - 4)));
  };
  const auto take = [&](auto first, auto count, std::uint32_t at) {
    const std::uint32_t* const words = words_at(at);
    take_fields<first(), count()>(bits, __funnelshift_r(words[0], words[1], at),
                                  __funnelshift_r(words[1], words[2], at), values);
  };
  using Zero = std::integral_constant<int, 0>;
  using Half = std::integral_constant<int, kHalf>;
  if (__all_sync(device::kWholeWarp, total <= 64)) {
    take(Zero{}, std::integral_constant<int, kAnsRun>{}, bit);
  } else if (__all_sync(device::kWholeWarp, first_half <= 64 && total - first_half <= 64)) {
    take(Zero{}, Half{}, bit);
    take(Half{}, Half{}, bit + first_half);
  } else {
#pragma unroll
    for (int i = 0; i < kAnsRun; ++i) {
      const std::uint32_t* const words = words_at(bit);
      values[i] += __funnelshift_r(words[0], words[1], bit) & ~ones_from(bits[i]);
      bit += bits[i] & kOffsetBitsMask;
    }
  }
}

/// What all tiles of a page need, in registers. `MostBits`: of offsets, a constant if that is soon enough.
template <class Tables, class MostBits>
struct WholeTiles {
  const Tables& tables;
  MostBits most_bits;
  int thread, slot_bits;
  unsigned below;  // a bit for each thread before this one
  std::uint32_t slot_mask;

  __device__ WholeTiles(const Tables& of, MostBits most, int bits)
      : tables(of),
        most_bits(most),
        thread(device::thread_of_warp()),
        slot_bits(bits),
        below((1u << thread) - 1),
        slot_mask((1u << bits) - 1) {}

  /// The residuals of a lane of a tile. `odd`: whether words lie at odd addresses, a constant if it can be one.
  template <class Odd, class Shared, class Selectors, class Page, class Word>
  __device__ void decode_lane(Odd odd, Shared& shared, Selectors& selectors, Page& page,
                              Word (&values)[kAnsRun]) const {
    const std::uint32_t most_bytes = kMaxAnsTile / 8 * most_bits + 8;  // of offsets, read for it
    __pipeline_wait_prior(0);
    __syncwarp();  // what was asked for a lane ago is there for all
    const bool is_there = page.words.has_asked(page.word + 2 * kMaxAnsTile) &&
                          page.offsets.has_asked(page.bit / 8 + most_bytes);
    page.words.advance(shared.words, page.base, page.word, thread);
    page.offsets.advance(shared.offsets, page.base, page.bit / 8, thread);
    __pipeline_commit();
    if (!is_there) {
      __pipeline_wait_prior(0);
      __syncwarp();  // and what was asked for just now
    }
    typename Tables::Slot slots[kAnsRun];
    const unsigned char* const words = shared.words + page.word % decltype(page.words)::kBytes;
    const auto decode = [&](const auto first) {
      auto next = first;
      decode_symbols<true>(device::SharedPlace(tables.slots + (selectors.next() << slot_bits)),
                           slot_bits, slot_mask, next, kAnsRun, below, page.x, slots);
      page.word += next.bytes_behind(first);
    };
    if (odd) {
      decode(OddWords{device::SharedPlace(words - 1)});
    } else {
      decode(EvenWords{device::SharedPlace(words)});
    }

    std::uint32_t bits[kAnsRun];
#pragma unroll
    for (int i = 0; i < kAnsRun; ++i) tables.find_bin(slots[i], bits[i], values[i]);
    const std::uint32_t half = bits[0] + bits[1] + bits[2] + bits[3];
    const std::uint32_t total = (half + bits[4] + bits[5] + bits[6] + bits[7]) & kOffsetBitsMask;
    std::uint32_t sum = total;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) device::add_from_below(sum, distance);
    const std::uint32_t bit = page.bit + sum - total;
    page.bit += __shfl_sync(device::kWholeWarp, sum, 31);
    add_ring_offsets<decltype(page.offsets)>(bits, shared.offsets, bit, half & kOffsetBitsMask,
                                             total, values);
  }
};

/// What becomes of values before they are stored: nothing.
struct NoMap {
  template <class Word>
  __device__ void undo(Word (&)[kAnsRun]) const {}
};
/// Or the map of a lane alone is undone.
template <int ValueBytes>
struct MapOfLane {
  LaneMapping mapping;
  bool big_endian;

  /// The whole warp calls it.
  __device__ explicit MapOfLane(const LaneMaps& maps) {
    const LaneMapsOfWarp of_warp(maps);
    mapping = of_warp.of(0);
    big_endian = of_warp.contents().big_endian;
  }
  __device__ void undo(WordOf<ValueBytes> (&values)[kAnsRun]) const {
    undo_map<ValueBytes>(mapping, ValueBytes, values);
    if (big_endian) swap_values(ValueBytes, values);
  }
};
/// Or it is decimal: tiles neither ask for the map nor load what quotients of short words take (maps/scaled.h).
template <int ValueBytes>
struct DecimalOfLane {
  static constexpr bool kMayBe = ValueBytes >= 4;
  __device__ static bool is_that_of(const LaneMaps& maps) {
    return kMayBe && maps.lanes[0].map == kMapNumber<DecimalMap>;
  }

  DecimalMap map;
  PowerOfTen<float> short_power;
  bool big_endian;

  /// The whole warp calls it.
  __device__ explicit DecimalOfLane(const LaneMaps& maps)
      : map(LaneMapsOfWarp(maps).of(0)),
        short_power(short_power_of_ten(min(map.digits, kMostShortDigits))),
        big_endian(LaneMapsOfWarp(maps).contents().big_endian) {}
  __device__ void undo(WordOf<ValueBytes> (&values)[kAnsRun]) const {
    if (are_short(values)) {
#pragma unroll
      for (int i = 0; i < kAnsRun; ++i) {
        const auto word = static_cast<std::int32_t>(values[i]);
        values[i] = bits_as<std::uint32_t>(quotient_by(static_cast<float>(word), short_power));
      }
    } else {
#pragma unroll
      for (int i = 0; i < kAnsRun; ++i) values[i] = map.undo(values[i], 8 * ValueBytes);
    }
    if (big_endian) swap_values(ValueBytes, values);
  }

 private:
  __device__ bool are_short(const WordOf<ValueBytes> (&values)[kAnsRun]) const {
    if constexpr (ValueBytes != 4) return false;
    constexpr std::uint32_t kMost = DecimalMap::kMostShort;
    std::uint32_t most = 0;
#pragma unroll
    for (int i = 0; i < kAnsRun; ++i)
      most = max(most, static_cast<std::uint32_t>(values[i]) + kMost);
    return most <= 2 * kMost && map.has_short_power();
  }
};
/// Or it is looked up.
template <int ValueBytes>
struct LookUpOfLane {
  const LaneMaps& maps;
  LaneMapping mapping;
  bool big_endian;

  __device__ explicit LookUpOfLane(const LaneMaps& of)
      : maps(of), mapping(of.lanes[0]), big_endian(of.big_endian) {}
  __device__ void undo(WordOf<ValueBytes> (&values)[kAnsRun]) const {
    report_indices(maps, look_up(mapping, values), kAnsRun);
    if (big_endian) swap_values(ValueBytes, values);
  }
};

/// Decodes `tiles` of a lane alone and stores them from `out` on, their map undone. If kChecks, adds them to `check`.
template <int ValueBytes, bool kChecks, class Map, class Odd, class Tables, class Shared,
          class Selectors, class Page>
__device__ void decode_whole_tiles(const Map& map, Odd odd, const Tables& tables, Shared& shared,
                                   Selectors& selectors, int order, std::uint32_t tiles, Page& page,
                                   SharedStates<WordOf<ValueBytes>> states, unsigned char* stage,
                                   unsigned char* out, AnsPageCheck& check) {
  using Word = WordOf<ValueBytes>;
  using MostBits =
      std::integral_constant<std::uint32_t, ring_offset_bits<decltype(page.offsets), ValueBytes>()>;
  const WholeTiles<Tables, MostBits> whole(tables, {}, page.slot_bits);
  constexpr bool kRows = runs_lie_far_apart<ValueBytes, 1>();
  if constexpr (!kRows) out += kAnsRun * ValueBytes * whole.thread;
  __syncwarp();  // the states have been loaded
  Word state = order == 1 ? states.at[0] : 0;
#pragma unroll 1
  for (; tiles > 0; --tiles) {
    Word values[kAnsRun];
    whole.decode_lane(odd, shared, selectors, page, values);
    if (order == 1) {
      Word own = 0;
#pragma unroll
      for (int i = 0; i < kAnsRun; ++i) own += values[i];
      Word sum = own;
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) device::add_from_below(sum, distance);
      own = state + sum - own;
      state += __shfl_sync(device::kWholeWarp, sum, 31);
#pragma unroll
      for (int i = 0; i < kAnsRun; ++i) values[i] = own += values[i];
    } else {
      sum_lane(values, states, order, kMaxAnsStates - 1);
    }
    map.undo(values);
    RunWords<ValueBytes> run;
    pack_lane<ValueBytes>(values, run);
    if constexpr (kChecks) check.add_of_all_states(run);
    if constexpr (kRows) {
      store_rows<ValueBytes, 1>(run, stage, out, whole.thread);
    } else {
      store_run<ValueBytes>(run, out);
    }
    out += kMaxAnsTile * ValueBytes;
  }
  if (order == 1 && whole.thread == 0) states.at[0] = state;
  __syncwarp();  // the state is there for a tile that is not whole
}

/// What becomes of the lanes of a tile: a thread puts its own into shared memory, lane after lane, and stores tuples when all
/// are there. They are parked as they lie in registers. kMaps: there are maps to undo.
template <int ValueBytes, bool kChecks, bool kMaps>
struct TupleStore {
  using Word = WordOf<ValueBytes>;

  const LaneMaps* maps;
  unsigned char* stage;
  int tuple, thread;

  __device__ unsigned char* lane_at(int lane) const {
    return stage + lane * (kMaxAnsTile * ValueBytes);
  }
  __device__ void put(const Word (&values)[kAnsRun], int lane) const {
    if (kMaps || lane + 1 < tuple) park_lane<ValueBytes>(values, lane_at(lane), thread);
  }
  /// Undoes the maps of the thread's lanes where they are parked.
  __device__ void undo_maps() const {
#pragma unroll 1
    for (int number = maps->num_steps; number-- > 0;) {
      const LaneStep step = step_of(maps->steps[number]);
      Word source[kAnsRun], target[kAnsRun];
      take_lane<ValueBytes>(source, lane_at(step.source), thread);
      take_lane<ValueBytes>(target, lane_at(step.target), thread);
      with_lane_step(step.kind, [&](auto of_kind) {
#pragma unroll
        for (int i = 0; i < kAnsRun; ++i)
          target[i] = of_kind.undo(target[i], source[i], 8 * ValueBytes);
      });
      park_lane<ValueBytes>(target, lane_at(step.target), thread);
    }
    if (!maps->has_maps && !maps->big_endian) return;
#pragma unroll 1
    for (int lane = 0; lane < tuple; ++lane) {
      Word values[kAnsRun];
      take_lane<ValueBytes>(values, lane_at(lane), thread);
      undo_lane_map(*maps, lane, ValueBytes, values);
      park_lane<ValueBytes>(values, lane_at(lane), thread);
    }
  }
  /// `last`: what was put last.
  template <int kTuple>
  __device__ void store(const Word (&last)[kAnsRun], unsigned char* out,
                        AnsPageCheck& check) const {
    constexpr int kRunBytes = kAnsRun * ValueBytes * kTuple;
    Word values[kTuple][kAnsRun];
#pragma unroll
    for (int lane = 0; lane + (kMaps ? 0 : 1) < kTuple; ++lane)
      take_lane<ValueBytes>(values[lane], lane_at(lane), thread);
    if constexpr (!kMaps) {
#pragma unroll
      for (int i = 0; i < kAnsRun; ++i) values[kTuple - 1][i] = last[i];
    }
    std::uint32_t run[kRunBytes / 4];
    pack_run<ValueBytes, kTuple>(values, run);
    if constexpr (kChecks) check.add_of_all_states(run);
    if constexpr (runs_lie_far_apart<ValueBytes, kTuple>()) {
      store_rows<ValueBytes, kTuple>(run, stage, out, thread);
    } else {
      store_run<ValueBytes, kTuple>(run, out + kRunBytes * thread);
    }
  }
  /// Of tuples of two to four lanes.
  __device__ void store_tuples(const Word (&last)[kAnsRun], unsigned char* out,
                               AnsPageCheck& check) const {
    if constexpr (kMaps) undo_maps();
    if (tuple == 2) {
      store<2>(last, out, check);
    } else if (tuple == 3) {
      store<3>(last, out, check);
    } else {
      store<4>(last, out, check);
    }
  }
};

/// The same of tuples, whose lanes have the orders that are the bytes of `orders`. Their rings hold little: offsets are waited
/// for only if those of as many bits as the column's longest would not be there.
template <int ValueBytes, bool kChecks, bool kMaps, class Odd, class Tables, class Shared,
          class Selectors, class Page, class States>
__device__ void decode_whole_tuples(const TupleStore<ValueBytes, kChecks, kMaps>& to, Odd odd,
                                    const Tables& tables, Shared& shared, Selectors& selectors,
                                    std::uint32_t orders, std::uint32_t tiles, Page& page,
                                    States& states, unsigned char* out, AnsPageCheck& check) {
  const WholeTiles<Tables, std::uint32_t> whole(
      tables, device::warp_uniform(tables.most_offset_bits), page.slot_bits);
  __syncwarp();  // the states have been loaded
#pragma unroll 1
  for (; tiles > 0; --tiles) {
    WordOf<ValueBytes> values[kAnsRun];
    auto lane_states = states.of_first_lane();
    std::uint32_t left = orders;
#pragma unroll 1
    for (int lane = 0; lane < to.tuple; ++lane, left >>= 8) {
      whole.decode_lane(odd, shared, selectors, page, values);
      const int order = static_cast<int>(left & 0xff);
      sum_lane(values, lane_states, order, kMaxAnsStates - 1);
      lane_states.skip(order);
      to.put(values, lane);
    }
    to.store_tuples(values, out, check);
    out += kMaxAnsTile * ValueBytes * to.tuple;
  }
}

}  // namespace gdelta::cuda::ans_page
