// Sums inside segments, tile by tile, in the registers of a warp: as LaneSums, but a sum begins anew at each tuple that
// is marked, the first one behind a head, and begins with that. A run is summed from its last mark on; a thread takes
// nothing from before the last thread that has one.
#pragma once

#include <cstdint>

#include "kernels/deltas/segment_pages.h"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/pages/page_view.cuh"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {

/// Where sums begin anew in a tile, as a thread sees it. The whole warp makes it.
struct SegmentMarks {
  __device__ SegmentMarks(std::uint32_t marks_of_run, int thread) : own(marks_of_run) {
    const std::uint32_t marked = __ballot_sync(device::kWholeWarp, own != 0);
    const std::uint32_t before = marked & ~(~0u << thread);
    const std::uint32_t up_to_here = before | (own != 0 ? 1u << thread : 0);
    any_before = before != 0;
    any = marked != 0;
    reach = up_to_here == 0 ? thread : thread - (31 - __clz(static_cast<int>(up_to_here)));
    unmarked = (own & (0u - own)) - 1;
  }

  std::uint32_t own;       // a bit for each tuple of the run
  std::uint32_t unmarked;  // and one for each before its first mark
  int reach;               // a sum goes back over so many threads
  bool any_before;         // in a thread before this one
  bool any;                // in the tile
};

/// Of tiles that have no marks.
struct NoHeads {
  static constexpr bool kAny = false;
};

/// Of up to kSummedOrders. Thread k keeps word k of every lane's state.
template <int ValueBytes, int Tuple, int Run>
struct SegmentSums {
  using Word = WordOf<ValueBytes>;

  /// `one_stretch`: the column is summed along its heads, which is_one_stretch() says.
  __device__ void open(const ColumnTask& task, bool one_stretch) {
    const SegmentOrders said{task.segments.orders, Tuple};
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      orders[lane] = one_stretch ? said.of_heads() : said.of_lane(lane);
      states[lane] = 0;
    }
  }

  /// Takes over what the pages before this one hand on, back to the last that has a head; `first_page` has one.
  __device__ void carry(const SegmentPage* pages, std::uint32_t page, std::uint32_t first_page,
                        std::uint32_t page_tuples, int thread) {
    std::uint32_t back = thread + 1;
    for (bool found = false; !found; back += 32) {
      const bool is_there = back <= page && page - back >= first_page;
      const SegmentPage& from = pages[is_there ? page - back : first_page];
      const std::uint32_t votes =
          __ballot_sync(device::kWholeWarp, !is_there || from.has_head != 0);
      found = votes != 0;
      const bool taken = is_there && (votes & ~(~0u << thread)) == 0;
      // So many tuples lie between that page and this one.
      const Word distance = static_cast<Word>(back - 1) * page_tuples;
#pragma unroll
      for (int lane = 0; lane < Tuple; ++lane) {
        const Word first = taken && orders[lane] > 0 ? static_cast<Word>(from.sums[lane][0]) : 0;
        const Word second = taken && orders[lane] > 1
                                ? static_cast<Word>(from.sums[lane][1]) + distance * first
                                : 0;
        const Word firsts = device::warp_sum(first), seconds = device::warp_sum(second);
        states[lane] += thread == 0 ? firsts : thread == 1 ? seconds : 0;
      }
    }
  }

  /// Lets the segment that goes on begin with its head.
  __device__ void add_head(int lane, Word head, int thread) {
    if (orders[lane] > 0 && thread == orders[lane] - 1) states[lane] += head;
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
  __device__ static void sum_once(Word (&run)[Run], Word& state, const SegmentMarks& marks,
                                  const Heads& heads, int lane, int thread) {
    Word sum = 0;
    for_run(marks, heads, lane, [&](int i, bool is_marked, Word head) {
      if (is_marked) sum = head;
      run[i] = sum += run[i];
    });
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const Word more = __shfl_up_sync(device::kWholeWarp, sum, distance);
      if (distance <= marks.reach) sum += more;
    }
    const Word carry = __shfl_sync(device::kWholeWarp, state, 0);
    const Word last = __shfl_sync(device::kWholeWarp, sum, 31);
    if (thread == 0) state = last + (marks.any ? Word{0} : carry);
    Word before = __shfl_up_sync(device::kWholeWarp, sum, 1);
    if (thread == 0) before = 0;
    if (!marks.any_before) before += carry;
    const int unmarked = device::forget(static_cast<int>(marks.unmarked));
#pragma unroll
    for (int i = 0; i < Run; ++i)
      if (!Heads::kAny || (unmarked & 1 << i) != 0) run[i] += before;
  }

  /// Both orders in one exchange: over a stretch of L tuples the first sum adds itself L times to the second.
  template <class Heads>
  __device__ static void sum_twice(Word (&run)[Run], Word& state, const SegmentMarks& marks,
                                   const Heads& heads, int lane, int thread) {
    Word first = 0, second = 0;
    for_run(marks, heads, lane, [&](int i, bool is_marked, Word head) {
      if (is_marked) first = 0, second = head;
      first += run[i];
      run[i] = second += first;
    });
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const Word more = __shfl_up_sync(device::kWholeWarp, first, distance);
      const Word more_twice = __shfl_up_sync(device::kWholeWarp, second, distance);
      if (distance <= marks.reach) {
        second += more_twice + more * static_cast<Word>(Run * distance);
        first += more;
      }
    }
    const Word carry = __shfl_sync(device::kWholeWarp, state, 0);
    const Word carry_twice = __shfl_sync(device::kWholeWarp, state, 1);
    Word last = __shfl_sync(device::kWholeWarp, first, 31);
    Word last_twice = __shfl_sync(device::kWholeWarp, second, 31);
    if (!marks.any) {
      last_twice += carry_twice + carry * static_cast<Word>(Run * 32);
      last += carry;
    }
    if (thread < 2) state = thread == 0 ? last : last_twice;
    Word before = __shfl_up_sync(device::kWholeWarp, first, 1);
    Word before_twice = __shfl_up_sync(device::kWholeWarp, second, 1);
    if (thread == 0) before = before_twice = 0;
    if (!marks.any_before) {
      before_twice += carry_twice + carry * static_cast<Word>(Run * thread);
      before += carry;
    }
    const int unmarked = device::forget(static_cast<int>(marks.unmarked));
#pragma unroll
    for (int i = 0; i < Run; ++i) {
      before_twice += before;
      if (!Heads::kAny || (unmarked & 1 << i) != 0) run[i] += before_twice;
    }
  }

  /// Undoes so many zeroes at the end.
  __device__ void take_back(std::uint32_t zeroes) {
    const int thread = device::thread_of_warp();
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      const Word first = __shfl_sync(device::kWholeWarp, states[lane], 0);
      if (thread == 1) states[lane] -= first * zeroes;
    }
  }

  int orders[Tuple];
  Word states[Tuple];
};

}  // namespace gdelta::cuda
