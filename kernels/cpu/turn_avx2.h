// Eight vectors of eight words, from rows to columns. For code behind GDELTA_AVX2 alone. Unrolled by
// hand, because otherwise GCC keeps the vectors in memory.
#pragma once

#include <immintrin.h>

#include "kernels/cpu/cpu_targets.h"

namespace gdelta {

GDELTA_AVX2 GDELTA_ALWAYS_INLINE void turn_8x8(__m256i* rows) {
  __m256i pairs[8], quads[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_epi32(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_epi32(rows[i], rows[i + 1]);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; i += 4) {
    quads[i] = _mm256_unpacklo_epi64(pairs[i], pairs[i + 2]);
    quads[i + 1] = _mm256_unpackhi_epi64(pairs[i], pairs[i + 2]);
    quads[i + 2] = _mm256_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
    quads[i + 3] = _mm256_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
  }
#pragma GCC unroll 8
  for (int l = 0; l < 4; ++l) {
    rows[l] = _mm256_permute2x128_si256(quads[l], quads[l + 4], 0x20);
    rows[l + 4] = _mm256_permute2x128_si256(quads[l], quads[l + 4], 0x31);
  }
}

}  // namespace gdelta
