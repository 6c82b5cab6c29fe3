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
GDELTA_ALWAYS_INLINE void add_costs(std::uint32_t value, const std::uint32_t* __restrict before,
                                    std::size_t count, std::uint32_t* __restrict costs) {
  for (std::size_t k = 0; k < count; ++k) {
    const auto difference = static_cast<float>(static_cast<std::int32_t>(value - before[k]));
    const auto exponent =
        static_cast<std::int32_t>((std::bit_cast<std::uint32_t>(difference) >> 23) & 0xff);
    costs[k] += static_cast<std::uint32_t>(exponent > 126 ? exponent - 126 : 0);
  }
}

#if GDELTA_HAS_AVX2_CODE
// By hand, because one subtraction of bytes that stops at 0 takes off the bias and the sign as well.
GDELTA_AVX2 void add_costs_avx2(std::uint32_t value, const std::uint32_t* before, std::size_t count,
                                std::uint32_t* costs) {
  const __m256i values = _mm256_set1_epi32(static_cast<int>(value));
  const __m256i bias_and_sign = _mm256_set1_epi32(0xff00 | 126);
  std::size_t k = 0;
  for (; k + 8 <= count; k += 8) {
    const __m256i differences =
        _mm256_sub_epi32(values, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(before + k)));
    const __m256i exponents =
        _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(differences)), 23);
    auto* const sums = reinterpret_cast<__m256i*>(costs + k);
    _mm256_storeu_si256(sums, _mm256_add_epi32(_mm256_loadu_si256(sums),
                                               _mm256_subs_epu8(exponents, bias_and_sign)));
  }
  add_costs(value, before + k, count - k, costs + k);
}

GDELTA_AVX512 void add_costs_avx512(std::uint32_t value, const std::uint32_t* before,
                                    std::size_t count, std::uint32_t* costs) {
  const __m512i values = _mm512_set1_epi32(static_cast<int>(value));
  const __m512i bias_and_sign = _mm512_set1_epi32(0xff00 | 126);
  for (std::size_t k = 0; k < count; k += 16) {
    const auto some = static_cast<__mmask16>(count - k < 16 ? (1u << (count - k)) - 1 : 0xffffu);
    const __m512i differences =
        _mm512_sub_epi32(values, _mm512_maskz_loadu_epi32(some, before + k));
    const __m512i exponents =
        _mm512_srli_epi32(_mm512_castps_si512(_mm512_cvtepi32_ps(differences)), 23);
    _mm512_mask_storeu_epi32(costs + k, some,
                             _mm512_add_epi32(_mm512_maskz_loadu_epi32(some, costs + k),
                                              _mm512_subs_epu8(exponents, bias_and_sign)));
  }
}
#endif

}  // namespace

void add_stride_costs(std::uint32_t value, const std::uint32_t* before, std::size_t count,
                      std::uint32_t* costs) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx512()) return add_costs_avx512(value, before, count, costs);
  if (cpu_has_avx2()) return add_costs_avx2(value, before, count, costs);
#endif
  add_costs(value, before, count, costs);
}

}  // namespace gdelta
