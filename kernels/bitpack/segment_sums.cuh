// Sums inside segments, tile by tile, in the registers of a warp: as LaneSums, but a sum begins anew at each tuple that
// is marked, the first one behind a head, and begins with that. A run is summed from its last mark on; a thread takes
// nothing from before the last thread that has one.
#pragma once

#include <cstdint>

#include "kernels/deltas/segment_pages.h"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp_uniform.cuh"
#include "kernels/pages/page_view.cuh"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {

/// Where sums begin anew in a tile, as a thread sees it. The whole warp makes it.
struct SegmentMarks {
  __device__ SegmentMarks(std::uint32_t marks_of_run, int thread) : own(marks_of_run) {
    const std::uint32_t marked = __ballot_sync(device::kWholeWarp, own != 0);
    any = marked != 0;
    // Thread 0, which begins with what the tiles before hand on, stands for a mark before all.
    first = 31 - __clz(static_cast<int>((marked | 1) & ~0u >> (31 - thread)));
    unmarked = (own & (0u - own)) - 1;
  }

  std::uint32_t own;       // a bit for each tuple of the run
  std::uint32_t unmarked;  // and one for each before its first mark
  int first;               // a sum goes back to this thread
  bool any;                // in the tile
};

/// Of tiles that have no marks.
struct NoHeads {
  static constexpr bool kAny = false;
};

/// Of up to kSummedOrders. Each thread knows the states of all lanes.
template <int ValueBytes, int Tuple, int Run>
struct SegmentSums {
  using Word = WordOf<ValueBytes>;

  /// `one_stretch`: the column is summed along its heads, which is_one_stretch() says.
  __device__ void open(const SegmentOrders& said, bool one_stretch) {
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      orders[lane] = device::warp_uniform(one_stretch ? said.of_heads() : said.of_lane(lane));
      states[lane][0] = states[lane][1] = 0;
    }
  }

  /// Takes over what a page begins with, `lane_bytes` of each lane.
  __device__ void begin_with(const unsigned char* page_states, std::uint32_t lane_bytes) {
    const int thread = device::thread_of_warp();
    const int order = thread % kSummedOrders, of_lane = thread / kSummedOrders;
    Word mine = 0;
    if (of_lane < Tuple && order * ValueBytes < static_cast<int>(lane_bytes)) {
      const unsigned char* const from = page_states + of_lane * lane_bytes + order * ValueBytes;
#pragma unroll
      for (int i = 0; i < ValueBytes; ++i) mine |= static_cast<Word>(from[i]) << (8 * i);
    }
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
#pragma unroll
      for (int k = 0; k < kSummedOrders; ++k)
        states[lane][k] = __shfl_sync(device::kWholeWarp, mine, lane * kSummedOrders + k);
    }
  }

  /// Lets the segment that goes on begin with its head.
  __device__ void add_head(int lane, Word head) {
    if (orders[lane] == 1) states[lane][0] += head;
    if (orders[lane] == 2) states[lane][1] += head;
  }

  /// `heads`: of those tuples that are marked, kVector at a time (SegmentStore::MarkedHeads), or NoHeads.
  template <class Heads>
  __device__ void sum(Word (&values)[Tuple][Run], const SegmentMarks& marks, const Heads& heads,
                      int thread) {
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      if (orders[lane] == 1) sum_once(values[lane], states[lane], marks, heads, lane, thread);
      if (orders[lane] == 2) sum_twice(values[lane], states[lane], marks, heads, lane, thread);
    }
  }

  /// Calls at(i, is_marked, head) for each tuple of a run; `head` is rubbish if it is not marked.
  template <class Heads, class At>
  __device__ static void for_run(const SegmentMarks& marks, const Heads& heads, int lane,
                                 const At& at) {
    if constexpr (Heads::kAny) {
      const int own = device::forget(static_cast<int>(marks.own));
      Word loaded[Heads::kVector];
#pragma unroll
      for (int i = 0; i < Run; ++i) {
        if (i % Heads::kVector == 0) heads.load(lane, i, loaded);
        at(i, (own & 1 << i) != 0, loaded[i % Heads::kVector]);
      }
    } else {
#pragma unroll
      for (int i = 0; i < Run; ++i) at(i, false, Word{0});
    }
  }

  template <class Heads>
  __device__ static void sum_once(Word (&run)[Run], Word (&state)[kSummedOrders],
                                  const SegmentMarks& marks, const Heads& heads, int lane,
                                  int thread) {
    Word sum = 0;
    for_run(marks, heads, lane, [&](int i, bool is_marked, Word head) {
      if (is_marked) sum = head;
      run[i] = sum += run[i];
    });
    if (thread == 0 && marks.own == 0) sum += state[0];
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2)
      device::add_from_stretch(sum, distance, marks.first);
    Word before = __shfl_up_sync(device::kWholeWarp, sum, 1);
    if (thread == 0) before = state[0];
    state[0] = __shfl_sync(device::kWholeWarp, sum, 31);
    const std::uint32_t unmarked = forget_bits(marks.unmarked);
#pragma unroll
    for (int i = 0; i < Run; ++i) {
      if constexpr (Heads::kAny) {
        device::add_where(run[i], unmarked, 1u << i, before);
      } else {
        run[i] += before;
      }
    }
  }

  /// Both orders in one exchange: over a stretch of L tuples the first sum adds itself L times to the second.
  template <class Heads>
  __device__ static void sum_twice(Word (&run)[Run], Word (&state)[kSummedOrders],
                                   const SegmentMarks& marks, const Heads& heads, int lane,
                                   int thread) {
    Word first = 0, second = 0;
    for_run(marks, heads, lane, [&](int i, bool is_marked, Word head) {
      if (is_marked) first = 0, second = head;
      first += run[i];
      run[i] = second += first;
    });
    if (thread == 0 && marks.own == 0) {
      second += state[1] + state[0] * static_cast<Word>(Run);
      first += state[0];
    }
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2)
      device::add_both_from_stretch(first, second, distance, marks.first,
                                    static_cast<Word>(Run * distance));
    Word before = __shfl_up_sync(device::kWholeWarp, first, 1);
    Word before_twice = __shfl_up_sync(device::kWholeWarp, second, 1);
    if (thread == 0) before = state[0], before_twice = state[1];
    state[0] = __shfl_sync(device::kWholeWarp, first, 31);
    state[1] = __shfl_sync(device::kWholeWarp, second, 31);
    const std::uint32_t unmarked = forget_bits(marks.unmarked);
#pragma unroll
    for (int i = 0; i < Run; ++i) {
      before_twice += before;
      if constexpr (Heads::kAny) {
        device::add_where(run[i], unmarked, 1u << i, before_twice);
      } else {
        run[i] += before_twice;
      }
    }
  }

  int orders[Tuple];
  Word states[Tuple][kSummedOrders];

 private:
  __device__ static std::uint32_t forget_bits(std::uint32_t bits) {
    return static_cast<std::uint32_t>(device::forget(static_cast<int>(bits)));
  }
};

}  // namespace gdelta::cuda
