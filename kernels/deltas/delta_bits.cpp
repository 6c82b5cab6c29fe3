#include "kernels/deltas/delta_bits.h"

#include "kernels/bitpack/zigzag_length.h"

#if GDELTA_HAS_AVX2_CODE
#include "kernels/cpu/avx512.h"
#endif

namespace gdelta {
namespace {

template <class Word>
GDELTA_ALWAYS_INLINE void add_bits(Word* words, std::size_t count, int value_bits, int highest,
                                   std::uint64_t* bits) {
  const int spare = static_cast<int>(8 * sizeof(Word)) - value_bits;
  const auto history = static_cast<std::size_t>(highest);
  for (std::size_t i = 0; i < count; ++i) words[i] <<= spare;
  for (int order = 0;; ++order) {
    // Differences move to the front.
    const std::size_t first = history - static_cast<std::size_t>(order);
    std::uint32_t sum = 0;
    for (std::size_t i = history; i < count; ++i)
      sum += zigzag_length(words[i - history + first], spare);
    bits[order] += sum;
    if (order == highest) return;
    const std::size_t left = count - static_cast<std::size_t>(order) - 1;
    for (std::size_t i = 0; i < left; ++i) words[i] = words[i + 1] - words[i];
  }
}

#if GDELTA_HAS_AVX2_CODE
template <class Word>
GDELTA_AVX2 void add_bits_avx2(Word* words, std::size_t count, int value_bits, int highest,
                               std::uint64_t* bits) {
  add_bits(words, count, value_bits, highest, bits);
}

// Bits of a magnitude, and one for the sign of what is not zero.
GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i zigzag_lengths(__m512i x, __m128i spare, std::uint32_t) {
  const __m512i magnitude = _mm512_srl_epi32(_mm512_xor_si512(x, _mm512_srai_epi32(x, 31)), spare);
  const __m512i length = _mm512_sub_epi32(_mm512_set1_epi32(32), _mm512_lzcnt_epi32(magnitude));
  return _mm512_mask_add_epi32(length, _mm512_test_epi32_mask(x, x), length, _mm512_set1_epi32(1));
}
GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i zigzag_lengths(__m512i x, __m128i /*spare*/,
                                                          std::uint64_t) {
  const __m512i magnitude = _mm512_xor_si512(x, _mm512_srai_epi64(x, 63));
  const __m512i length = _mm512_sub_epi64(_mm512_set1_epi64(64), _mm512_lzcnt_epi64(magnitude));
  return _mm512_mask_add_epi64(length, _mm512_test_epi64_mask(x, x), length, _mm512_set1_epi64(1));
}
GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i zeroed_but(unsigned places, __m512i x, std::uint32_t) {
  return _mm512_maskz_mov_epi32(static_cast<__mmask16>(places), x);
}
GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i zeroed_but(unsigned places, __m512i x, std::uint64_t) {
  return _mm512_maskz_mov_epi64(static_cast<__mmask8>(places), x);
}
GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i difference(__m512i a, __m512i b, std::uint32_t) {
  return _mm512_sub_epi32(a, b);
}
GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i difference(__m512i a, __m512i b, std::uint64_t) {
  return _mm512_sub_epi64(a, b);
}

constexpr std::size_t kMostAtOnce = 256;  // words

// Lengths and the next differences in one pass. Precondition: all history is in the first vector.
template <class Word>
GDELTA_AVX512 void add_bits_avx512(const Word* words, std::size_t count, int value_bits,
                                   int highest, std::uint64_t* bits) {
  constexpr std::size_t kAtOnce = Avx512<Word>::kWords;
  const int spare = static_cast<int>(8 * sizeof(Word)) - value_bits;
  const __m128i spare_bits = _mm_cvtsi32_si128(spare);
  alignas(64) Word own[kMostAtOnce + kAtOnce + 1];
  for (std::size_t i = 0; i < count; ++i) own[i] = words[i] << spare;
  for (int order = 0; order <= highest; ++order) {
    // Differences move to the front; the first ones have no history.
    const std::size_t first = static_cast<std::size_t>(highest - order);
    const std::size_t end = count - static_cast<std::size_t>(order);
    __m512i sum = _mm512_setzero_si512();
    for (std::size_t i = 0; i < end; i += kAtOnce) {
      const __m512i x = _mm512_loadu_si512(own + i);
      unsigned counted = i + kAtOnce <= end ? ~0u : (1u << (end - i)) - 1;
      if (i == 0) counted &= ~0u << first;
      sum = Avx512<Word>::add(sum,
                              zeroed_but(counted, zigzag_lengths(x, spare_bits, Word{}), Word{}));
      _mm512_storeu_si512(own + i, difference(_mm512_loadu_si512(own + i + 1), x, Word{}));
    }
    alignas(64) Word sums[kAtOnce];
    _mm512_store_si512(sums, sum);
    for (const Word each : sums) bits[order] += each;
  }
}
#endif

}  // namespace

template <class Word>
void add_delta_bits(Word* words, std::size_t count, int value_bits, int highest,
                    std::uint64_t* bits) {
  if (count <= static_cast<std::size_t>(highest)) return;
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx512() && count <= kMostAtOnce && highest <= Avx512<std::uint64_t>::kWords)
    return add_bits_avx512(words, count, value_bits, highest, bits);
  if (cpu_has_avx2()) return add_bits_avx2(words, count, value_bits, highest, bits);
#endif
  add_bits(words, count, value_bits, highest, bits);
}

template void add_delta_bits(std::uint32_t*, std::size_t, int, int, std::uint64_t*);
template void add_delta_bits(std::uint64_t*, std::size_t, int, int, std::uint64_t*);

}  // namespace gdelta
