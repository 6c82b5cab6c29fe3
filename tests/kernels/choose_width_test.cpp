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

/// The lowest of the widths that take the fewest bits.
int best_width(const Counts& counts) {
  int best = longest_of(counts);
  int fewest = 128 * best;
  for (int width = best - 1; width >= 0; --width) {
    const int exceptions = exceptions_at(counts, width);
    if (exceptions > 127) break;
    const int bits = 128 * width + 8 * exceptions * (1 + high_bytes_at(counts, width));
    if (bits > fewest) continue;
    fewest = bits;
    best = width;
  }
  return best;
}

void expect_the_best(const Counts& counts, int value_bits) {
  const GroupDescriptor chosen = choose_width(counts.data(), value_bits).descriptor;
  const int width = best_width(counts);
  EXPECT_EQ(chosen.width(), width);
  EXPECT_EQ(chosen.exceptions(), exceptions_at(counts, width));
  if (chosen.exceptions() > 0) {
    EXPECT_EQ(chosen.high_bytes(), high_bytes_at(counts, width));
  }
  EXPECT_TRUE(chosen.valid(value_bits));
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
      expect_the_best(counts, value_bits);
    }
}

TEST(ChooseWidth, OfTwoThatCostTheSameIsTheLower) {
  Counts counts{};  // eight exceptions of two bytes take as much as a bit of all
  counts[4] = 120;
  counts[5] = 8;
  expect_the_best(counts, 16);
  EXPECT_EQ(choose_width(counts.data(), 16).descriptor.width(), 4);
  EXPECT_EQ(choose_width(counts.data(), 16).descriptor.exceptions(), 8);
  ++counts[5];
  --counts[4];
  EXPECT_EQ(choose_width(counts.data(), 16).descriptor.width(), 5);
}

TEST(ChooseWidth, AGroupOfZerosTakesNothing) {
  Counts counts{};
  counts[0] = 128;
  for (const int value_bits : {8, 64})
    EXPECT_EQ(choose_width(counts.data(), value_bits).descriptor.bits, 0u);
}

}  // namespace
}  // namespace gdelta
