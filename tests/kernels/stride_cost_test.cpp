// The measure of likeness by which strides are found.
#include "kernels/deltas/stride_cost.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

namespace gdelta {
namespace {

std::uint32_t magnitude(std::uint32_t difference) {
  return difference >> 31 != 0 ? 0u - difference : difference;
}

// Costs that begin at 1000 and 2000, and what lies behind them.
struct Costs {
  explicit Costs(std::size_t count)
      : values(count + kBehind, 1000), differences(count + kBehind, 2000) {}
  void add(const std::vector<std::uint32_t>& words, std::size_t count, std::size_t spacing) {
    add_stride_costs(words.data(), count, spacing, values.data(), differences.data());
  }

  static constexpr std::size_t kBehind = 8;
  std::vector<std::uint32_t> values, differences;
};

TEST(StrideCost, CountsTheBitsOfEveryDifference) {
  // Around every power of two, both signs; up to 2^24 a float tells each from the next.
  std::vector<std::uint32_t> differences = {0};
  for (int bit = 0; bit < 32; ++bit)
    for (const std::uint32_t off : {~0u, 0u, 1u}) {
      differences.push_back((1u << bit) + off);
      differences.push_back(0u - differences.back());
    }
  const std::uint32_t value = 0x9e3779b9;
  std::vector<std::uint32_t> words;
  for (const std::uint32_t difference : differences) words.push_back(value - difference);
  words.push_back(value);
  Costs costs(differences.size());
  costs.add(words, differences.size(), 0);  // all samples are the same one
  for (std::size_t k = 0; k < differences.size(); ++k) {
    const std::uint32_t size = magnitude(differences[k]);
    const auto bits = static_cast<std::uint32_t>(std::bit_width(size));
    const bool may_round_up = size > (1u << 24) && std::has_single_bit(size + 1);
    if (may_round_up && costs.values[k] == 1000 + kStrideSamples * (bits + 1)) continue;
    EXPECT_EQ(costs.values[k], 1000 + kStrideSamples * bits)
        << "difference " << static_cast<std::int32_t>(differences[k]);
  }
}

TEST(StrideCost, AddsForAsManyAsThereAreOfEachSample) {
  for (const std::size_t spacing : {0, 1, 5, 61})
    for (std::size_t count = 0; count < 40; ++count) {
      std::vector<std::uint32_t> words((kStrideSamples - 1) * spacing + count + 1);
      for (std::size_t i = 0; i < words.size(); ++i)
        words[i] = static_cast<std::uint32_t>(i * i * 2654435761u >> 20);
      Costs costs(count);
      costs.add(words, count, spacing);
      for (std::size_t k = 0; k < count + Costs::kBehind; ++k) {
        std::uint32_t value = 1000, difference = 2000;
        for (std::size_t j = 0; k < count && j < kStrideSamples; ++j) {
          const std::uint32_t* const before = words.data() + j * spacing;
          value += static_cast<std::uint32_t>(std::bit_width(magnitude(before[count] - before[k])));
          if (k > 0)
            difference += static_cast<std::uint32_t>(std::bit_width(
                magnitude(before[count] - before[count - 1] - (before[k] - before[k - 1]))));
        }
        EXPECT_EQ(costs.values[k], value) << spacing << ' ' << count << ' ' << k;
        EXPECT_EQ(costs.differences[k], difference) << spacing << ' ' << count << ' ' << k;
      }
    }
}

}  // namespace
}  // namespace gdelta
