#include "kernels/bitpack/group_pack.h"

#include <bit>
#include <cstring>

#include "kernels/cpu/cpu_targets.h"
#if GDELTA_HAS_AVX2_CODE
#include "kernels/cpu/turn_avx2.h"
#endif

namespace gdelta {
namespace {

void store64(unsigned char* p, std::uint64_t value) {
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
  std::memcpy(p, &value, sizeof value);
}

// Writes `count` fields of `width` ≤ 64 bits, 64 bits at a time.
GDELTA_ALWAYS_INLINE void write_fields(const std::uint64_t* fields, int count, int width,
                                       unsigned char* packed) {
  std::uint64_t pending = 0;
  int bits = 0;
  for (int k = 0; k < count; ++k) {
    const std::uint64_t field = fields[k];
    pending |= field << bits;
    bits += width;
    if (bits < 64) continue;
    store64(packed, pending);
    packed += 8;
    bits -= 64;
    pending = bits == 0 ? 0 : field >> (width - bits);
  }
}

template <class Word>
GDELTA_ALWAYS_INLINE void pack(const Word* residuals, int width, unsigned char* packed) {
  if (width == 0) return;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width);
  std::uint64_t slots[kGroupValues];
  for (int i = 0; i < 8; ++i) {
    for (int l = 0; l < 16; ++l) slots[16 * i + l] = residuals[8 * l + i] & mask;
  }
  // Narrow fields are joined first, which vectors do; what follows them is serial.
  int count = kGroupValues;
  while (2 * width <= 64 && count > 32) {
    count /= 2;
    for (int k = 0; k < count; ++k) slots[k] = slots[2 * k] | (slots[2 * k + 1] << width);
    width *= 2;
  }
  write_fields(slots, count, width, packed);
}

}  // namespace

#if GDELTA_HAS_AVX2_CODE
GDELTA_AVX2 static void pack_group_avx2(const std::uint32_t* residuals, int width,
                                        unsigned char* packed) {
  if (width == 0) return;
  alignas(32) std::uint32_t slots[kGroupValues];
  for (int half = 0; half < 2; ++half) {
    __m256i rows[8];
#pragma GCC unroll 8
    for (int l = 0; l < 8; ++l)
      rows[l] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(residuals + 64 * half + 8 * l));
    turn_8x8(rows);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i)
      _mm256_store_si256(reinterpret_cast<__m256i*>(slots + 16 * i + 8 * half), rows[i]);
  }
  // Two neighbours become one field of 64 bits at most, four if they fit.
  alignas(32) std::uint64_t fields[kGroupValues / 2];
  const __m256i mask =
      _mm256_set1_epi64x(static_cast<long long>(~std::uint64_t{0} >> (64 - width)));
  const __m128i shift = _mm_cvtsi32_si128(width), twice = _mm_cvtsi32_si128(2 * width);
  const auto pair = [&](int k) GDELTA_AVX2 {
    const __m256i two = _mm256_load_si256(reinterpret_cast<const __m256i*>(slots) + k);
    return _mm256_or_si256(
        _mm256_and_si256(two, mask),
        _mm256_sll_epi64(_mm256_and_si256(_mm256_srli_epi64(two, 32), mask), shift));
  };
  auto* const out = reinterpret_cast<__m256i*>(fields);
  if (4 * width > 64) {
    for (int k = 0; k < 16; ++k) _mm256_store_si256(out + k, pair(k));
    return write_fields(fields, 64, 2 * width, packed);
  }
  for (int k = 0; k < 16; k += 2) {
    const __m256i first = pair(k), second = pair(k + 1);
    const __m256i quads =
        _mm256_or_si256(_mm256_unpacklo_epi64(first, second),
                        _mm256_sll_epi64(_mm256_unpackhi_epi64(first, second), twice));
    _mm256_store_si256(out + k / 2, _mm256_permute4x64_epi64(quads, 0xd8));
  }
  write_fields(fields, 32, 4 * width, packed);
}
GDELTA_AVX2 static void pack_group_avx2(const std::uint64_t* residuals, int width,
                                        unsigned char* packed) {
  pack(residuals, width, packed);
}
#endif

template <class Word>
void pack_group(const Word* residuals, int width, unsigned char* packed) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) return pack_group_avx2(residuals, width, packed);
#endif
  pack(residuals, width, packed);
}

template void pack_group(const std::uint32_t*, int, unsigned char*);
template void pack_group(const std::uint64_t*, int, unsigned char*);

}  // namespace gdelta
