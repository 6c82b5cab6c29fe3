// Sums over the threads of a warp: the one place where states move by shuffles, for the scan kernels
// and for the page decoder.
#pragma once

#include "kernels/scan/algebra/scan_algebra.cuh"

namespace gdelta::scan {

/// Inclusive sums of N independent words over the threads `step` apart, inside stretches of `end`
/// threads; `index` is the thread's place in its stretch, or in its segment of it. Shuffles stay in the order in which they
/// are written, so the chains of the N words are woven by hand.
template <class Algebra, int N, class Word = typename Algebra::Word>
__device__ __forceinline__ void scan_threads(int index, int step, int end, Word* sums) {
#pragma unroll
  for (int d = 0; d < 5; ++d) {
    const int distance = step << d;
    if (distance >= end) break;
    Word earlier[N];
#pragma unroll
    for (int n = 0; n < N; ++n) earlier[n] = __shfl_up_sync(~0u, sums[n], distance);
#pragma unroll
    for (int n = 0; n < N; ++n) {
      if (index >= distance) sums[n] = Algebra::add(earlier[n], sums[n]);
    }
  }
}

}  // namespace gdelta::scan
