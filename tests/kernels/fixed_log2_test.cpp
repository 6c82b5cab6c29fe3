// Logarithms by integers, against those of the math library.
#include "kernels/ans/fixed_log2.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace gdelta {
namespace {

void expect_close(std::uint64_t x) {
  const long double exact = 256 * std::log2(static_cast<long double>(x));
  const auto fixed = static_cast<long double>(fixed_log2(x));
  EXPECT_LE(fixed, exact) << x;
  EXPECT_LE(std::floor(exact) - fixed, 2) << x;
}

TEST(FixedLog2, IsNoMoreThanTwoTooLow) {
  for (std::uint64_t x = 1; x < 70000; ++x) expect_close(x);
  std::mt19937_64 random(1);
  for (int round = 0; round < 20000; ++round) expect_close(random() >> random() % 64 | 1);
  for (int bit = 8; bit < 64; ++bit)
    for (std::uint64_t m = 0; m < 256; ++m) {
      const std::uint64_t first = (256 + m) << (bit - 8);
      expect_close(first);
      expect_close(first + (std::uint64_t{1} << (bit - 8)) - 1);
    }
}

TEST(FixedLog2, IsExactForPowersOfTwo) {
  for (int bit = 0; bit < 64; ++bit)
    EXPECT_EQ(fixed_log2(std::uint64_t{1} << bit), 256u * static_cast<unsigned>(bit));
}

TEST(FixedLog2, NeverFalls) {
  for (std::uint64_t x = 1; x < 70000; ++x) EXPECT_LE(fixed_log2(x), fixed_log2(x + 1)) << x;
  EXPECT_EQ(fixed_log2(~std::uint64_t{0}), 64 * 256u - 1);
}

}  // namespace
}  // namespace gdelta
