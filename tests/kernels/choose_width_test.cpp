// The width that encoders choose for a group, against a search through all of them: what every encoder
// must write to write the same bytes.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "kernels/bitpack/group_layout.h"

namespace gdelta {
namespace {

using Counts = std::array<std::uint8_t, 65>;  // residuals that need so many bits

int longest_of(const Counts& counts) {
  int longest = 64;
  while (longest > 0 && counts[static_cast<std::size_t>(longest)] == 0) --longest;
  return longest;
}

int exceptions_at(const Counts& counts, int width) {
  int exceptions = 0;
  for (std::size_t bits = static_cast<std::size_t>(width) + 1; bits < counts.size(); ++bits)
    exceptions += counts[bits];
  return exceptions;
}

/// Bytes for the bits above `width` of the longest residual: 1, 2, 4 or 8.
int high_bytes_at(const Counts& counts, int width) {
  int bytes = 1;
  while (8 * bytes < longest_of(counts) - width) bytes *= 2;
  return bytes;
}

/// The lowest of the widths that cost the least, where an exception costs `charge` bits more than it has.
int best_width(const Counts& counts, int charge) {
  int best = longest_of(counts);
  int least = 128 * best;
  for (int width = best - 1; width >= 0; --width) {
    const int exceptions = exceptions_at(counts, width);
    if (exceptions > 127) break;
    const int cost = 128 * width + exceptions * (8 * (1 + high_bytes_at(counts, width)) + charge);
    if (cost > least) continue;
    least = cost;
    best = width;
  }
  return best;
}

void expect_the_best(const Counts& counts, int value_bits, int charge) {
  const GroupChoice chosen = choose_width(counts.data(), value_bits, charge);
  const int width = best_width(counts, charge);
  const int exceptions = exceptions_at(counts, width);
  EXPECT_EQ(chosen.descriptor.width(), width);
  EXPECT_EQ(chosen.descriptor.exceptions(), exceptions);
  if (exceptions > 0) {
    EXPECT_EQ(chosen.descriptor.high_bytes(), high_bytes_at(counts, width));
  }
  EXPECT_TRUE(chosen.descriptor.valid(value_bits));
  const int exception_bytes = exceptions > 0 ? exceptions * (1 + high_bytes_at(counts, width)) : 0;
  EXPECT_EQ(chosen.bits, static_cast<std::uint32_t>(16 + 128 * width + 8 * exception_bytes));
}

TEST(ChooseWidth, IsTheCheapestAndOfEqualOnesTheLowest) {
  std::mt19937 random(3);
  for (const int value_bits : {8, 16, 24, 32, 64})
    for (int round = 0; round < 2000; ++round) {
      Counts counts{};
      const unsigned spread = 1 + random() % static_cast<unsigned>(value_bits);
      const unsigned outliers = random() % 20;
      for (unsigned i = 0; i < 128; ++i) {
        const unsigned most = i < outliers ? static_cast<unsigned>(value_bits) : spread;
        ++counts[random() % (most + 1)];
      }
      for (const int charge : {0, kExceptionCharge}) expect_the_best(counts, value_bits, charge);
    }
}

TEST(ChooseWidth, OfTwoThatCostTheSameIsTheLower) {
  Counts
      counts{};  // sixteen exceptions that cost three bytes each take as much as three bits of all
  counts[4] = 112;
  counts[7] = 16;
  expect_the_best(counts, 16, 8);
  EXPECT_EQ(choose_width(counts.data(), 16, 8).descriptor.width(), 4);
  EXPECT_EQ(choose_width(counts.data(), 16, 8).descriptor.exceptions(), 16);
  ++counts[7];
  --counts[4];
  EXPECT_EQ(choose_width(counts.data(), 16, 8).descriptor.width(), 7);
}

TEST(ChooseWidth, AnExceptionCostsMoreThanItsBits) {
  Counts counts{};
  counts[4] = 122;
  counts[5] = 6;  // 96 bits for 128, but 144 as they are charged
  EXPECT_EQ(choose_width(counts.data(), 16).descriptor.width(), 5);
  EXPECT_EQ(choose_width(counts.data(), 16, 0).descriptor.width(), 4);
  EXPECT_EQ(fewest_group_bits(counts.data(), 16), 16u + 4 * 128 + 6 * 16);
  ++counts[4];
  --counts[5];  // 120
  EXPECT_EQ(choose_width(counts.data(), 16).descriptor.width(), 4);
}

TEST(ChooseWidth, AGroupOfZerosTakesNothing) {
  Counts counts{};
  counts[0] = 128;
  for (const int value_bits : {8, 64})
    EXPECT_EQ(choose_width(counts.data(), value_bits).descriptor.bits, 0u);
}

}  // namespace
}  // namespace gdelta
