// Whole tiles of 32 states, sixteen states a vector. For code behind GDELTA_AVX512 alone.
//
// A state waits long for its slot, so the symbols of a tile are decoded together with the offsets of the tile
// before it. Offsets need no chain either: in vectors of states, where each run's offsets begin is a sum of
// eight vectors, and where runs begin is one scan.
#pragma once

#include <cstdint>

#include "kernels/ans/ans_picks.h"
#include "kernels/ans/ans_tables.h"
#include "kernels/cpu/avx512.h"

namespace gdelta {

inline constexpr int kAnsVectors = kMaxAnsStates / 16;  ///< of states

/// The lower half of each word of 64 bits in two vectors, for _mm512_permutex2var_epi32.
GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i even_words() {
  return _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}

/// Eight vectors of sixteen words from rows to columns.
GDELTA_AVX512 GDELTA_ALWAYS_INLINE void store_turned(const std::uint32_t* rows,
                                                     std::uint32_t* words) {
  const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  for (int v = 0; v < kAnsVectors; ++v) {
    __m512i pairs[kAnsRun], quads[kAnsRun];
#pragma GCC unroll 8
    for (int i = 0; i < kAnsRun; i += 2) {
      const __m512i even = _mm512_load_si512(rows + i * kMaxAnsStates + 16 * v);
      const __m512i odd = _mm512_load_si512(rows + (i + 1) * kMaxAnsStates + 16 * v);
      pairs[i] = _mm512_unpacklo_epi32(even, odd);
      pairs[i + 1] = _mm512_unpackhi_epi32(even, odd);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kAnsRun; i += 4) {
      quads[i] = _mm512_unpacklo_epi64(pairs[i], pairs[i + 2]);
      quads[i + 1] = _mm512_unpackhi_epi64(pairs[i], pairs[i + 2]);
      quads[i + 2] = _mm512_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
      quads[i + 3] = _mm512_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
    }
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const __m512i first = _mm512_permutex2var_epi64(quads[j], low, quads[j + 4]);
      const __m512i second = _mm512_permutex2var_epi64(quads[j], high, quads[j + 4]);
      auto* const to = reinterpret_cast<__m256i*>(words + (16 * v + j) * kAnsRun);
      _mm256_storeu_si256(to, _mm512_castsi512_si256(first));
      _mm256_storeu_si256(to + 4, _mm512_extracti64x4_epi64(first, 1));
      _mm256_storeu_si256(to + 8, _mm512_castsi512_si256(second));
      _mm256_storeu_si256(to + 12, _mm512_extracti64x4_epi64(second, 1));
    }
  }
}

GDELTA_AVX512 GDELTA_ALWAYS_INLINE void store_turned(const std::uint64_t* rows,
                                                     std::uint64_t* words) {
  for (int s = 0; s < kMaxAnsStates; s += 8) {
    // Of state s + 2 × l + parity, the rows 2 × i and 2 × i + 1 are part l of halves[parity][i].
    __m512i halves[2][4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m512i even = _mm512_load_si512(rows + 2 * i * kMaxAnsStates + s);
      const __m512i odd = _mm512_load_si512(rows + (2 * i + 1) * kMaxAnsStates + s);
      halves[0][i] = _mm512_unpacklo_epi64(even, odd);
      halves[1][i] = _mm512_unpackhi_epi64(even, odd);
    }
#pragma GCC unroll 2
    for (int parity = 0; parity < 2; ++parity) {
      const __m512i* const half = halves[parity];
      const __m512i even[2] = {_mm512_shuffle_i64x2(half[0], half[1], 0x88),
                               _mm512_shuffle_i64x2(half[2], half[3], 0x88)};
      const __m512i odd[2] = {_mm512_shuffle_i64x2(half[0], half[1], 0xdd),
                              _mm512_shuffle_i64x2(half[2], half[3], 0xdd)};
      std::uint64_t* const to = words + (s + parity) * kAnsRun;
      _mm512_storeu_si512(to, _mm512_shuffle_i64x2(even[0], even[1], 0x88));
      _mm512_storeu_si512(to + 2 * kAnsRun, _mm512_shuffle_i64x2(odd[0], odd[1], 0x88));
      _mm512_storeu_si512(to + 4 * kAnsRun, _mm512_shuffle_i64x2(even[0], even[1], 0xdd));
      _mm512_storeu_si512(to + 6 * kAnsRun, _mm512_shuffle_i64x2(odd[0], odd[1], 0xdd));
    }
  }
}

/// Where the table of each state begins; `selectors`: one for each span, and 32 bytes that can be read.
GDELTA_AVX512 GDELTA_ALWAYS_INLINE void find_bases_avx512(const std::uint8_t* selectors,
                                                          int span_bits, int slot_bits,
                                                          std::uint32_t* bases) {
  const auto* const from = reinterpret_cast<const __m128i*>(selectors);
  const __m512i low = _mm512_cvtepu8_epi32(_mm_loadu_si128(from));
  const __m512i high = _mm512_cvtepu8_epi32(_mm_loadu_si128(from + 1));
  const __m128i states_of_span = _mm_cvtsi32_si128(span_bits - kMinSpanBits);
  __m512i state = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (int v = 0; v < kAnsVectors; ++v, state = _mm512_add_epi32(state, _mm512_set1_epi32(16))) {
    const __m512i span = _mm512_srl_epi32(state, states_of_span);
    const __m512i table = _mm512_permutex2var_epi32(low, span, high);
    _mm512_storeu_si512(bases + 16 * v, _mm512_sll_epi32(table, _mm_cvtsi32_si128(slot_bits)));
  }
}

/// The symbols of a tile, a residual of every state a step.
template <class Word>
struct AnsSymbolsAvx512 {
  __m512i x[kAnsVectors], base[kAnsVectors], run_bits[kAnsVectors], most_bits;
  __m512i slot_mask, slot_bits;
  const void* slots;
  const std::uint16_t* next;

  GDELTA_AVX512 GDELTA_ALWAYS_INLINE void begin(const std::uint32_t* states,
                                                const std::uint32_t* bases,
                                                const AnsDecodeTables<Word>& tables,
                                                const std::uint16_t* words) {
    for (int v = 0; v < kAnsVectors; ++v) {
      x[v] = _mm512_loadu_si512(states + 16 * v);
      base[v] = _mm512_loadu_si512(bases + 16 * v);
      run_bits[v] = _mm512_setzero_si512();
    }
    most_bits = _mm512_setzero_si512();
    slot_mask = _mm512_set1_epi32((1 << tables.slot_bits) - 1);
    slot_bits = _mm512_set1_epi32(tables.slot_bits);
    slots = tables.slots.data();
    next = words;
  }

  GDELTA_AVX512 GDELTA_ALWAYS_INLINE void step(int i, AnsPicks& picks) {
#pragma GCC unroll 2
    for (int v = 0; v < kAnsVectors; ++v) {
      const __m512i at = _mm512_or_si512(_mm512_and_si512(x[v], slot_mask), base[v]);
      __m512i slot, picked;
      if constexpr (sizeof(Word) == 4) {
        load_whole(at, slot, picked);
      } else {
        slot = _mm512_i32gather_epi32(at, slots, 4);
        picked = at;
      }
      const __m512i bits = _mm512_and_si512(slot, _mm512_set1_epi32(0x3ff));
      _mm512_store_si512(picks.slots + i * kMaxAnsStates + 16 * v, picked);
      _mm512_store_si512(picks.offset_bits + i * kMaxAnsStates + 16 * v, bits);
      run_bits[v] = _mm512_add_epi32(run_bits[v], bits);
      most_bits = _mm512_max_epu32(most_bits, bits);
      const __m512i quotient = _mm512_srlv_epi32(x[v], slot_bits);
      const __m512i place = _mm512_and_si512(_mm512_srli_epi32(slot, 10), _mm512_set1_epi32(0x7ff));
      const __m512i product = _mm512_mullo_epi32(_mm512_srli_epi32(slot, 21), quotient);
      const __m512i moved = _mm512_add_epi32(product, _mm512_add_epi32(quotient, place));
      const __mmask16 low = _mm512_cmplt_epu32_mask(moved, _mm512_set1_epi32(kAnsLowest));
      const __m512i words =
          _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(next)));
      x[v] = _mm512_mask_or_epi32(moved, low, _mm512_slli_epi32(moved, 16),
                                  _mm512_maskz_expand_epi32(low, words));
      next += _mm_popcnt_u32(low);
    }
  }

  GDELTA_AVX512 GDELTA_ALWAYS_INLINE void end(std::uint32_t* states, AnsPicks& picks) const {
    for (int v = 0; v < kAnsVectors; ++v) {
      _mm512_storeu_si512(states + 16 * v, x[v]);
      _mm512_store_si512(picks.run_bits + 16 * v, run_bits[v]);
    }
    picks.most_offset_bits = _mm512_reduce_max_epu32(most_bits);
  }

 private:
  /// Sixteen slots and the lower ends of their bins, each slot by one access to memory.
  GDELTA_AVX512 GDELTA_ALWAYS_INLINE void load_whole(__m512i at, __m512i& slot,
                                                     __m512i& lower) const {
    const __m512i odd = _mm512_add_epi32(even_words(), _mm512_set1_epi32(1));
    const __m512i low = _mm512_i32gather_epi64(_mm512_castsi512_si256(at), slots, 8);
    const __m512i high = _mm512_i32gather_epi64(_mm512_extracti64x4_epi64(at, 1), slots, 8);
    slot = _mm512_permutex2var_epi32(low, even_words(), high);
    lower = _mm512_permutex2var_epi32(low, odd, high);
  }
};

/// Two offsets of no more bits have room in what one access to memory gives.
inline constexpr std::uint32_t kAnsShortOffset = 28;

/// Residuals of a tile from what its states named. A step takes one of every state; where `kAllShort` two of every other
/// state. Others have up to 57 bits.
template <class Word, bool kAllShort>
struct AnsOffsetsAvx512 {
  __m512i places[kAnsVectors];  // bits behind `offsets`
  const unsigned char* offsets;
  const Word* lowers;
  alignas(64) Word rows[kMaxAnsTile];

  /// Returns the bit behind the tile's last offset.
  GDELTA_AVX512 GDELTA_ALWAYS_INLINE std::uint64_t begin(const AnsPicks& picks,
                                                         const unsigned char* bytes,
                                                         std::uint64_t bit, const Word* of_slots) {
    using Vector = Avx512<std::uint32_t>;
    __m512i before = _mm512_set1_epi32(static_cast<int>(bit & 7));
    for (int v = 0; v < kAnsVectors; ++v) {
      const __m512i bits = _mm512_load_si512(picks.run_bits + 16 * v);
      const __m512i ends = Vector::add(before, Vector::sums(bits));
      places[v] = _mm512_sub_epi32(ends, bits);
      before = Vector::last(ends);
    }
    offsets = bytes + (bit >> 3);
    lowers = of_slots;
    const auto end = static_cast<unsigned>(_mm512_cvtsi512_si32(before));
    return (bit & ~std::uint64_t{7}) + end;
  }

  GDELTA_AVX512 GDELTA_ALWAYS_INLINE void step(int i, const AnsPicks& picks) {
    static_assert(kAnsVectors == 2);
    if constexpr (kAllShort) {
      take<2>(i & 1, i & ~1, picks);
    } else {
      take<1>(0, i, picks);
      take<1>(1, i, picks);
    }
  }

 private:
  /// `kCount` residuals from i on of each state of vector v.
  template <int kCount>
  GDELTA_AVX512 GDELTA_ALWAYS_INLINE void take(int v, int i, const AnsPicks& picks) {
    const __m512i byte = _mm512_srli_epi32(places[v], 3);
    const __m512i low = load_eight(_mm512_castsi512_si256(byte));
    const __m512i high = load_eight(_mm512_extracti64x4_epi64(byte, 1));
    __m512i shift = _mm512_and_si512(places[v], _mm512_set1_epi32(7));
#pragma GCC unroll 2
    for (int k = 0; k < kCount; ++k) {
      const int first = (i + k) * kMaxAnsStates + 16 * v;
      const __m512i at = _mm512_load_si512(picks.slots + first);
      const __m512i bits = _mm512_load_si512(picks.offset_bits + first);
      if constexpr (sizeof(Word) == 4) {
        const __m512i field =
            _mm512_permutex2var_epi32(shifted(low, _mm512_castsi512_si256(shift)), even_words(),
                                      shifted(high, _mm512_extracti64x4_epi64(shift, 1)));
        const __m512i above = _mm512_sllv_epi32(_mm512_set1_epi32(-1), bits);
        _mm512_store_si512(rows + first, _mm512_add_epi32(at, _mm512_andnot_si512(above, field)));
      } else {
        put_eight(_mm512_castsi512_si256(at), _mm512_castsi512_si256(bits),
                  shifted(low, _mm512_castsi512_si256(shift)), rows + first);
        put_eight(_mm512_extracti64x4_epi64(at, 1), _mm512_extracti64x4_epi64(bits, 1),
                  shifted(high, _mm512_extracti64x4_epi64(shift, 1)), rows + first + 8);
      }
      shift = _mm512_add_epi32(shift, bits);
      places[v] = _mm512_add_epi32(places[v], bits);
    }
  }

  /// 64 bits from each place in memory on.
  GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i load_eight(__m256i byte) const {
    return _mm512_i32gather_epi64(byte, offsets, 1);
  }
  GDELTA_AVX512 GDELTA_ALWAYS_INLINE static __m512i shifted(__m512i fields, __m256i by) {
    return _mm512_srlv_epi64(fields, _mm512_cvtepu32_epi64(by));
  }

  GDELTA_AVX512 GDELTA_ALWAYS_INLINE void put_eight(__m256i slots, __m256i bits, __m512i field,
                                                    std::uint64_t* to) const {
    const __m512i above = _mm512_sllv_epi64(_mm512_set1_epi64(-1), _mm512_cvtepu32_epi64(bits));
    const __m512i lower = _mm512_i32gather_epi64(slots, lowers, 8);
    _mm512_store_si512(to, _mm512_add_epi64(lower, _mm512_andnot_si512(above, field)));
  }
};

}  // namespace gdelta
