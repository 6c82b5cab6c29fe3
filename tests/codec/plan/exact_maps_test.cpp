// Which lanes become decimals at the lowest levels: those that are nothing else, where it pays.
#include "codec/plan/exact_maps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "codec/plan/planned_values.h"

namespace gdelta::test {
namespace {

/// Gives the value of a lane of a tuple.
using ValueOf = std::function<double(std::uint64_t tuple, int lane)>;

/// Records of f64 or f32.
Bytes floats(const char* record, std::uint64_t records, const ValueOf& value_of) {
  const Column column = layout_of(record).columns[0];
  Bytes bytes;
  for (std::uint64_t i = 0; i < records; ++i)
    for (int lane = 0; lane < column.tuple; ++lane) {
      const double value = value_of(i, lane);
      put_value(bytes,
                column.type == ValueType::f64
                    ? std::bit_cast<std::uint64_t>(value)
                    : std::bit_cast<std::uint32_t>(static_cast<float>(value)),
                value_bytes(column.type), false);
    }
  return bytes;
}

/// A walk of hundredths.
ValueOf hundredths() {
  return [draws = Draws(3), k = std::int64_t{2000}](std::uint64_t, int) mutable {
    return static_cast<double>(k += draws.around_zero(30)) / 100;
  };
}

/// What a column gets, "decimal/2 none".
std::string maps_of(const Bytes& values, const char* record,
                    const EncodeSettings& settings = at_level(1)) {
  const Layout layout = layout_of(record);
  ColumnMaps maps;
  const auto mapped = map_exactly({.first = reinterpret_cast<const unsigned char*>(values.data()),
                                   .record_bytes = layout.record_bytes(),
                                   .records = values.size() / layout.record_bytes(),
                                   .column = layout.columns[0]},
                                  settings, Workers::alone(), maps);
  EXPECT_EQ(mapped == nullptr, maps.empty());
  if (mapped) EXPECT_EQ(mapped->exceptions(), 0u);
  std::string words;
  for (const LaneMapping& lane : maps.lanes) {
    const auto map = static_cast<ValueMap>(lane.map);
    if (!words.empty()) words += ' ';
    words += map == ValueMap::decimal ? "decimal/" + std::to_string(lane.step)
             : map == ValueMap::none  ? "none"
                                      : "ordered";
  }
  return words;
}

TEST(ExactMaps, FindsTheFewestDigits) {
  for (const char* record : {"f32", "f64"})
    for (const int digits : {0, 1, 3}) {
      ValueOf walk = hundredths();
      const double power = std::pow(10, digits);
      EXPECT_EQ(maps_of(floats(record, 5000,
                               [&](std::uint64_t i, int lane) {
                                 return std::round(walk(i, lane) * 100) / power;
                               }),
                        record),
                "decimal/" + std::to_string(digits));
    }
}

// Of 300 groups the sample has 96: no. 2 is not among them.
TEST(ExactMaps, OneValueThatIsNoneLeavesItsLaneAlone) {
  for (const double odd : {-0.0, std::numeric_limits<double>::infinity(), 1.0 / 3}) {
    ValueOf walk = hundredths();
    const Bytes values = floats("f64x2", 300 * 128, [&](std::uint64_t i, int lane) {
      return i == 2 * 128 + 1 && lane == 1 ? odd : walk(i, lane);
    });
    EXPECT_EQ(maps_of(values, "f64x2").substr(0, 10), "decimal/2 ") << odd;
    EXPECT_EQ(maps_of(values, "f64x2").find("decimal", 1), std::string::npos) << odd;
  }
}

// Floats from 256 to 512 are decimals of five digits, all of them.
TEST(ExactMaps, NumbersThatDifferTooMuchAreLeftAlone) {
  Draws draws(1);
  EXPECT_EQ(maps_of(floats("f32", 5000,
                           [&](std::uint64_t, int) {
                             return 256 + static_cast<double>(draws.below(1 << 23)) / (1 << 15);
                           }),
                    "f32"),
            "");
}

TEST(ExactMaps, WhatSavesNothingIsLeftAlone) {
  Draws draws(1);  // neighbouring floats, of two digits
  EXPECT_EQ(maps_of(floats("f32", 5000,
                           [&](std::uint64_t, int) {
                             return 0x1p21 + static_cast<double>(draws.below(4096)) / 4;
                           }),
                    "f32"),
            "");
}

TEST(ExactMaps, WantsAWholeGroupAndToBeAskedFor) {
  EXPECT_EQ(maps_of(floats("f64", 128, hundredths()), "f64"), "decimal/2");
  EXPECT_EQ(maps_of(floats("f64", 127, hundredths()), "f64"), "");
  EncodeSettings settings = at_level(1);
  settings.coder = Coder::zstd;
  EXPECT_EQ(maps_of(floats("f64", 1280, hundredths()), "f64", settings), "decimal/2");
  settings.coder = Coder::raw;
  EXPECT_EQ(maps_of(floats("f64", 1280, hundredths()), "f64", settings), "");
}

TEST(ExactMaps, LevelsHaveThemUnlessMapsAreOff) {
  const Bytes values = floats("f64", 5000, hundredths());
  for (const int level : {1, 2, 3}) {
    EncodeSettings settings = at_level(level);
    EXPECT_FALSE(plan_chunk(values, layout_of("f64"), false, settings).maps.at(0).empty()) << level;
    settings.maps = false;
    EXPECT_TRUE(plan_chunk(values, layout_of("f64"), false, settings).maps.at(0).empty()) << level;
  }
}

TEST(ExactMaps, ThePlanKeepsTheColumnForTheEncoder) {
  const Layout layout = layout_of("f64x2");
  const Bytes values = floats("f64x2", 5000, hundredths());
  ChunkPlan plan = plan_chunk(values, layout, false, at_level(1));
  ASSERT_TRUE(plan.mapped.at(0) && plan.mapped[0]->has_column());
  const Bytes block = encode_chunk(values, layout, false, plan);
  EXPECT_LT(block.size() * 4, values.size());
  plan.mapped.clear();
  EXPECT_TRUE(encode_chunk(values, layout, false, plan) == block);
}

}  // namespace
}  // namespace gdelta::test
