// What is tried where a map has to give every value of a lane back: the same on hosts and devices, and with the same words.
// For code that is built without contraction of products and sums.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/words/maps/scaled.h"
#include "kernels/words/value_maps.h"

namespace gdelta {

/// Digits of decimals that are tried: of floats those whose quotients floats suffice for.
template <class Word>
constexpr int most_exact_digits() {
  return sizeof(Word) == 8 ? 15 : static_cast<int>(kMostShortDigits);
}

/// Whether words that differ by so much may be shorter than floats are: not if that is as much as bits of mantissas do. Spares a
/// closer look.
template <class Word>
GDELTA_HD constexpr bool is_little(Word spread) {
  constexpr int kBits = static_cast<int>(5 * sizeof(Word));  // of 8 * sizeof(Word)
  return spread >> kBits == 0;
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

/// A step that is a power of two, whose quotients are products.
struct BinaryScaleMap : ScaledMap {
  static constexpr int kLowest = -1022,
                       kHighest = 1022;  // exponents: step and inverse are normal numbers

  GDELTA_HD explicit BinaryScaleMap(const LaneMapping& mapping)
      : ScaledMap(mapping), inverse(bits_as<double>((std::uint64_t{2046} << 52) - mapping.step)) {}

  static GDELTA_HD constexpr bool has_step(int exponent) {
    return exponent >= kLowest && exponent <= kHighest;
  }
  /// LaneMapping::step of 2^exponent.
  static GDELTA_HD constexpr std::uint64_t step_of(int exponent) {
    return static_cast<std::uint64_t>(exponent + 1023) << 52;
  }
  GDELTA_HD double steps(double value) const { return value * inverse; }

  double inverse;
};

/// A float that is not zero is an odd number times 2^e, and this is e; of zeros a number beyond all that steps have, and of what
/// is no number any. Of floats that use the last bit that they have a number below all: no step makes shorter words of them.
template <class Word>
GDELTA_HD inline int lowest_exponent(Word value) {
  if ((value & 1) != 0) return BinaryScaleMap::kLowest - 1;
  constexpr int kFraction = sizeof(Word) == 8 ? 52 : 23,
                kExponents = sizeof(Word) == 8 ? 2047 : 255;
  const auto biased = static_cast<int>(value >> kFraction) & kExponents;
  const bool normal = biased != 0;
  const Word number = (value & ((Word{1} << kFraction) - 1)) | static_cast<Word>(normal)
                                                                   << kFraction;
  if (number == 0) return BinaryScaleMap::kHighest + 1;
  // A power of two as a double tells its exponent.
  const auto lowest = static_cast<double>(number & (Word{0} - number));
  const int twos = static_cast<int>(bits_as<std::uint64_t>(lowest) >> 52) - 1023;
  return twos + (normal ? biased : 1) - kExponents / 2 - kFraction;
}

/// Where whole numbers of steps of integers begin, the first that gives all values back: as near to zero as they allow, or, if
/// numbers without a sign go beyond half of their range, at one of them.
inline constexpr int kMultipleOffsets = 2;
template <class Word>
GDELTA_HD constexpr Word multiple_offset(int number, Word first, Word step) {
  using Signed = std::make_signed_t<Word>;
  return number == 0 ? static_cast<Word>(static_cast<Signed>(first) % static_cast<Signed>(step))
                     : first;
}

/// How far apart two integers are, on the shorter way around.
template <class Word>
GDELTA_HD constexpr Word distance_of(Word one, Word other) {
  const auto distance = static_cast<Word>(one - other);
  return static_cast<std::make_signed_t<Word>>(distance) < 0 ? Word{0} - distance : distance;
}

/// Whether it is a step that multiples of values up to `most` may have; others are of values that differ too much, or not at all.
template <class Word>
GDELTA_HD constexpr bool is_multiple_step(Word step, Word most) {
  return step >= 2 && step <= most / 2;
}

/// The word of a value that is a whole number of the map's steps.
template <class Word, class Map>
GDELTA_HD inline bool find_steps(const Map& map, Word value, int value_bits, Word& word) {
  const bool fits = round_steps(map.steps(float_of(value)), word);
  return fits & (map.undo(word, value_bits) == value);
}

}  // namespace gdelta
