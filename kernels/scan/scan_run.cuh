// A thread's share of a tile: walking its run in shared memory, and the scan of states inside a unit.
#pragma once

#include "kernels/scan/scan_algebra.cuh"
#include "kernels/scan/scan_geometry.h"

namespace gdelta::scan {

/// Where a thread stands in its unit.
struct ThreadPlace {
  int unit;
  int group;
  int lane;
  int index;    ///< in the unit
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

constexpr int unroll_of(int run) { return run <= 33 ? run : run == 65 ? 13 : 43; }

/// State of a run that starts from nothing.
template <class Algebra, int Q, int Run, class Word = typename Algebra::Word>
__device__ __forceinline__ void summarise_run(const Algebra& algebra, const typename Algebra::Storage* values,
                                              int stride, Word* state) {
#pragma unroll unroll_of(Run)
  for (int j = 0; j < Run; ++j) step<Algebra, Q>(algebra.load(values[j * stride]), state);
}

/// The scan itself, in place, from the state before the run. `Exact`: order == Q.
template <class Algebra, int Q, int Run, bool Exact, class Word = typename Algebra::Word>
__device__ __forceinline__ void rewrite_run(const Algebra& algebra, typename Algebra::Storage* values, int stride,
                                            int order, bool exclusive, Word* state) {
#pragma unroll unroll_of(Run)
  for (int j = 0; j < Run; ++j) {
    const auto result = [&] {
      Word y = state[Q - 1];
      if constexpr (!Exact) {
#pragma unroll
        for (int i = 0; i + 1 < Q; ++i) y = order == i + 1 ? state[i] : y;
      }
      return y;
    };
    const Word before = result();
    step<Algebra, Q>(algebra.load(values[j * stride]), state);
    const Word after = result();
    values[j * stride] = algebra.store(exclusive ? before : after);
  }
}

/// Inclusive scan of the runs' states inside a warp, lane by lane (units of two warps hold one group and need none).
template <class Algebra, int Q, class Word = typename Algebra::Word>
__device__ __forceinline__ void scan_unit(const Geometry& geometry, const ThreadPlace& place, const Word (*step)[Q],
                                          Word* state) {
#pragma unroll
  for (int d = 0; d < 5; ++d) {
    const int offset = geometry.tuple << d;
    if (offset < geometry.tuple * geometry.groups) {
      Word earlier[Q];
#pragma unroll
      for (int q = 0; q < Q; ++q) earlier[q] = __shfl_up_sync(~0u, state[q], offset);
      if (place.index >= offset && place.active) prepend<Algebra, Q>(step[d], earlier, state);
    }
  }
}

/// Inclusive to exclusive: the state of the group before.
template <class Algebra, int Q, class Word = typename Algebra::Word>
__device__ __forceinline__ void shift_unit(const Geometry& geometry, const ThreadPlace& place, Word* state) {
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

}  // namespace gdelta::scan
