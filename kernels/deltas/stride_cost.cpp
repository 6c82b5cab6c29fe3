#include "kernels/deltas/stride_cost.h"

#include <bit>

#include "kernels/cpu/cpu_targets.h"
#if GDELTA_HAS_AVX2_CODE
#include "kernels/cpu/avx512.h"
#endif

namespace gdelta {
namespace {

// The bits come from the exponent of a float: one instruction of a vector unit, and exact enough to
// rank. A value just below a power of two counts as one bit more, on every machine.
GDELTA_ALWAYS_INLINE std::uint32_t bits_of(std::uint32_t difference) {
  const auto number = static_cast<float>(static_cast<std::int32_t>(difference));
  const auto exponent =
      static_cast<std::int32_t>((std::bit_cast<std::uint32_t>(number) >> 23) & 0xff);
  return static_cast<std::uint32_t>(exponent > 126 ? exponent - 126 : 0);
}

// What is compared with the words before it.
struct StrideSamples {
  StrideSamples(const std::uint32_t* words, std::size_t count, std::size_t spacing) {
    for (int j = 0; j < kStrideSamples; ++j) {
      before[j] = words + j * spacing;
      value[j] = before[j][count];
      if (count > 0) difference[j] = value[j] - before[j][count - 1];
    }
  }

  const std::uint32_t* before[kStrideSamples];
  std::uint32_t value[kStrideSamples];
  std::uint32_t difference[kStrideSamples] = {};
};

// Of words [begin, end), begin > 0.
GDELTA_ALWAYS_INLINE void add_costs(const StrideSamples& samples, std::size_t begin,
                                    std::size_t end, std::uint32_t* __restrict costs,
                                    std::uint32_t* __restrict difference_costs) {
  for (int j = 0; j < kStrideSamples; ++j) {
    const std::uint32_t* const before = samples.before[j];
    for (std::size_t k = begin; k < end; ++k) {
      costs[k] += bits_of(samples.value[j] - before[k]);
      difference_costs[k] += bits_of(samples.difference[j] - (before[k] - before[k - 1]));
    }
  }
}

#if GDELTA_HAS_AVX2_CODE
// By hand, because one subtraction of bytes that stops at 0 takes off the bias and the sign as well. Bits of all samples
// have room in a byte.
GDELTA_AVX2 GDELTA_ALWAYS_INLINE __m256i exponents(__m256i differences) {
  return _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(differences)), 23);
}
GDELTA_AVX2 void add_costs_avx2(const StrideSamples& samples, std::size_t begin, std::size_t end,
                                std::uint32_t* costs, std::uint32_t* difference_costs) {
  const __m256i bias_and_sign = _mm256_set1_epi32(0xff00 | 126);
  std::size_t k = begin;
  for (; k + 8 <= end; k += 8) {
    auto* const sums = reinterpret_cast<__m256i*>(costs + k);
    auto* const difference_sums = reinterpret_cast<__m256i*>(difference_costs + k);
    __m256i sum = _mm256_loadu_si256(sums), difference_sum = _mm256_loadu_si256(difference_sums);
    for (int j = 0; j < kStrideSamples; ++j) {
      const auto* const before = reinterpret_cast<const __m256i*>(samples.before[j] + k);
      const auto* const ahead = reinterpret_cast<const __m256i*>(samples.before[j] + k - 1);
      const __m256i words = _mm256_loadu_si256(before);
      const __m256i grown = _mm256_sub_epi32(words, _mm256_loadu_si256(ahead));
      const __m256i value = _mm256_set1_epi32(static_cast<int>(samples.value[j]));
      const __m256i difference = _mm256_set1_epi32(static_cast<int>(samples.difference[j]));
      sum = _mm256_add_epi32(
          sum, _mm256_subs_epu8(exponents(_mm256_sub_epi32(value, words)), bias_and_sign));
      difference_sum = _mm256_add_epi32(
          difference_sum,
          _mm256_subs_epu8(exponents(_mm256_sub_epi32(difference, grown)), bias_and_sign));
    }
    _mm256_storeu_si256(sums, sum);
    _mm256_storeu_si256(difference_sums, difference_sum);
  }
  add_costs(samples, k, end, costs, difference_costs);
}

GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i exponents(__m512i differences) {
  return _mm512_srli_epi32(_mm512_castps_si512(_mm512_cvtepi32_ps(differences)), 23);
}
GDELTA_AVX512 void add_costs_avx512(const StrideSamples& samples, std::size_t begin,
                                    std::size_t end, std::uint32_t* costs,
                                    std::uint32_t* difference_costs) {
  const __m512i bias_and_sign = _mm512_set1_epi32(0xff00 | 126);
  for (std::size_t k = begin; k < end; k += 16) {
    const auto some = static_cast<__mmask16>(end - k < 16 ? (1u << (end - k)) - 1 : 0xffffu);
    __m512i sum = _mm512_maskz_loadu_epi32(some, costs + k);
    __m512i difference_sum = _mm512_maskz_loadu_epi32(some, difference_costs + k);
    for (int j = 0; j < kStrideSamples; ++j) {
      const __m512i words = _mm512_maskz_loadu_epi32(some, samples.before[j] + k);
      const __m512i grown =
          _mm512_sub_epi32(words, _mm512_maskz_loadu_epi32(some, samples.before[j] + k - 1));
      const __m512i value = _mm512_set1_epi32(static_cast<int>(samples.value[j]));
      const __m512i difference = _mm512_set1_epi32(static_cast<int>(samples.difference[j]));
      sum = _mm512_add_epi32(
          sum, _mm512_subs_epu8(exponents(_mm512_sub_epi32(value, words)), bias_and_sign));
      difference_sum = _mm512_add_epi32(
          difference_sum,
          _mm512_subs_epu8(exponents(_mm512_sub_epi32(difference, grown)), bias_and_sign));
    }
    _mm512_mask_storeu_epi32(costs + k, some, sum);
    _mm512_mask_storeu_epi32(difference_costs + k, some, difference_sum);
  }
}
#endif

}  // namespace

void add_stride_costs(const std::uint32_t* words, std::size_t count, std::size_t spacing,
                      std::uint32_t* costs, std::uint32_t* difference_costs) {
  if (count == 0) return;
  const StrideSamples samples(words, count, spacing);
  for (int j = 0; j < kStrideSamples; ++j)
    costs[0] += bits_of(samples.value[j] - samples.before[j][0]);
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx512()) return add_costs_avx512(samples, 1, count, costs, difference_costs);
  if (cpu_has_avx2()) return add_costs_avx2(samples, 1, count, costs, difference_costs);
#endif
  add_costs(samples, 1, count, costs, difference_costs);
}

}  // namespace gdelta
