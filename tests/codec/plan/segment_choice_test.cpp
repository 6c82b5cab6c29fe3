#include "codec/plan/segment_choice.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace gdelta {
namespace {

/// i32 that rise by less than `step` in segments of 40.
std::vector<unsigned char> rising_words(std::size_t count, unsigned step) {
  std::mt19937 random(3);
  std::vector<std::uint32_t> values;
  for (std::uint32_t value = 0; values.size() < count; value += random() % step) {
    if (values.size() % 40 == 0) value = random() % 100000;
    values.push_back(value);
  }
  std::vector<unsigned char> words(4 * count);
  std::memcpy(words.data(), values.data(), words.size());
  return words;
}

format::SegmentOrders choose(const std::vector<unsigned char>& words, OrderCost cost,
                             std::optional<int> asked = {}) {
  const std::vector<std::uint32_t> lengths(words.size() / 160, 40);
  return choose_segment_orders({.lengths = lengths, .tuple = 1, .value_bytes = 4}, words, asked, 8,
                               cost)
      .orders;
}

TEST(SegmentChoice, AnOrderMoreHasToSaveEnoughOfPackedGroups) {
  // Second differences are smaller on average, but groups are as wide.
  const std::vector<unsigned char> words = rising_words(40000, 30);
  EXPECT_EQ(choose(words, OrderCost::groups).inside[0], 1);
  EXPECT_EQ(choose(words, OrderCost::symbols).inside[0], 2);
  EXPECT_EQ(choose(words, OrderCost::groups, 2).inside[0], 2);
}

TEST(SegmentChoice, AnOrderMoreIsTakenWhereItSaves) {
  std::vector<unsigned char> words(160000);
  for (std::uint32_t i = 0; i < 40000; ++i) {
    const std::uint32_t value = i % 40 * (i % 40) * 50;
    std::memcpy(words.data() + 4 * static_cast<std::size_t>(i), &value, 4);
  }
  for (const OrderCost cost : {OrderCost::groups, OrderCost::symbols})
    EXPECT_GE(choose(words, cost).inside[0], 2);
}

}  // namespace
}  // namespace gdelta
