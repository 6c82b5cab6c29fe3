// Floats as whole numbers: over a power of ten, or times a step. Spec: maps/decimal.md, maps/scaled.md.
// A word holds a whole number in two's complement, of the float's width (32 or 64 bits). Products and
// quotients are those of f64, rounded to nearest, whatever the width.
#pragma once

#include <cstring>

#include "kernels/device/host_device.h"
#include "kernels/words/maps/lane_mapping.h"

namespace gdelta {

template <class To, class From>
GDELTA_HD inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

GDELTA_HD inline double whole_number(std::uint32_t word) { return static_cast<std::int32_t>(word); }
GDELTA_HD inline double whole_number(std::uint64_t word) {
  return static_cast<double>(static_cast<std::int64_t>(word));
}

/// The bits of a value of the word's width, rounded to nearest.
GDELTA_HD inline void put_float(double value, std::uint32_t& word) {
  word = bits_as<std::uint32_t>(static_cast<float>(value));
}
GDELTA_HD inline void put_float(double value, std::uint64_t& word) {
  word = bits_as<std::uint64_t>(value);
}
GDELTA_HD inline double float_of(std::uint32_t word) { return bits_as<float>(word); }
GDELTA_HD inline double float_of(std::uint64_t word) { return bits_as<double>(word); }

/// Exact up to 22 digits.
GDELTA_HD inline double power_of_ten(std::uint64_t digits) {
  double power = 1;
  for (std::uint64_t i = 0; i < digits; ++i) power *= 10;
  return power;
}

struct DecimalMap {
  GDELTA_HD explicit DecimalMap(const LaneMapping& mapping) : power(power_of_ten(mapping.step)) {}

  template <class Word>
  GDELTA_HD Word undo(Word word, int /*value_bits*/) const {
    put_float(whole_number(word) / power, word);
    return word;
  }
  /// About how many steps a value has.
  GDELTA_HD double steps(double value) const { return value * power; }

  double power;
};

struct ScaledMap {
  GDELTA_HD explicit ScaledMap(const LaneMapping& mapping) : step(bits_as<double>(mapping.step)) {}

  template <class Word>
  GDELTA_HD Word undo(Word word, int /*value_bits*/) const {
    put_float(whole_number(word) * step, word);
    return word;
  }
  GDELTA_HD double steps(double value) const { return value / step; }

  double step;
};

}  // namespace gdelta
