// How many bits the zigzag of a residual has, for loops over vectors.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/cpu_targets.h"

namespace gdelta {

// Bits of a magnitude below 2^31. They come from the exponent of a float, which vectors do; without
// the bits that follow a set bit nothing is rounded up.
GDELTA_ALWAYS_INLINE int magnitude_bits(std::uint32_t magnitude) {
  const auto rounded = static_cast<float>(static_cast<std::int32_t>(magnitude & ~(magnitude >> 1)));
  const int exponent = static_cast<int>(std::bit_cast<std::uint32_t>(rounded) >> 23);
  return exponent > 126 ? exponent - 126 : 0;
}

// Bits of a number of 64 bits, from its halves.
GDELTA_ALWAYS_INLINE int bits_of_halves(std::uint32_t high, std::uint32_t low) {
  const int is_long = -(high != 0 ? 1 : 0);
  const int high_bits = 33 + magnitude_bits(high >> 1);
  const int low_bits = magnitude_bits(low >> 1) + (low != 0 ? 1 : 0);
  return (high_bits & is_long) | (low_bits & ~is_long);
}

// Only words of 32 bits hold narrower values, of 24 bits; elsewhere a shift would widen vectors in vain.
template <class Word>
GDELTA_ALWAYS_INLINE Word without_spare(Word word, int spare_bits) {
  if constexpr (sizeof(Word) == 4) return word >> spare_bits;
  return word;
}

// Bits of the magnitude and one for the sign. `spare_bits` of Word, the lower ones, do not count.
template <class Word>
GDELTA_ALWAYS_INLINE std::uint8_t zigzag_length(Word residual, int spare_bits) {
  using Signed = std::make_signed_t<Word>;
  const auto sign = static_cast<Word>(static_cast<Signed>(residual) >> (8 * sizeof(Word) - 1));
  const auto magnitude = without_spare(static_cast<Word>(residual ^ sign), spare_bits);
  const int any = residual != 0;
  if constexpr (sizeof(Word) == 1) {
    // Comparing with each power of two takes fewer instructions of vectors of bytes.
    const auto least = [&](int bits) {
      return static_cast<std::uint8_t>(magnitude >= (1 << bits));
    };
    return static_cast<std::uint8_t>(any + least(0) + least(1) + least(2) + least(3) + least(4) +
                                     least(5) + least(6));
  }
  if constexpr (sizeof(Word) == 8)
    return static_cast<std::uint8_t>(bits_of_halves(static_cast<std::uint32_t>(magnitude >> 32),
                                                    static_cast<std::uint32_t>(magnitude)) +
                                     any);
  return static_cast<std::uint8_t>(magnitude_bits(static_cast<std::uint32_t>(magnitude)) + any);
}

// The zigzag of a residual, in the lower bits of Word.
template <class Word>
GDELTA_ALWAYS_INLINE Word zigzag_of(Word residual, int spare_bits) {
  using Signed = std::make_signed_t<Word>;
  const auto sign = static_cast<Word>(static_cast<Signed>(residual) >> (8 * sizeof(Word) - 1));
  return without_spare(static_cast<Word>(static_cast<Word>(residual << 1) ^ sign), spare_bits);
}

// Bits of any word, for loops over vectors.
template <class Word>
GDELTA_ALWAYS_INLINE int word_bits(Word word) {
  if constexpr (sizeof(Word) == 1) {
    const auto least = [&](int bits) { return static_cast<std::uint8_t>(word >= (1 << bits)); };
    return static_cast<std::uint8_t>(least(0) + least(1) + least(2) + least(3) + least(4) +
                                     least(5) + least(6) + least(7));
  }
  if constexpr (sizeof(Word) == 2) return magnitude_bits(word);
  if constexpr (sizeof(Word) == 4)
    return magnitude_bits(static_cast<std::uint32_t>(word >> 1)) + (word != 0 ? 1 : 0);
  return bits_of_halves(static_cast<std::uint32_t>(static_cast<std::uint64_t>(word) >> 32),
                        static_cast<std::uint32_t>(word));
}

}  // namespace gdelta
