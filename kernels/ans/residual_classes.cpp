#include "kernels/ans/residual_classes.h"

#include <bit>

#include "kernels/cpu/cpu_targets.h"

#if GDELTA_HAS_AVX2_CODE
#include "kernels/cpu/avx512.h"
#endif

namespace gdelta {
namespace {

template <class Word>
GDELTA_ALWAYS_INLINE void find_one_by_one(const Word* residuals, std::size_t count,
                                          std::uint16_t* classes) {
  for (std::size_t i = 0; i < count; ++i)
    classes[i] = static_cast<std::uint16_t>(FineClasses::of(residuals[i]));
}

#if GDELTA_HAS_AVX2_CODE

GDELTA_AVX2 void find_avx2(const std::uint64_t* residuals, std::size_t count,
                           std::uint16_t* classes) {
  find_one_by_one(residuals, count, classes);
}

constexpr int kClassBits = std::bit_width(unsigned{FineClasses::kPerOctave}) - 1;

// A size is kept to kClassBits behind its highest bit; one that has no more than those is kept whole.
GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i fine_classes_of(__m512i residual, std::uint32_t) {
  const __m512i sign = _mm512_srai_epi32(residual, 31), size = _mm512_xor_si512(residual, sign);
  const __m512i cut_bits = _mm512_sub_epi32(
      _mm512_set1_epi32(31 - kClassBits),
      _mm512_lzcnt_epi32(_mm512_or_si512(size, _mm512_set1_epi32(FineClasses::kPerOctave))));
  const __m512i number =
      _mm512_add_epi32(_mm512_slli_epi32(cut_bits, kClassBits), _mm512_srlv_epi32(size, cut_bits));
  return _mm512_xor_si512(_mm512_add_epi32(number, _mm512_set1_epi32(FineClasses::kHalf)),
                          _mm512_and_si512(sign, _mm512_set1_epi32(FineClasses::kCount - 1)));
}
GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i fine_classes_of(__m512i residual, std::uint64_t) {
  const __m512i sign = _mm512_srai_epi64(residual, 63), size = _mm512_xor_si512(residual, sign);
  const __m512i cut_bits = _mm512_sub_epi64(
      _mm512_set1_epi64(63 - kClassBits),
      _mm512_lzcnt_epi64(_mm512_or_si512(size, _mm512_set1_epi64(FineClasses::kPerOctave))));
  const __m512i number =
      _mm512_add_epi64(_mm512_slli_epi64(cut_bits, kClassBits), _mm512_srlv_epi64(size, cut_bits));
  return _mm512_xor_si512(_mm512_add_epi64(number, _mm512_set1_epi64(FineClasses::kHalf)),
                          _mm512_and_si512(sign, _mm512_set1_epi64(FineClasses::kCount - 1)));
}

template <class Word>
GDELTA_AVX512 void find_avx512(const Word* residuals, std::size_t count, std::uint16_t* classes) {
  constexpr std::size_t kAtOnce = Avx512<Word>::kWords;
  std::size_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) {
    const __m512i found = fine_classes_of(_mm512_loadu_si512(residuals + i), Word{});
    if constexpr (sizeof(Word) == 4) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(classes + i), _mm512_cvtepi32_epi16(found));
    } else {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(classes + i), _mm512_cvtepi64_epi16(found));
    }
  }
  find_one_by_one(residuals + i, count - i, classes + i);
}

// Exponent and the next four bits of a number are those of the same number as a float.
GDELTA_AVX2 inline __m256i classes_of(__m256i residual) {
  constexpr int kBits = 4, kFraction = 23, kBias = 127;
  constexpr int kPerOctave = FineClasses::kPerOctave;
  static_assert(kPerOctave == 1 << kBits);
  const __m256i sign = _mm256_srai_epi32(residual, 31);
  const __m256i size = _mm256_xor_si256(residual, sign);
  // Without bits that would be rounded.
  const __m256i is_long = _mm256_cmpgt_epi32(size, _mm256_set1_epi32((1 << 24) - 1));
  const __m256i cut = _mm256_andnot_si256(_mm256_and_si256(is_long, _mm256_set1_epi32(0xff)), size);
  const __m256i number = _mm256_sub_epi32(
      _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(cut)), kFraction - kBits),
      _mm256_set1_epi32((kBias + kBits - 1) * kPerOctave));
  const __m256i is_short = _mm256_cmpgt_epi32(_mm256_set1_epi32(kPerOctave), size);
  const __m256i above = _mm256_add_epi32(_mm256_blendv_epi8(number, size, is_short),
                                         _mm256_set1_epi32(FineClasses::kHalf));
  return _mm256_xor_si256(above,
                          _mm256_and_si256(sign, _mm256_set1_epi32(FineClasses::kCount - 1)));
}

GDELTA_AVX2 void find_avx2(const std::uint32_t* residuals, std::size_t count,
                           std::uint16_t* classes) {
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const auto* const from = reinterpret_cast<const __m256i*>(residuals + i);
    const __m256i packed = _mm256_packus_epi32(classes_of(_mm256_loadu_si256(from)),
                                               classes_of(_mm256_loadu_si256(from + 1)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(classes + i),
                        _mm256_permute4x64_epi64(packed, 0xd8));
  }
  find_one_by_one(residuals + i, count - i, classes + i);
}

#endif

}  // namespace

template <class Word>
void find_fine_classes(const Word* residuals, std::size_t count, std::uint16_t* classes) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx512()) return find_avx512(residuals, count, classes);
  if (cpu_has_avx2()) return find_avx2(residuals, count, classes);
#endif
  find_one_by_one(residuals, count, classes);
}

template void find_fine_classes(const std::uint32_t*, std::size_t, std::uint16_t*);
template void find_fine_classes(const std::uint64_t*, std::size_t, std::uint16_t*);

}  // namespace gdelta
