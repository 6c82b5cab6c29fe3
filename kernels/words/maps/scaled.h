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

struct PowerOfTen {
  double power;    // exact
  double inverse;  // rounded to nearest
};
/// Gives 10^digits, of 22 digits at most.
GDELTA_HD inline PowerOfTen power_of_ten(std::uint64_t digits) {
  static constexpr PowerOfTen kPowers[] = {
      {1e0, 1 / 1e0},   {1e1, 1 / 1e1},   {1e2, 1 / 1e2},   {1e3, 1 / 1e3},   {1e4, 1 / 1e4},
      {1e5, 1 / 1e5},   {1e6, 1 / 1e6},   {1e7, 1 / 1e7},   {1e8, 1 / 1e8},   {1e9, 1 / 1e9},
      {1e10, 1 / 1e10}, {1e11, 1 / 1e11}, {1e12, 1 / 1e12}, {1e13, 1 / 1e13}, {1e14, 1 / 1e14},
      {1e15, 1 / 1e15}, {1e16, 1 / 1e16}, {1e17, 1 / 1e17}, {1e18, 1 / 1e18}, {1e19, 1 / 1e19},
      {1e20, 1 / 1e20}, {1e21, 1 / 1e21}, {1e22, 1 / 1e22}};
  return kPowers[digits];
}

/// number / power, rounded as a division is, without one: two corrections by the remainder, of which the first
/// makes the quotient one of the two neighbours and the second the nearer one, since `inverse` is 1 / power
/// rounded to nearest (Markstein, "Computation of elementary functions on the IBM RISC System/6000
/// processor"). Neither may be subnormal or overflow.
template <class Float>
GDELTA_HD inline Float quotient_by_inverse(Float number, Float power, Float inverse) {
  Float quotient = number * inverse;
  quotient = std::fma(std::fma(-quotient, power, number), inverse, quotient);
  return std::fma(std::fma(-quotient, power, number), inverse, quotient);
}

struct DecimalMap {
  GDELTA_HD explicit DecimalMap(const LaneMapping& mapping)
      : DecimalMap(power_of_ten(mapping.step)) {}
  GDELTA_HD explicit DecimalMap(const PowerOfTen& of) : power(of.power), inverse(of.inverse) {}

  template <class Word>
  GDELTA_HD Word undo(Word word, int /*value_bits*/) const {
#ifdef __CUDA_ARCH__
    put_float(quotient_by_inverse(whole_number(word), power, inverse), word);
#else
    put_float(whole_number(word) / power, word);  // a core has it in one instruction
#endif
    return word;
  }
  /// About how many steps a value has.
  GDELTA_HD double steps(double value) const { return value * power; }

  /// Whether `undo_short` serves: where number and power are floats without rounding, the float nearest to their
  /// quotient is that of the double nearest to it (Figueroa, "When is double rounding innocuous?").
  GDELTA_HD bool has_short_power() const { return power <= 1e10; }
  static constexpr std::uint32_t kMostShort = 1 << 24;  // in magnitude
  /// As `undo`, of short words, if the power is short.
  GDELTA_HD std::uint32_t undo_short(std::uint32_t word) const {
    return bits_as<std::uint32_t>(
        quotient_by_inverse(static_cast<float>(static_cast<std::int32_t>(word)),
                            static_cast<float>(power), static_cast<float>(inverse)));
  }

  double power;
  double inverse;
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
