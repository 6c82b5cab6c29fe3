// What code behind GDELTA_AVX512 shares. It stands before other headers of vectors, because GCC warns of what its
// own header leaves undefined on purpose.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#else
#include <immintrin.h>
#endif

#include <cstdint>

#include "kernels/cpu/cpu_targets.h"

namespace gdelta {

/// A vector's operations on words of one width.
template <class Word>
struct Avx512;

template <>
struct Avx512<std::uint32_t> {
  static constexpr int kWords = 16;

  GDELTA_AVX512 GDELTA_ALWAYS_INLINE static __m512i add(__m512i a, __m512i b) {
    return _mm512_add_epi32(a, b);
  }
  /// Sums of the words up to each.
  GDELTA_AVX512 GDELTA_ALWAYS_INLINE static __m512i sums(__m512i x) {
    const __m512i zero = _mm512_setzero_si512();
    x = add(x, _mm512_alignr_epi32(x, zero, 15));
    x = add(x, _mm512_alignr_epi32(x, zero, 14));
    x = add(x, _mm512_alignr_epi32(x, zero, 12));
    return add(x, _mm512_alignr_epi32(x, zero, 8));
  }
  /// The last word, everywhere.
  GDELTA_AVX512 GDELTA_ALWAYS_INLINE static __m512i last(__m512i x) {
    return _mm512_permutexvar_epi32(_mm512_set1_epi32(15), x);
  }
};

template <>
struct Avx512<std::uint64_t> {
  static constexpr int kWords = 8;

  GDELTA_AVX512 GDELTA_ALWAYS_INLINE static __m512i same(std::uint64_t word) {
    return _mm512_set1_epi64(static_cast<long long>(word));
  }
  GDELTA_AVX512 GDELTA_ALWAYS_INLINE static __m512i add(__m512i a, __m512i b) {
    return _mm512_add_epi64(a, b);
  }
};

}  // namespace gdelta
