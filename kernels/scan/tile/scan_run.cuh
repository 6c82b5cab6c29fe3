// A thread's share of a tile: walking its run in shared memory, and the scan of states inside a
// unit.
#pragma once

#include "kernels/device/host_device.h"
#include "kernels/scan/tile/scan_geometry.h"
#include "kernels/scan/tile/warp_scan.cuh"

namespace gdelta::scan {

/// Where a thread stands in its unit.
struct ThreadPlace {
  int unit;
  int group;
  int lane;
  int index;    ///< the thread's, in its unit
  bool active;  ///< threads beyond groups * tuple own nothing
};

__device__ __forceinline__ ThreadPlace thread_place(const Geometry& geometry, int thread) {
  ThreadPlace place;
  place.unit = thread / (32 * geometry.unit_warps);
  place.index = thread - place.unit * 32 * geometry.unit_warps;
  place.group = place.index / geometry.tuple;
  place.lane = place.index - place.group * geometry.tuple;
  place.active = place.group < geometry.groups;
  return place;
}

/// Values read into registers before any of them is written back, so that loads do not wait for
/// stores.
GDELTA_HD constexpr int batch_of(int run) { return run % 11 == 0 ? 11 : run; }

/// State of a run that starts from nothing.
template <class Algebra, int Q, int Run, class Word = typename Algebra::Word>
__device__ __forceinline__ void summarise_run(const Algebra& algebra,
                                              const typename Algebra::Storage* values, int stride,
                                              Word* state) {
#pragma unroll batch_of(Run) == 11 ? 33 : Run
  for (int j = 0; j < Run; ++j) step<Algebra, Q>(algebra.load(values[j * stride]), state);
}

/// What a scan of `order` writes: the last word of the state, or an earlier one if the state is
/// longer.
template <int Q, bool Exact, class Word>
__device__ __forceinline__ Word result_of(int order, const Word* state) {
  Word y = state[Q - 1];
  if constexpr (!Exact) {
#pragma unroll
    for (int i = 0; i + 1 < Q; ++i) y = order == i + 1 ? state[i] : y;
  }
  return y;
}

/// The scan itself, in place, from the state before the run. `Exact`: order == Q.
template <class Algebra, int Q, int Run, bool Exact, class Word = typename Algebra::Word>
__device__ __forceinline__ void rewrite_run(const Algebra& algebra,
                                            typename Algebra::Storage* values, int stride,
                                            int order, bool exclusive, Word* state) {
  constexpr int kBatch = batch_of(Run);
  for (int first = 0; first < Run; first += kBatch, values += kBatch * stride) {
    typename Algebra::Storage x[kBatch];
#pragma unroll
    for (int j = 0; j < kBatch; ++j) x[j] = values[j * stride];
#pragma unroll
    for (int j = 0; j < kBatch; ++j) {
      const Word before = result_of<Q, Exact>(order, state);
      step<Algebra, Q>(algebra.load(x[j]), state);
      const Word after = result_of<Q, Exact>(order, state);
      values[j * stride] = algebra.store(exclusive ? before : after);
    }
  }
}

/// The same two for one lane of one- or two-byte values in array order, a 32-bit word of them at a
/// time.
template <class Algebra, int Q, int Run, class Word = typename Algebra::Word>
__device__ __forceinline__ void summarise_packed_run(const Algebra& algebra,
                                                     const std::uint32_t* words, Word* state) {
  using Storage = typename Algebra::Storage;
  constexpr int kPerWord = 4 / sizeof(Storage);
  constexpr int kBits = 8 * sizeof(Storage);
#pragma unroll 11
  for (int w = 0; w < Run / kPerWord; ++w) {
    const std::uint32_t word = words[w];
#pragma unroll
    for (int v = 0; v < kPerWord; ++v) {
      step<Algebra, Q>(algebra.load(static_cast<Storage>(word >> (kBits * v))), state);
    }
  }
}

template <class Algebra, int Q, int Run, class Word = typename Algebra::Word>
__device__ __forceinline__ void rewrite_packed_run(const Algebra& algebra, std::uint32_t* words,
                                                   int order, bool exclusive, Word* state) {
  using Storage = typename Algebra::Storage;
  constexpr int kPerWord = 4 / sizeof(Storage);
  constexpr int kBits = 8 * sizeof(Storage);
  constexpr int kBatch = 11;
  static_assert(Run % (kPerWord * kBatch) == 0);
  for (int first = 0; first < Run / kPerWord; first += kBatch, words += kBatch) {
    std::uint32_t x[kBatch];
#pragma unroll
    for (int w = 0; w < kBatch; ++w) x[w] = words[w];
#pragma unroll
    for (int w = 0; w < kBatch; ++w) {
      std::uint32_t result = 0;
#pragma unroll
      for (int v = 0; v < kPerWord; ++v) {
        const Word before = result_of<Q, false>(order, state);
        step<Algebra, Q>(algebra.load(static_cast<Storage>(x[w] >> (kBits * v))), state);
        const Word after = result_of<Q, false>(order, state);
        result |= static_cast<std::uint32_t>(algebra.store(exclusive ? before : after))
                  << (kBits * v);
      }
      words[w] = result;
    }
  }
}

/// Sums of the states of the groups up to this one, lane by lane, inside a warp. The states all
/// stand at one place (the start of the unit), so they are added word by word. Units of two warps
/// hold one group and need nothing.
template <class Algebra, int Q, class Word = typename Algebra::Word>
__device__ __forceinline__ void scan_unit(const Geometry& geometry, const ThreadPlace& place,
                                          Word* state) {
  scan_threads<Algebra, Q>(place.index, geometry.tuple, geometry.tuple * geometry.groups, state);
}

/// Inclusive to exclusive: the state of the group before.
template <class Algebra, int Q, class Word = typename Algebra::Word>
__device__ __forceinline__ void shift_unit(const Geometry& geometry, const ThreadPlace& place,
                                           Word* state) {
  if (geometry.groups > 1) {
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      state[q] = __shfl_up_sync(~0u, state[q], geometry.tuple);
      if (place.group == 0) state[q] = Algebra::identity();
    }
  } else {
    clear<Algebra, Q>(state);
  }
}

/// The same over `Width` neighbouring threads, one state each; returns the exclusive sums in
/// `state` and the total in `total` of every thread.
template <class Algebra, int Q, int Width, class Word = typename Algebra::Word>
__device__ __forceinline__ void scan_across(int index, Word* state, Word* total) {
  scan_threads<Algebra, Q>(index, 1, Width, state);
#pragma unroll
  for (int q = 0; q < Q; ++q) {
    const Word sum = state[q];
    total[q] = __shfl_sync(~0u, sum, Width - 1, Width);
    const Word earlier = __shfl_up_sync(~0u, sum, 1, Width);
    state[q] = index > 0 ? earlier : Algebra::identity();
  }
}

/// Tables in shared memory, a word wider than the state so that threads with different rows meet
/// different banks.
template <class Word, int Q, int Rows>
struct SharedTable {
  static constexpr int kWidth = Q == 1 ? 1 : Q + 1;
  Word rows[Q == 1 ? 1 : Rows][kWidth];

  __device__ void load(const Word (*table)[Q], int thread, int threads) {
    if constexpr (Q > 1) {
      for (int i = thread; i < Rows * Q; i += threads) rows[i / Q][i % Q] = table[i / Q][i % Q];
    }
  }
  template <class Algebra>
  __device__ void advance_by(int row, Word* state) const {
    if constexpr (Q > 1) {
      Word c[Q];
#pragma unroll
      for (int m = 1; m < Q; ++m) c[m] = rows[row][m];
      advance<Algebra, Q>(c, state);
    }
  }
};

}  // namespace gdelta::scan
