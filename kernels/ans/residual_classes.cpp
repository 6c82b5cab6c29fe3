#include "kernels/ans/residual_classes.h"

#include "kernels/cpu/cpu_targets.h"

#if GDELTA_HAS_AVX2_CODE
#include <immintrin.h>
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
  if (cpu_has_avx2()) return find_avx2(residuals, count, classes);
#endif
  find_one_by_one(residuals, count, classes);
}

template void find_fine_classes(const std::uint32_t*, std::size_t, std::uint16_t*);
template void find_fine_classes(const std::uint64_t*, std::size_t, std::uint16_t*);

}  // namespace gdelta
