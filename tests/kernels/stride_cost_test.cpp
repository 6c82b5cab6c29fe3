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

TEST(StrideCost, CountsTheBitsOfEveryDifference) {
  // Around every power of two, both signs; up to 2^24 a float tells each from the next.
  std::vector<std::uint32_t> differences = {0};
  for (int bit = 0; bit < 32; ++bit)
    for (const std::uint32_t off : {~0u, 0u, 1u}) {
      differences.push_back((1u << bit) + off);
      differences.push_back(0u - differences.back());
    }
  const std::uint32_t value = 0x9e3779b9;
  std::vector<std::uint32_t> before, costs(differences.size(), 1000);
  for (const std::uint32_t difference : differences) before.push_back(value - difference);
  add_stride_costs(value, before.data(), before.size(), costs.data());
  for (std::size_t k = 0; k < differences.size(); ++k) {
    const std::uint32_t size = magnitude(differences[k]);
    const auto bits = static_cast<std::uint32_t>(std::bit_width(size));
    const bool may_round_up = size > (1u << 24) && std::has_single_bit(size + 1);
    if (may_round_up && costs[k] == 1000 + bits + 1) continue;
    EXPECT_EQ(costs[k], 1000 + bits) << "difference " << static_cast<std::int32_t>(differences[k]);
  }
}

TEST(StrideCost, AddsForAsManyAsThereAre) {
  for (std::size_t count = 0; count < 40; ++count) {
    std::vector<std::uint32_t> before(count), costs(count + 8, 5);
    for (std::size_t k = 0; k < count; ++k) before[k] = static_cast<std::uint32_t>(100 - k);
    add_stride_costs(100, before.data(), count, costs.data());
    for (std::size_t k = 0; k < costs.size(); ++k)
      EXPECT_EQ(costs[k], 5u + (k < count ? std::bit_width(k) : 0u)) << count << ' ' << k;
  }
}

}  // namespace
}  // namespace gdelta
