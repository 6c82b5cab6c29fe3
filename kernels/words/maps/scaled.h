// Floats as whole numbers: over a power of ten, or times a step. Spec: maps/decimal.md, maps/scaled.md.
// A word holds a whole number in two's complement, of the float's width (32 or 64 bits). Products and
// quotients are those of f64, rounded to nearest, whatever the width.
#pragma once

#include <cmath>
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

/// What 1 / power is more than its double, as a double: exact products of halves (Dekker, "A floating-point technique
/// for extending the available precision"), and one division of what is left.
constexpr double rest_of_inverse(double power) {
  struct Halves {
    double high, low;
  };
  const auto halves = [](double of) {
    const double spread = of * 0x8000001p0;
    const double high = spread - (spread - of);
    return Halves{high, of - high};
  };
  const double inverse = 1 / power, product = inverse * power;
  const Halves a = halves(inverse), b = halves(power);
  const double of_product =
      ((a.high * b.high - product) + a.high * b.low + a.low * b.high) + a.low * b.low;
  return ((1 - product) - of_product) / power;
}

/// 10^digits, exact, and 1 / 10^digits in two parts, the first of which is the float nearest to it. A device loads them at once.
template <class Float>
struct alignas(4 * sizeof(Float)) PowerOfTen {
  constexpr explicit PowerOfTen(double exact)
      : inverse(static_cast<Float>(1 / exact)),
        rest(static_cast<Float>((1 / exact - inverse) + rest_of_inverse(exact))),
        power(static_cast<Float>(exact)) {}

  Float inverse, rest, power;
};
inline constexpr unsigned kMostDigits = 22;
/// Digits up to which 10^digits is a float.
inline constexpr unsigned kMostShortDigits = 10;

/// Gives 10^digits, of kMostDigits at most, or kMostShortDigits.
GDELTA_HD inline PowerOfTen<double> power_of_ten(std::uint32_t digits) {
  using Power = PowerOfTen<double>;
  static constexpr Power kPowers[kMostDigits + 1] = {
      Power(1e0),  Power(1e1),  Power(1e2),  Power(1e3),  Power(1e4),  Power(1e5),
      Power(1e6),  Power(1e7),  Power(1e8),  Power(1e9),  Power(1e10), Power(1e11),
      Power(1e12), Power(1e13), Power(1e14), Power(1e15), Power(1e16), Power(1e17),
      Power(1e18), Power(1e19), Power(1e20), Power(1e21), Power(1e22)};
  return kPowers[digits];
}
GDELTA_HD inline PowerOfTen<float> short_power_of_ten(std::uint32_t digits) {
  using Power = PowerOfTen<float>;
  static constexpr Power kPowers[kMostShortDigits + 1] = {
      Power(1e0), Power(1e1), Power(1e2), Power(1e3), Power(1e4), Power(1e5),
      Power(1e6), Power(1e7), Power(1e8), Power(1e9), Power(1e10)};
  return kPowers[digits];
}

/// number / power, rounded as a division is, without one. The quotient of a whole number of 53 bits and 10^digits is no middle
/// of two doubles, and 1 / (2^54 5^digits) of itself away from the nearest one, at the least; what is rounded here is wrong by
/// less than a quarter of that. (Of floats: 24 bits, 2^25, and two fifths.)
template <class Float>
GDELTA_HD inline Float quotient_by(Float number, const PowerOfTen<Float>& by) {
  return std::fma(number, by.inverse, number * by.rest);
}

struct DecimalMap {
  GDELTA_HD explicit DecimalMap(const LaneMapping& mapping)
      : digits(static_cast<std::uint32_t>(mapping.step)), by(power_of_ten(digits)) {}

  template <class Word>
  GDELTA_HD Word undo(Word word, int /*value_bits*/) const {
#ifdef __CUDA_ARCH__
    put_float(quotient_by(whole_number(word), by), word);
#else
    put_float(whole_number(word) / by.power, word);  // a core has it in one instruction
#endif
    return word;
  }
  /// About how many steps a value has.
  GDELTA_HD double steps(double value) const { return value * by.power; }

  /// Whether `undo_short` serves: where number and power are floats without rounding, the float nearest to their
  /// quotient is that of the double nearest to it (Figueroa, "When is double rounding innocuous?").
  GDELTA_HD bool has_short_power() const { return digits <= kMostShortDigits; }
  static constexpr std::uint32_t kMostShort = 1 << 24;  // in magnitude
  /// As `undo`, of short words, if the power is short.
  GDELTA_HD std::uint32_t undo_short(std::uint32_t word) const {
    return bits_as<std::uint32_t>(quotient_by(static_cast<float>(static_cast<std::int32_t>(word)),
                                              short_power_of_ten(digits)));
  }

  std::uint32_t digits;
  PowerOfTen<double> by;
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
