// How the values of a column are predicted from those before them, as heads say it. Shared by host and device.
// Spec: formats/gdelta/predictors/linear.md.
//
// Words are read as signed numbers here, whatever the column says: one without a sign is half its range
// more than the signed number that is left when its highest bit is flipped. So the products of coefficients
// and words fit the multipliers there are, and half the range times the sum of the coefficients comes on
// top.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.h"

namespace gdelta {

inline constexpr int kMaxLinearTaps = 32;
inline constexpr int kMaxLinearSources = 2;
inline constexpr int kLinearTapBytes = 3;  // base and width

/// An earlier lane of the tuple, and how many of its values count.
struct LinearSource {
  std::uint8_t lane;
  std::uint8_t taps;
};

struct LinearLane {
  std::uint8_t own = 0;  // taps on the lane itself
  std::uint8_t num_sources = 0;
  std::uint8_t shift = 0;
  LinearSource sources[kMaxLinearSources] = {};

  GDELTA_HD int taps() const {
    int count = own;
    for (int number = 0; number < num_sources; ++number) count += sources[number].taps;
    return count;
  }
  /// Tuples at the start of a run that are predicted otherwise.
  GDELTA_HD int history() const {
    int tuples = own;
    for (int number = 0; number < num_sources; ++number)
      if (sources[number].taps - 1 > tuples) tuples = sources[number].taps - 1;
    return tuples;
  }
};

/// Whether the lowest 32 bits of sums are all that counts for words of so many bits.
GDELTA_HD constexpr bool sums_are_narrow(int value_bits, int shift) {
  return value_bits + shift <= 32;
}

/// What is predicted for tuple i of a run before there is enough history; x1 is the word before, x2 the
/// one before that.
template <class Word>
GDELTA_HD Word early_prediction(std::uint64_t i, Word x1, Word x2) {
  return i == 0 ? Word{0} : i == 1 ? x1 : static_cast<Word>(2 * x1 - x2);
}

// ---- Fields that have been checked

/// Reads what stands before the taps of a lane; returns where they begin.
GDELTA_HD inline const unsigned char* read_linear_lane(const unsigned char* fields,
                                                       LinearLane& lane) {
  lane.own = *fields++;
  lane.num_sources = *fields++;
  lane.shift = *fields++;
  for (int number = 0; number < lane.num_sources; ++number) {
    lane.sources[number].lane = *fields++;
    lane.sources[number].taps = *fields++;
  }
  return fields;
}

/// The number of `width` bits, at most 16, that begins at a bit of the table.
GDELTA_HD inline std::uint32_t read_linear_number(const unsigned char* table, std::uint64_t bit,
                                                  int width) {
  const int skipped = static_cast<int>(bit & 7);
  std::uint32_t bits = 0;
  for (int i = 0; 8 * i < skipped + width; ++i)
    bits |= static_cast<std::uint32_t>(table[(bit >> 3) + i]) << (8 * i);
  return (bits >> skipped) & ((1u << width) - 1);
}

/// The coefficient of a tap whose number begins at a bit of the table.
GDELTA_HD inline std::int16_t read_linear_coefficient(const unsigned char* tap,
                                                      const unsigned char* table,
                                                      std::uint64_t bit) {
  const std::uint32_t base = tap[0] | static_cast<std::uint32_t>(tap[1]) << 8;
  return static_cast<std::int16_t>(base + read_linear_number(table, bit, tap[2]));
}

}  // namespace gdelta
