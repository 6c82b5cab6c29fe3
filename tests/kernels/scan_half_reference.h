// Scans of sixteen-bit floating point as the interface describes them: exact sums and products,
// rounded once for each value and order. Shares nothing with the library's conversions: a format is
// its two field widths, and arithmetic is that of double. CPU and GPU combine in trees of their own;
// with inputs whose sums a float holds exactly, every tree gives these bits.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "kernels/scan/scan_types.h"

namespace gdelta::scan {

struct HalfFormat {
  int exponent_bits;
  int fraction_bits;
  int least_exponent() const { return 2 - (1 << (exponent_bits - 1)); }
  int infinity() const { return ((1 << exponent_bits) - 1) << fraction_bits; }
};

inline HalfFormat half_format(Type type) {
  return type == Type::f16 ? HalfFormat{5, 10} : HalfFormat{8, 7};
}

inline double exact_value(HalfFormat format, std::uint16_t bits) {
  const int magnitude = bits & 0x7fff;
  const int exponent = magnitude >> format.fraction_bits;
  const int fraction = magnitude - (exponent << format.fraction_bits);
  const int one = 1 << format.fraction_bits;
  double value =
      std::ldexp(exponent == 0 ? fraction : one + fraction,
                 std::max(exponent, 1) - 1 + format.least_exponent() - format.fraction_bits);
  if (magnitude == format.infinity()) value = std::numeric_limits<double>::infinity();
  if (magnitude > format.infinity()) value = std::numeric_limits<double>::quiet_NaN();
  return bits >> 15 != 0 ? -value : value;
}

/// The nearest, of two as near the even one; NaN as devices write it.
inline std::uint16_t nearest_half(HalfFormat format, double value) {
  if (std::isnan(value)) return 0x7fff;
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  int bits = format.infinity();
  if (magnitude < std::ldexp(1.0, 3 - format.least_exponent())) {
    const int exponent = magnitude == 0 ? format.least_exponent()
                                        : std::max(std::ilogb(magnitude), format.least_exponent());
    // The leading one of a normal number, counted in, makes its exponent field 1.
    const double steps = std::nearbyint(std::ldexp(magnitude, format.fraction_bits - exponent));
    bits = ((exponent - format.least_exponent()) << format.fraction_bits) + static_cast<int>(steps);
  }
  return static_cast<std::uint16_t>(sign | std::min(bits, format.infinity()));
}

/// -NaN < -infinity < … < -0 < +0 < … < infinity < NaN.
inline int bit_order(std::uint16_t bits) {
  const int magnitude = bits & 0x7fff;
  return bits >> 15 != 0 ? -1 - magnitude : magnitude;
}

/// For sums multiples of 1/64 up to a half; for products signs and a dozen factors of 1.5; for
/// maximum and minimum any pattern but that which stands for the identity of an exclusive scan.
inline std::vector<std::uint16_t> half_values(const Shape& shape, std::uint64_t seed) {
  const HalfFormat format = half_format(shape.type);
  std::mt19937_64 random(seed);
  std::vector<std::uint16_t> values(shape.count);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (shape.op == Operator::sum) {
      values[i] = nearest_half(format, (static_cast<int>(random() % 64) - 32) / 64.0);
    } else if (shape.op == Operator::product) {
      const bool grows = shape.order == 1 && i % (shape.count / 12 + 1) == 0;
      values[i] = nearest_half(format, (random() % 2 == 0 ? 1 : -1) * (grows ? 1.5 : 1.0));
    } else {
      // Rarely one of the largest, so that they change on the way.
      do {
        values[i] = static_cast<std::uint16_t>(random() >> (random() % 16));
      } while ((values[i] & 0x7fff) == 0x7fff);
    }
  }
  return values;
}

/// One inclusive scan of order 1, in scan order.
inline void scan_half_once(const Shape& shape, std::vector<std::uint16_t>& values) {
  const HalfFormat format = half_format(shape.type);
  const std::size_t lanes = std::min<std::uint64_t>(shape.tuple, values.size());
  std::vector<double> state(lanes, shape.op == Operator::product ? 1 : 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (shape.op == Operator::max || shape.op == Operator::min) {
      if (i < lanes) continue;
      const int before = bit_order(values[i - lanes]);
      const int here = bit_order(values[i]);
      if (shape.op == Operator::max ? before > here : before < here) values[i] = values[i - lanes];
      continue;
    }
    double& so_far = state[i % lanes];
    const double value = exact_value(format, values[i]);
    so_far = shape.op == Operator::sum ? so_far + value : so_far * value;
    ASSERT_EQ(static_cast<double>(static_cast<float>(so_far)), so_far) << "inputs round too early";
    values[i] = nearest_half(format, so_far);
  }
}

/// In place.
inline void reference_half_scan(const Shape& shape, std::vector<std::uint16_t>& values) {
  const HalfFormat format = half_format(shape.type);
  const std::size_t lanes = std::min<std::uint64_t>(shape.tuple, values.size());
  if (shape.backward) std::reverse(values.begin(), values.end());
  for (int order = 1; order <= shape.order; ++order) scan_half_once(shape, values);
  if (shape.exclusive) {
    const double infinity = std::numeric_limits<double>::infinity();
    const double identity = shape.op == Operator::sum       ? 0.0
                            : shape.op == Operator::product ? 1.0
                            : shape.op == Operator::max     ? -infinity
                                                            : infinity;
    values.insert(values.begin(), lanes, nearest_half(format, identity));
    values.resize(values.size() - lanes);
  }
  if (shape.backward) std::reverse(values.begin(), values.end());
}

/// Shapes whose inputs of half_values() stay exact: of `count` values, fewer for order 2.
inline std::vector<Shape> half_shapes(std::uint64_t count) {
  std::vector<Shape> shapes;
  for (const Type type : {Type::f16, Type::bf16})
    for (const Operator op : {Operator::sum, Operator::product, Operator::max, Operator::min})
      for (const int order : {1, 2})
        for (const std::uint64_t tuple : {1, 3, 70})
          for (const bool flag : {false, true})
            shapes.push_back({.op = op,
                              .type = type,
                              .order = order,
                              .tuple = tuple,
                              .exclusive = flag,
                              .backward = flag != (tuple == 3),
                              .count = order == 1 ? count : std::min<std::uint64_t>(count, 3'000)});
  return shapes;
}

}  // namespace gdelta::scan
