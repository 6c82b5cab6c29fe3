// Words of decimals: the same whole numbers on hosts and devices, and how many digits are tried where a lane has to be
// decimals alone. For code that is built without contraction of products and sums.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/words/maps/scaled.h"

namespace gdelta {

/// The number of DecimalMap (value_maps.h), which is the map that lanes are given without exceptions.
inline constexpr std::uint8_t kExactMap = 2;

/// Digits that are tried of a lane without exceptions: of floats those whose quotients floats suffice for.
template <class Word>
constexpr int most_exact_digits() {
  return sizeof(Word) == 8 ? 15 : static_cast<int>(kMostShortDigits);
}

/// Whether words from `lowest` to `highest` may be shorter than the values are: not if they differ by as much as bits of
/// mantissas do. Spares a closer look.
template <class Word>
GDELTA_HD constexpr bool spans_little(std::make_signed_t<Word> lowest,
                                      std::make_signed_t<Word> highest) {
  constexpr int kBits = static_cast<int>(5 * sizeof(Word));  // of 8 * sizeof(Word)
  return static_cast<Word>(static_cast<Word>(highest) - static_cast<Word>(lowest)) >> kBits == 0;
}

/// The nearest whole number; false if words of 32 or doubles of 64 bits may not hold it. Without a branch, so that the
/// threads of a warp stay together.
template <class Word>
GDELTA_HD inline bool round_steps(double steps, Word& word) {
  constexpr double kMost = sizeof(Word) == 8 ? 9007199254740992.0 : 2147483647.0;
  const bool fits = steps > -kMost && steps < kMost;
  const double half = std::abs(steps) < 0x1p52 ? 0.5 : 0;  // from there on all numbers are whole
  const double near = (fits ? steps : 0) + (steps < 0 ? -half : half);
  word = static_cast<Word>(static_cast<std::int64_t>(near));
  return fits;
}

/// The word of a value that is a whole number of the map's steps.
template <class Word, class Map>
GDELTA_HD inline bool find_steps(const Map& map, Word value, int value_bits, Word& word) {
  const bool fits = round_steps(map.steps(float_of(value)), word);
  return fits & (map.undo(word, value_bits) == value);
}

}  // namespace gdelta
