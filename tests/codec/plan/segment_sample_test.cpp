// What a sample of a column tells of its segments is about what all of it tells.
#include "codec/plan/segment_sample.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "codec/coders/linear_front.h"
#include "codec/coders/workers.h"
#include "codec/plan/lane_orders.h"
#include "codec/plan/segment_choice.h"

namespace gdelta {
namespace {

constexpr int kHighest = 2;

/// Tuples of i32 that rise inside segments of up to `longest`.
struct RisingColumn {
  RisingColumn(std::size_t count, std::uint32_t longest, int tuple) {
    std::mt19937 random(4);
    for (std::size_t left = count; left > 0; left -= lengths.back())
      lengths.push_back(static_cast<std::uint32_t>(
          std::min<std::size_t>(left, longest == 1 ? 1 : random() % longest)));
    for (const std::uint32_t length : lengths) {
      std::vector<std::uint32_t> lanes(static_cast<std::size_t>(tuple));
      for (std::uint32_t& lane : lanes) lane = random() % 1000000;
      for (std::uint32_t i = 0; i < length; ++i)
        for (std::uint32_t& lane : lanes) values.push_back(lane += random() % 50);
    }
    column = {.first = reinterpret_cast<const unsigned char*>(values.data()),
              .record_bytes = static_cast<std::uint64_t>(4 * tuple),
              .records = count,
              .column = {.type = ValueType::i32, .tuple = static_cast<std::uint8_t>(tuple)}};
    std::fill_n(front.orders, tuple, std::uint8_t{1});
  }

  std::vector<std::uint32_t> lengths, values;
  ColumnBytes column;
  format::Front front;
};

void expect_close(std::uint64_t sampled, std::uint64_t whole, const char* what) {
  EXPECT_NEAR(static_cast<double>(sampled) / static_cast<double>(whole), 1, .03) << what;
}

TEST(SegmentSample, TellsWhatAllOfTheColumnTells) {
  for (const int tuple : {1, 3})
    for (const std::uint32_t longest : {4u, 60u, 3000u, 100000u}) {
      SCOPED_TRACE(longest);
      const RisingColumn of(100000, longest, tuple);
      const auto bits =
          sample_segment_bits(of.column, of.front, ValueMap::none, of.lengths, kHighest);
      ASSERT_TRUE(bits);
      const SegmentDelta shape{.lengths = of.lengths, .tuple = tuple, .value_bytes = 4};
      const std::vector<unsigned char> words =
          mapped_words(of.column, ValueMap::none, Workers::alone());
      expect_close(
          bits->inside,
          choose_segment_orders(shape, words, std::nullopt, kHighest, OrderCost::groups).bits,
          "inside");
      expect_close(bits->without,
                   packed_bits({of.column, of.front}, of.front.orders, 0, of.column.records,
                               Workers::alone()),
                   "without");
    }
}

TEST(SegmentSample, OfHeadsAloneCountsThem) {
  const RisingColumn of(40000, 1, 1);
  const auto bits = sample_segment_bits(of.column, of.front, ValueMap::none, of.lengths, kHighest);
  ASSERT_TRUE(bits);
  // Numbers below a million at random.
  EXPECT_GT(bits->inside, 40000u * 18);
  EXPECT_LT(bits->inside, 40000u * 24);
}

TEST(SegmentSample, IsNotTakenOfShortColumns) {
  const RisingColumn of(32767, 60, 1);
  EXPECT_FALSE(sample_segment_bits(of.column, of.front, ValueMap::none, of.lengths, kHighest));
}

}  // namespace
}  // namespace gdelta
