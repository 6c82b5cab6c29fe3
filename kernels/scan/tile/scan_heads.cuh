// Heads of segments beside the values of a tile: which bits of the array belong to it, and a thread's
// walk along its run that starts anew at each.
#pragma once

#include <type_traits>

#include "kernels/scan/algebra/segmented.cuh"
#include "kernels/scan/scan_launch.cuh"
#include "kernels/scan/tile/scan_run.cuh"

namespace gdelta::scan {

/// Where the bits of a tile lie. A backward scan begins a segment at the last row of one, which is
/// where the bit of the row behind it says; so its bits are flipped and shifted by one. That of the
/// first row it meets is the one behind the array's end, and may be anything.
struct HeadSpan {
  std::intptr_t begin;  ///< a 16-byte granule
  int shift;            ///< the bit of `begin` that is the tile's first; below 128

  template <class Algebra>
  __device__ HeadSpan(const Job& job, const Algebra& algebra, std::uint64_t tile) {
    const std::int64_t size = job.geometry.tile_values / job.geometry.tuple;
    const std::int64_t before = static_cast<std::int64_t>(tile) * size;
    const std::int64_t first =
        job.backward ? static_cast<std::int64_t>(algebra.rows) - before - size + 1 : before;
    const std::intptr_t bit = reinterpret_cast<std::intptr_t>(algebra.heads) * 8 + first;
    begin = bit >> 7 << 4;
    shift = static_cast<int>(bit & 127);
  }
};

/// The bits of a tile to shared memory, by one warp. Returns how many bytes of a bulk copy from
/// `begin` on will do it, or does it and returns 0 if granules reach outside the array.
template <class Algebra>
__device__ __forceinline__ int load_heads(std::uint32_t* to, const Algebra& algebra,
                                          const HeadSpan& span, int bytes, int id) {
  const std::intptr_t begin = reinterpret_cast<std::intptr_t>(algebra.heads);
  const std::intptr_t end = begin + static_cast<std::intptr_t>((algebra.rows + 31) / 32 * 4);
  if (span.begin >= begin && span.begin + bytes <= end) return bytes;
  for (int w = id; w < bytes / 4; w += 32) {
    const std::intptr_t from = span.begin + 4 * w;
    to[w] = from >= begin && from < end ? *reinterpret_cast<const std::uint32_t*>(from) : 0;
  }
  return 0;
}

template <int Run>
using HeadWindow = std::conditional_t<(Run > 32), unsigned long long, unsigned>;

/// The heads of a run in scan order, the first in bit 0. `bit`: that of the run's lowest row.
template <int Run>
__device__ __forceinline__ HeadWindow<Run> head_window(const std::uint32_t* bits, int bit,
                                                       bool reversed) {
  static_assert(Run <= 64);
  const std::uint32_t* const words = bits + (bit >> 5);
  HeadWindow<Run> window = __funnelshift_r(words[0], words[1], bit);
  if constexpr (Run > 32) {
    window |= static_cast<HeadWindow<Run>>(__funnelshift_r(words[1], words[2], bit)) << 32;
    if (reversed) window = __brevll(window) >> (64 - Run);
  } else {
    if (reversed) window = __brev(window) >> (32 - Run);
  }
  return window & (~HeadWindow<Run>(0) >> (8 * sizeof(window) - Run));
}

/// State of a run behind its last head, or of all of it.
template <class Algebra, int Q, int Run, class Word = typename Algebra::Word>
__device__ __forceinline__ void summarise_segments(const Algebra& algebra,
                                                   const typename Algebra::Storage* values,
                                                   int stride, HeadWindow<Run> heads, Word* state) {
#pragma unroll
  for (int j = 0; j < Run; ++j) {
    if (heads >> j & 1) clear<Algebra, Q>(state);
    step<Algebra, Q>(algebra.load(values[j * stride]), state);
  }
}

/// The scan itself, in place, from the state before the run.
template <class Algebra, int Q, int Run, class Word = typename Algebra::Word>
__device__ __forceinline__ void rewrite_segments(const Algebra& algebra,
                                                 typename Algebra::Storage* values, int stride,
                                                 bool exclusive, HeadWindow<Run> heads,
                                                 Word* state) {
  typename Algebra::Storage x[Run];
#pragma unroll
  for (int j = 0; j < Run; ++j) x[j] = values[j * stride];
#pragma unroll
  for (int j = 0; j < Run; ++j) {
    if (heads >> j & 1) clear<Algebra, Q>(state);
    const Word before = state[Q - 1];
    step<Algebra, Q>(algebra.load(x[j]), state);
    values[j * stride] = algebra.store(exclusive ? before : state[Q - 1]);
  }
}

}  // namespace gdelta::scan
