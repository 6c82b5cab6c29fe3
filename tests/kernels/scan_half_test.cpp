// Scans of f16 and bf16 on the CPU, and how they are rounded.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/scan/algebra/half_float.h"
#include "kernels/scan/scan_cpu.h"
#include "tests/kernels/scan_half_reference.h"
#include "tests/kernels/scan_on_cpu.h"
#include "tests/kernels/scan_reference.h"

namespace gdelta::scan {
namespace {

using Halves = std::vector<std::uint16_t>;

Halves scanned(const Shape& shape, const Halves& in) {
  Halves out(in.size(), 0xeeee);
  scan_on_cpu(shape, in.data(), out.data());
  return out;
}

TEST(ScanHalf, SumsRoundOnceAValueAndTiesGoToEven) {
  Shape shape{.type = Type::f16, .order = 1, .tuple = 1, .count = 4};
  // 2048, 2049, 2050, 2051, where halves are 2 apart
  EXPECT_EQ(scanned(shape, {0x6800, 0x3c00, 0x3c00, 0x3c00}),
            (Halves{0x6800, 0x6800, 0x6801, 0x6802}));
  shape.type = Type::bf16;
  // 256, 257, 258, 259, where they are 2 apart, too
  EXPECT_EQ(scanned(shape, {0x4380, 0x3f80, 0x3f80, 0x3f80}),
            (Halves{0x4380, 0x4380, 0x4381, 0x4382}));
}

TEST(ScanHalf, AnOrderStartsFromTheRoundedValuesOfTheOneBefore) {
  // Sums 2048, 2049, 2050 are written as 2048, 2048, 2050; again: 2048, 4096, 6146, a tie.
  const Shape shape{.type = Type::f16, .order = 2, .tuple = 1, .count = 3};
  EXPECT_EQ(scanned(shape, {0x6800, 0x3c00, 0x3c00}), (Halves{0x6800, 0x6c00, 0x6e00}));
}

TEST(ScanHalf, InfinityAndNanGoOn) {
  Shape shape{.type = Type::f16, .order = 1, .tuple = 1, .count = 4};
  // 65504 twice is beyond a half, yet not beyond the sum.
  EXPECT_EQ(scanned(shape, {0x7bff, 0x7bff, 0xfbff, 0x7e01}),
            (Halves{0x7bff, 0x7c00, 0x7bff, 0x7fff}));
  EXPECT_EQ(scanned(shape, {0x7c00, 0x3c00, 0xfc00, 0x3c00}),
            (Halves{0x7c00, 0x7c00, 0x7fff, 0x7fff}));
  shape.type = Type::bf16;
  EXPECT_EQ(scanned(shape, {0x7f80, 0x3f80, 0xff80, 0x3f80}),
            (Halves{0x7f80, 0x7f80, 0x7fff, 0x7fff}));
}

TEST(ScanHalf, EveryOperatorIsThatOfTheReference) {
  for (const std::uint64_t count : {0, 1, 2, 71, 3'000, 600'011}) {  // the last over many blocks
    for (const Shape& shape : half_shapes(count)) {
      const Halves in = half_values(shape, count);
      Halves expected = in;
      reference_half_scan(shape, expected);
      ASSERT_TRUE(scanned(shape, in) == expected) << describe(shape);
      Halves in_place = in;
      scan_on_cpu(shape, in_place.data(), in_place.data());
      ASSERT_TRUE(in_place == expected) << describe(shape) << " in place";
    }
  }
}

/// Every value of the format, every midpoint of two neighbours, and the floats beside them.
template <class Half>
void expect_nearest(Type type) {
  const HalfFormat format = half_format(type);
  const auto expect_rounded = [&](float value) {
    ASSERT_EQ(Half::from_float(value), nearest_half(format, value)) << std::hexfloat << value;
  };
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const auto value = static_cast<float>(exact_value(format, half));
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(Half::to_float(half))) << bits;
      ASSERT_EQ(Half::from_float(Half::to_float(half)), 0x7fff) << bits;
      continue;
    }
    ASSERT_EQ(Half::to_float(half), value) << bits;
    ASSERT_EQ(Half::from_float(value), half) << bits;
    const double next = exact_value(format, static_cast<std::uint16_t>(bits + 1));
    if (!std::isfinite(value) || !std::isfinite(next)) continue;
    const double midpoint = (static_cast<double>(value) + next) / 2;
    const auto middle = static_cast<float>(midpoint);
    if (middle != midpoint) continue;  // half of a float's smallest step
    expect_rounded(middle);
    for (const float side :
         {-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()})
      expect_rounded(std::nextafter(middle, side));
  }
  // Halfway from the largest to the next power of two: from there on it is infinity.
  const double largest = exact_value(format, static_cast<std::uint16_t>(format.infinity() - 1));
  const double step =
      largest - exact_value(format, static_cast<std::uint16_t>(format.infinity() - 2));
  const auto limit = static_cast<float>(largest + step / 2);
  ASSERT_EQ(Half::from_float(limit), format.infinity());
  ASSERT_EQ(Half::from_float(std::nextafter(limit, 0.0f)), format.infinity() - 1);
  ASSERT_EQ(Half::from_float(-limit), format.infinity() | 0x8000);
}

TEST(HalfFloat, IsRoundedToTheNearestAndTiesToEven) { expect_nearest<Binary16>(Type::f16); }
TEST(HalfFloat, OfTheBrainIsRoundedToTheNearestAndTiesToEven) {
  expect_nearest<BFloat16>(Type::bf16);
}

TEST(HalfFloat, NanOfAFloatStaysNan) {
  for (const std::uint32_t bits : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffffffffu})
    for (const std::uint16_t half : {Binary16::from_float(std::bit_cast<float>(bits)),
                                     BFloat16::from_float(std::bit_cast<float>(bits))})
      EXPECT_EQ(half, 0x7fff) << bits;
}

}  // namespace
}  // namespace gdelta::scan
