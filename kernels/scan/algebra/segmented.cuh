// Segments: an operator that starts anew where a head lies. What a scan loads is a value and a head;
// the state of a stretch is the state behind its last head, and whether a head lies inside. Such
// pairs combine by
//
//   (A, a) (B, b) = (b ? B : A B, a or b)
//
// which is associative, but does not commute. Heads are those of rows, so that all lanes of a tuple
// share them, and a group of neighbouring stretches is one word of bits: where the segment of a
// stretch begins among them is found by counting zeros, and no flag travels through shuffles.
#pragma once

#include "kernels/scan/algebra/scan_algebra.cuh"

namespace gdelta::scan {

/// `Inner` inside segments. Bit r of `heads` says that a segment begins at row r of the array; the
/// first row begins one anyway.
template <class Inner>
struct Segmented : Inner {
  static constexpr bool kCounted = false;  // parts of a sum have an order
  const std::uint32_t* heads;
  std::uint64_t rows;
};

template <class Algebra>
constexpr bool kHasSegments = false;
template <class Inner>
constexpr bool kHasSegments<Segmented<Inner>> = true;

/// Head and word together.
template <class Algebra, class Word = typename Algebra::Word>
__device__ __forceinline__ Word fold(Word earlier, bool head, Word word) {
  return head ? word : Algebra::add(earlier, word);
}

/// state = what `state` becomes behind `earlier`, if no head lies between.
template <class Algebra, int Q, class Word = typename Algebra::Word>
__device__ __forceinline__ void accumulate_unless(bool head, Word* state, const Word* earlier) {
#pragma unroll
  for (int q = 0; q < Q; ++q) state[q] = fold<Algebra>(earlier[q], head, state[q]);
}

/// The places 0 ... place of a warp.
__device__ __forceinline__ unsigned up_to(int place) { return ~0u >> (31 - place); }
/// The places first ... first + count - 1.
__device__ __forceinline__ unsigned places(int first, int count) {
  return count <= 0 ? 0 : up_to(count - 1) << first;
}

/// The last head at or before `place`; 0 if there is none.
__device__ __forceinline__ int segment_start(unsigned heads, int place) {
  const unsigned before = heads & up_to(place);
  return before == 0 ? 0 : 31 - __clz(static_cast<int>(before));
}

/// Every `step`-th place of a warp, counted from `place` to both sides: where stretches of one lane
/// stand.
__device__ __forceinline__ unsigned places_of_lane(int place, int step) {
  unsigned places = 0;
  for (int p = place % step; p < 32; p += step) places |= 1u << p;
  return places;
}

}  // namespace gdelta::scan
