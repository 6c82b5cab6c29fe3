// Scans of 16-bit floating point on a simulated device, against sums in double precision that are
// rounded by arithmetic, not by bits: at the end of every order, and nowhere else. Values are whole
// numbers whose sums a float holds exactly, so that the order of additions does not matter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "simulator/scan_launch.h"

namespace gdelta::scan {
namespace {

struct Format {
  Type type;
  int digits;  // of the significand, with the one that is not stored
  int bias;
};
constexpr Format kBinary16{Type::f16, 11, 15}, kBFloat16{Type::bf16, 8, 127};

/// The nearest number of a format, ties to even.
double rounded(double value, const Format& format) {
  if (value == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, format.digits)), exponent - format.digits);
}

/// The bits of a normal number of the format, or of zero.
std::uint16_t bits_of(double value, const Format& format) {
  if (value == 0) return 0;
  int exponent = 0;
  const double fraction = 2 * std::frexp(std::fabs(value), &exponent) - 1;
  const auto stored = static_cast<unsigned>(std::ldexp(fraction, format.digits - 1));
  const auto biased = static_cast<unsigned>(exponent - 1 + format.bias);
  return static_cast<std::uint16_t>((value < 0 ? 0x8000u : 0u) | biased << (format.digits - 1) |
                                    stored);
}

/// By columns, one order after the other.
std::vector<double> expected_scan(const Shape& shape, std::vector<double> values,
                                  const Format& format) {
  if (shape.backward) std::reverse(values.begin(), values.end());
  for (int order = 0; order < (is_idempotent(shape.op) ? 1 : shape.order); ++order) {
    std::vector<double> state(std::min<std::size_t>(shape.tuple, values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      double& sum = state[i % shape.tuple];
      if (i < shape.tuple) {
        sum = values[i];
      } else if (shape.op == Operator::sum) {
        sum += values[i];
      } else {
        sum = shape.op == Operator::max ? std::max(sum, values[i]) : std::min(sum, values[i]);
      }
      values[i] = rounded(sum, format);
    }
  }
  if (shape.exclusive) {
    values.insert(values.begin(), std::min<std::size_t>(shape.tuple, values.size()), 0.0);
    values.resize(shape.count);
  }
  if (shape.backward) std::reverse(values.begin(), values.end());
  return values;
}

void expect_scans(const Format& format, Path path, Shape shape, int most) {
  shape.type = format.type;
  ASSERT_TRUE(can_take(shape, path, 0)) << describe(shape) << " path " << int(path);
  std::mt19937_64 random(shape.count);
  std::vector<double> values(shape.count);
  // Multiples of the coarsest step, so that halves of steps of larger sums are frequent.
  for (double& value : values)
    value =
        rounded(static_cast<double>(static_cast<int>(random() % (2u * most + 1)) - most), format);
  std::vector<std::uint16_t> bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(),
                 [&](double value) { return bits_of(value, format); });
  ASSERT_EQ(launch_in_place(shape, path, bits.data()), cudaSuccess) << describe(shape);
  const std::vector<double> expected = expected_scan(shape, values, format);
  for (std::size_t i = 0; i < bits.size(); ++i)
    ASSERT_EQ(bits[i], bits_of(expected[i], format))
        << describe(shape) << " path " << int(path) << " value " << i;
}

Shape sums(int order, std::uint64_t tuple, std::uint64_t count) {
  Shape shape;
  shape.order = order;
  shape.tuple = tuple;
  shape.count = count;
  return shape;
}

class HalvesOf : public ::testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(ScanSimulator, HalvesOf, ::testing::Values(kBinary16, kBFloat16),
                         [](const auto& format) {
                           return format.param.type == Type::f16 ? "binary16" : "bfloat16";
                         });

TEST_P(HalvesOf, AreRoundedAtTheEndOfEveryOrderOnEveryPath) {
  for (const Path path : {Path::single, Path::group, Path::cluster, Path::resident}) {
    for (const int order : {1, 2, 3}) {
      // Long lanes of small numbers, whose sums of the next order stay below 2^24.
      expect_scans(GetParam(), path, sums(order, 7, order == 1 ? 900 : 300), order == 1 ? 30 : 3);
      if (path != Path::single)
        expect_scans(GetParam(), path, sums(order, 40, order == 1 ? 20'000 : 1'600), 3);
    }
  }
}

TEST_P(HalvesOf, AreRoundedBetweenOrdersOfColumns) {
  for (const bool backward : {false, true}) {
    Shape walked = sums(2, 100'003, 450'001);
    walked.backward = backward;
    expect_scans(GetParam(), Path::group, walked, 1500);
    Shape tiled = sums(2, 100, 3'050);
    tiled.exclusive = backward;
    expect_scans(GetParam(), Path::group, tiled, 100);
  }
}

TEST_P(HalvesOf, HaveGreatestAndLeast) {
  for (const Operator op : {Operator::max, Operator::min}) {
    for (const Path path : {Path::group, Path::cluster, Path::resident}) {
      Shape shape = sums(2, 3, 20'003);
      shape.op = op;
      expect_scans(GetParam(), path, shape, 2000);
    }
  }
}

}  // namespace
}  // namespace gdelta::scan
