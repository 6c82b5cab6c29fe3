#include <array>
#include <cstring>

#include "kernels/bitpack/group_pack.h"
#include "kernels/cpu/cpu_targets.h"
#include "kernels/deltas/zigzag.h"
#include "kernels/words/load_little.h"

#if GDELTA_HAS_AVX2_CODE
#include "kernels/cpu/turn_avx2.h"
#endif

namespace gdelta {
namespace {

template <class Word>
GDELTA_ALWAYS_INLINE void unpack(const unsigned char* packed, int width, Word* slots) {
  if (width == 0) {
    std::memset(slots, 0, kGroupValues * sizeof(Word));
    return;
  }
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width);
  if (width <= 57) {
    for (int slot = 0; slot < kGroupValues; ++slot) {
      const unsigned bit = static_cast<unsigned>(slot * width);
      slots[slot] = static_cast<Word>((load64(packed + (bit >> 3)) >> (bit & 7)) & mask);
    }
    return;
  }
  for (int slot = 0; slot < kGroupValues; ++slot) {
    const unsigned bit = static_cast<unsigned>(slot * width);
    const unsigned char* at = packed + (bit >> 3);
    const unsigned shift = bit & 7;
    const std::uint64_t low = load64(at) >> shift;
    const std::uint64_t high = static_cast<std::uint64_t>(at[8]) << 1 << (63 - shift);
    slots[slot] = static_cast<Word>((low | high) & mask);
  }
}

// Slot 16i + l is residual i of run l. For each order: the totals of the sixteen runs, carried from
// run to run, are where the sums down each run begin.
template <class Word>
GDELTA_ALWAYS_INLINE void sum_runs(const Word* slots, int order, Word* states, Word* runs) {
  for (int k = 0; k < kGroupValues; ++k) runs[k] = zigzag_decode(slots[k]);
  for (int k = 0; k < order; ++k) {
    Word sums[16] = {};
    for (int i = 0; i < 8; ++i) {
      for (int l = 0; l < 16; ++l) sums[l] += runs[16 * i + l];
    }
    for (int l = 0; l < 16; ++l) {
      const Word total = sums[l];
      sums[l] = states[k];
      states[k] += total;
    }
    for (int i = 0; i < 8; ++i) {
      for (int l = 0; l < 16; ++l) runs[16 * i + l] = sums[l] += runs[16 * i + l];
    }
  }
}

template <class Word>
GDELTA_ALWAYS_INLINE void sum_group(const Word* slots, int order, Word* states, Word* values) {
  alignas(64) Word runs[kGroupValues];
  sum_runs(slots, order, states, runs);
  for (int l = 0; l < 16; ++l) {
    for (int i = 0; i < 8; ++i) values[8 * l + i] = runs[16 * i + l];
  }
}

#if GDELTA_HAS_AVX2_CODE

// For widths up to 25 a field lies in four bytes. Eight fields take `width` bytes; each half of a
// vector loads sixteen bytes from where its four fields begin, moves every field's four bytes into
// place and shifts them down.
constexpr int kMaxShuffleWidth = 25;

struct ShuffleTable {
  alignas(32) std::array<std::uint8_t, 32> bytes{};
  alignas(32) std::array<std::uint32_t, 8> shifts{};
  int second_half = 0;  // byte at which the upper four fields begin
};

constexpr std::array<ShuffleTable, kMaxShuffleWidth + 1> make_shuffles() {
  std::array<ShuffleTable, kMaxShuffleWidth + 1> tables{};
  for (int width = 0; width <= kMaxShuffleWidth; ++width) {
    ShuffleTable& table = tables[width];
    table.second_half = 4 * width / 8;
    for (int field = 0; field < 8; ++field) {
      const int bit = field * width - (field < 4 ? 0 : 8 * table.second_half);
      for (int b = 0; b < 4; ++b)
        table.bytes[4 * field + b] = static_cast<std::uint8_t>(bit / 8 + b);
      table.shifts[field] = static_cast<std::uint32_t>(bit % 8);
    }
  }
  return tables;
}

constexpr auto kShuffles = make_shuffles();

GDELTA_AVX2 void unpack_slots_avx2(const unsigned char* packed, int width, std::uint32_t* slots) {
  const ShuffleTable& table = kShuffles[width];
  const __m256i bytes = _mm256_load_si256(reinterpret_cast<const __m256i*>(table.bytes.data()));
  const __m256i shifts = _mm256_load_si256(reinterpret_cast<const __m256i*>(table.shifts.data()));
  const __m256i mask = _mm256_set1_epi32((1 << width) - 1);
  const unsigned char* upper = packed + table.second_half;
  for (int slot = 0; slot < kGroupValues; slot += 8, packed += width, upper += width) {
    const __m256i halves = _mm256_loadu2_m128i(reinterpret_cast<const __m128i*>(upper),
                                               reinterpret_cast<const __m128i*>(packed));
    const __m256i fields = _mm256_srlv_epi32(_mm256_shuffle_epi8(halves, bytes), shifts);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(slots + slot), _mm256_and_si256(fields, mask));
  }
}

GDELTA_AVX2 void unpack_slots_avx2(const unsigned char* packed, int width, std::uint64_t* slots) {
  unpack(packed, width, slots);
}

// Eight runs of eight, from columns to rows.
GDELTA_AVX2 GDELTA_ALWAYS_INLINE void turn_runs(const std::uint32_t* runs, std::uint32_t* values) {
  __m256i r[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i)
    r[i] = _mm256_load_si256(reinterpret_cast<const __m256i*>(runs + 16 * i));
  turn_8x8(r);
#pragma GCC unroll 8
  for (int l = 0; l < 8; ++l) _mm256_storeu_si256(reinterpret_cast<__m256i*>(values + 8 * l), r[l]);
}

// Sums of eight words up to and with each.
GDELTA_AVX2 GDELTA_ALWAYS_INLINE __m256i running_sums(__m256i x) {
  x = _mm256_add_epi32(x, _mm256_slli_si256(x, 4));
  x = _mm256_add_epi32(x, _mm256_slli_si256(x, 8));
  // The lower half's total goes to all of the upper half.
  const __m256i totals = _mm256_shuffle_epi32(x, 0xff);
  return _mm256_add_epi32(x, _mm256_permute2x128_si256(totals, totals, 0x08));
}

GDELTA_AVX2 void sum_slots_avx2(const std::uint32_t* slots, int order, std::uint32_t* states,
                                std::uint32_t* values) {
  alignas(64) std::uint32_t runs[kGroupValues];
  auto* const at = reinterpret_cast<__m256i*>(runs);
  const __m256i one = _mm256_set1_epi32(1), last = _mm256_set1_epi32(7);
  for (int k = 0; k < 16; ++k) {
    const __m256i z = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(slots) + k);
    const __m256i sign = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_and_si256(z, one));
    _mm256_store_si256(at + k, _mm256_xor_si256(_mm256_srli_epi32(z, 1), sign));
  }
  for (int k = 0; k < order; ++k) {
    __m256i low = at[0], high = at[1];
    for (int i = 1; i < 8; ++i) {
      low = _mm256_add_epi32(low, at[2 * i]);
      high = _mm256_add_epi32(high, at[2 * i + 1]);
    }
    const __m256i low_sums = running_sums(low), high_sums = running_sums(high);
    const __m256i state = _mm256_set1_epi32(static_cast<int>(states[k]));
    const __m256i middle = _mm256_add_epi32(state, _mm256_permutevar8x32_epi32(low_sums, last));
    low = _mm256_add_epi32(_mm256_sub_epi32(low_sums, low), state);
    high = _mm256_add_epi32(_mm256_sub_epi32(high_sums, high), middle);
    for (int i = 0; i < 8; ++i) {
      at[2 * i] = low = _mm256_add_epi32(low, at[2 * i]);
      at[2 * i + 1] = high = _mm256_add_epi32(high, at[2 * i + 1]);
    }
    states[k] = static_cast<std::uint32_t>(_mm256_extract_epi32(high, 7));
  }
  turn_runs(runs, values);
  turn_runs(runs + 8, values + 64);
}

GDELTA_AVX2 void sum_slots_avx2(const std::uint64_t* slots, int order, std::uint64_t* states,
                                std::uint64_t* values) {
  sum_group(slots, order, states, values);
}

#endif

}  // namespace

template <class Word>
void unpack_slots(const unsigned char* packed, int width, Word* slots) {
#if GDELTA_HAS_AVX2_CODE
  if (width <= kMaxShuffleWidth && cpu_has_avx2()) return unpack_slots_avx2(packed, width, slots);
#endif
  unpack(packed, width, slots);
}

template <class Word>
void sum_slots(const Word* slots, int order, Word* states, Word* values) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) return sum_slots_avx2(slots, order, states, values);
#endif
  sum_group(slots, order, states, values);
}

template void unpack_slots(const unsigned char*, int, std::uint32_t*);
template void unpack_slots(const unsigned char*, int, std::uint64_t*);
template void sum_slots(const std::uint32_t*, int, std::uint32_t*, std::uint32_t*);
template void sum_slots(const std::uint64_t*, int, std::uint64_t*, std::uint64_t*);

}  // namespace gdelta
