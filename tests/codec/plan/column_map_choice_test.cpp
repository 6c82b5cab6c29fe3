// Which maps are found in values that were made by them, and that none is found where there is none.
#include "codec/plan/column_map_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "codec/plan/levels.h"
#include "codec/plan/planned_values.h"

namespace gdelta::test {
namespace {

constexpr std::uint64_t kMappedRecords = 5000;

ColumnMaps maps_of(const Bytes& values, const char* record, const EncodeSettings& settings) {
  const Layout layout = layout_of(record);
  return choose_column_maps({.first = reinterpret_cast<const unsigned char*>(values.data()),
                             .record_bytes = layout.record_bytes(),
                             .records = values.size() / layout.record_bytes(),
                             .column = layout.columns[0]},
                            settings);
}

ColumnMaps maps_of(const Bytes& values, const char* record) {
  return maps_of(values, record, at_level(5));
}

ValueMap map_of(const ColumnMaps& maps, std::size_t lane = 0) {
  return maps.lanes.size() <= lane ? ValueMap::none : static_cast<ValueMap>(maps.lanes[lane].map);
}

template <class Float>
void put_number(Bytes& bytes, Float number) {
  if constexpr (sizeof(Float) == 8) {
    put_value(bytes, std::bit_cast<std::uint64_t>(number), 8, false);
  } else {
    put_value(bytes, std::bit_cast<std::uint32_t>(number), 4, false);
  }
}

/// A walk in whole numbers, each handed to `put`.
template <class Put>
Bytes walk(Put put, std::int64_t start = 1000, std::int64_t step = 30) {
  Draws draws(5);
  Bytes bytes;
  std::int64_t k = start;
  for (std::uint64_t i = 0; i < kMappedRecords; ++i) {
    k += draws.around_zero(step);
    put(bytes, k);
  }
  return bytes;
}

TEST(ColumnMapChoice, FindsTheDigitsOfDecimals) {
  for (const int digits : {1, 2, 3}) {
    const double power = std::pow(10, digits);
    const Bytes f32 = walk([&](Bytes& bytes, std::int64_t k) {
      put_number(bytes, static_cast<float>(static_cast<double>(k) / power));
    });
    const Bytes f64 = walk(
        [&](Bytes& bytes, std::int64_t k) { put_number(bytes, static_cast<double>(k) / power); });
    for (const auto& maps : {maps_of(f32, "f32"), maps_of(f64, "f64")}) {
      EXPECT_EQ(map_of(maps), ValueMap::decimal) << digits;
      ASSERT_FALSE(maps.lanes.empty());
      EXPECT_EQ(maps.lanes[0].step, static_cast<std::uint64_t>(digits));
    }
  }
}

TEST(ColumnMapChoice, WholeNumbersHaveNoDigits) {
  const Bytes values = walk(
      [](Bytes& bytes, std::int64_t k) { put_number(bytes, static_cast<double>(k)); }, 100'000);
  const ColumnMaps maps = maps_of(values, "f64");
  ASSERT_EQ(map_of(maps), ValueMap::decimal);
  EXPECT_EQ(maps.lanes[0].step, 0u);
}

TEST(ColumnMapChoice, FindsStepsOfFloats) {
  for (const float step : {0.0012207f, 1.0f / 3, 0.7f, 1234.5f}) {
    const Bytes values = walk(
        [&](Bytes& bytes, std::int64_t k) { put_number(bytes, static_cast<float>(k) * step); });
    const ColumnMaps maps = maps_of(values, "f32");
    ASSERT_FALSE(maps.empty()) << step;
    EXPECT_TRUE(map_of(maps) == ValueMap::scaled || map_of(maps) == ValueMap::decimal) << step;
    const MappedColumn mapped({.first = reinterpret_cast<const unsigned char*>(values.data()),
                               .record_bytes = 4,
                               .records = kMappedRecords,
                               .column = layout_of("f32").columns[0]},
                              maps, Workers::alone());
    EXPECT_LE(mapped.exceptions(), kMappedRecords / 64) << step;
  }
  const Bytes thirds = walk(
      [](Bytes& bytes, std::int64_t k) { put_number(bytes, static_cast<double>(k) * (1.0 / 3)); });
  EXPECT_EQ(map_of(maps_of(thirds, "f64")), ValueMap::scaled);
}

/// An axis on which gravity lies: the least distance of two values does not tell the step well enough for thousands of them.
TEST(ColumnMapChoice, FindsStepsOfFloatsThatAreFarFromZero) {
  constexpr double kStep = 9.80665 * 4 / 32768;
  for (const std::int64_t start : {8000, 20'000, 100'000}) {
    for (const double sign : {1.0, -1.0}) {
      const Bytes values = walk(
          [&](Bytes& bytes, std::int64_t k) {
            put_number(bytes, static_cast<float>(sign * static_cast<double>(k) * kStep));
          },
          start);
      const ColumnMaps maps = maps_of(values, "f32");
      ASSERT_EQ(map_of(maps), ValueMap::scaled) << start;
      EXPECT_NEAR(std::bit_cast<double>(maps.lanes[0].step), kStep, kStep * 1e-6) << start;
    }
  }
}

TEST(ColumnMapChoice, FewExceptionsDoNotMatter) {
  const Bytes values = walk([n = 0](Bytes& bytes, std::int64_t k) mutable {
    const bool odd = ++n % 200 == 0;
    put_number(bytes, odd ? std::numeric_limits<float>::quiet_NaN()
                          : static_cast<float>(static_cast<double>(k) / 100));
  });
  EXPECT_EQ(map_of(maps_of(values, "f32")), ValueMap::decimal);
}

TEST(ColumnMapChoice, FindsTheDigitsOfRareBurstsInALongColumn) {
  constexpr std::uint64_t kLongRecords = 1 << 19, kDistance = 16908;
  const auto of_bursts = [](std::uint64_t records) {
    Draws draws(5);
    Bytes bytes;
    std::int64_t k = 2500;
    for (std::uint64_t i = 0; i < records; ++i) {
      const std::uint64_t at = i % kDistance;  // near its ends a sample of 32 stretches looks
      if (at >= 6500 && at < 10500) k += draws.around_zero(30);
      put_number(bytes, static_cast<double>(k) / 100);
    }
    return bytes;
  };
  const ColumnMaps maps = maps_of(of_bursts(kLongRecords), "f64", at_level(9));
  ASSERT_EQ(map_of(maps), ValueMap::decimal);
  EXPECT_EQ(maps.lanes[0].step, 2u);
}

TEST(ColumnMapChoice, FindsMultiplesWithAnOffset) {
  for (const std::int64_t offset : {0, 3, 150, -70})
    for (const std::int64_t start : {0, -40, 60, -120}) {
      const auto value_of = [&](std::int64_t k) { return k * 200 + offset; };
      const Bytes i16 = walk(
          [&](Bytes& bytes, std::int64_t k) {
            put_value(bytes, static_cast<std::uint64_t>(value_of(start + k % 20)), 2, false);
          },
          0, 5);
      const Bytes i64 = walk(
          [&](Bytes& bytes, std::int64_t k) {
            put_value(bytes, static_cast<std::uint64_t>(value_of(start + k)), 8, false);
          },
          0, 5);
      for (const auto& maps : {maps_of(i16, "i16"), maps_of(i64, "i64")}) {
        ASSERT_EQ(map_of(maps), ValueMap::multiple) << "start " << start << ", offset " << offset;
        EXPECT_EQ(maps.lanes[0].step, 200u);
      }
    }
}

TEST(ColumnMapChoice, FindsMultiplesOfUnsignedNumbers) {
  for (const std::int64_t start : {0, 20, 715'700, 1'000'000}) {
    const Bytes u32 = walk(
        [&](Bytes& bytes, std::int64_t k) {
          put_value(bytes, static_cast<std::uint64_t>(3'000 * (start + k % 300) + 7), 4, false);
        },
        400, 5);
    const ColumnMaps maps = maps_of(u32, "u32");
    ASSERT_EQ(map_of(maps), ValueMap::multiple) << start;
    EXPECT_EQ(maps.lanes[0].step, 3000u);
  }
}

/// Two or more lanes that go together, each with a little of its own.
Bytes lanes_together(int lanes, int bytes_a_value, std::int64_t own) {
  Draws draws(6);
  Bytes bytes;
  std::int64_t together = 0;
  for (std::uint64_t i = 0; i < kMappedRecords; ++i) {
    together = draws.around_zero(12'000);
    for (int lane = 0; lane < lanes; ++lane)
      put_value(bytes, static_cast<std::uint64_t>(together + draws.around_zero(own)), bytes_a_value,
                false);
  }
  return bytes;
}

TEST(ColumnMapChoice, FindsLanesThatGoTogether) {
  const ColumnMaps maps = maps_of(lanes_together(3, 2, 20), "i16x3");
  EXPECT_EQ(maps.steps.size(), 2u);
  for (const LaneStep& step : maps.steps) {
    EXPECT_EQ(step.kind, LaneStepKind::minus);
    EXPECT_LT(step.source, step.target);
  }
}

// What is in the middle wanders, and now and then the two are far apart, for a single tuple.
TEST(ColumnMapChoice, MakesMeanAndDifferenceOfTwoLanes) {
  for (const int width : {2, 4, 8}) {
    Draws draws(8);
    Bytes bytes;
    std::int64_t middle = 0;
    for (std::uint64_t i = 0; i < kMappedRecords; ++i) {
      middle += draws.around_zero(10);
      const std::int64_t side = draws.below(7) == 0 ? draws.around_zero(400) : 0;
      for (const std::int64_t value : {middle + side, middle - side})
        put_value(bytes, static_cast<std::uint64_t>(value), width, false);
    }
    const char* record = width == 2 ? "i16x2" : width == 4 ? "i32x2" : "i64x2";
    const std::vector<LaneStep> steps = maps_of(bytes, record).steps;
    ASSERT_EQ(steps.size(), 2u) << record;
    EXPECT_EQ(steps[0].target, 1);
    EXPECT_EQ(steps[0].source, 0);
    EXPECT_EQ(steps[0].kind, LaneStepKind::minus);
    EXPECT_EQ(steps[1].target, 0);
    EXPECT_EQ(steps[1].source, 1);
    EXPECT_EQ(steps[1].kind, LaneStepKind::plus_half);
  }
}

TEST(ColumnMapChoice, TakesEachLaneByItself) {
  Draws draws(7);
  Bytes bytes;
  std::int64_t k = 4000;
  for (std::uint64_t i = 0; i < kMappedRecords; ++i) {
    k += draws.around_zero(30);
    put_number(bytes, static_cast<float>(static_cast<double>(k) / 10));
    put_value(bytes, static_cast<std::uint64_t>(draws.below(1ll << 31)), 4, false);
    put_number(bytes, static_cast<float>(static_cast<double>(9000 - k) / 100));
  }
  const ColumnMaps maps = maps_of(bytes, "f32x3");
  ASSERT_EQ(maps.lanes.size(), 3u);
  EXPECT_EQ(map_of(maps, 0), ValueMap::decimal);
  EXPECT_EQ(maps.lanes[0].step, 1u);
  EXPECT_FALSE(format::has_fields(map_of(maps, 1)));
  EXPECT_EQ(map_of(maps, 2), ValueMap::decimal);
  EXPECT_EQ(maps.lanes[2].step, 2u);
}

TEST(ColumnMapChoice, FindsNoneWhereThereIsNone) {
  for (const char* record : {"u8", "i16", "i24x2", "u32", "i64", "f16", "bf16", "f32", "f64x2"}) {
    const Layout layout = layout_of(record);
    for (const Pattern pattern : {Pattern::random, Pattern::equal, Pattern::special_floats}) {
      const Bytes values = make_values(layout, kMappedRecords, pattern);
      const ValueMap map = map_of(maps_of(values, record));
      if (pattern == Pattern::special_floats && map == ValueMap::dictionary)
        continue;  // few values
      EXPECT_FALSE(format::has_fields(map)) << record << ", pattern " << static_cast<int>(pattern);
      if (pattern == Pattern::equal) continue;
      EXPECT_TRUE(maps_of(values, record).steps.empty()) << record;
    }
  }
  Bytes nans, numbers;
  Draws draws(3);
  for (std::uint64_t i = 0; i < kMappedRecords; ++i) {
    put_number(nans, std::numeric_limits<float>::quiet_NaN());
    // Uniform, with all the digits that a double has.
    put_number(numbers, static_cast<double>(draws.below(1ll << 52)) * 0x1p-52);
  }
  EXPECT_TRUE(maps_of(nans, "f32").empty());
  EXPECT_TRUE(maps_of(numbers, "f64").empty());
}

/// Values of some lane that are no numbers: 64 bits that come again and again.
Bytes keys(std::int64_t distinct, int bytes = 8) {
  Draws draws(11);
  Bytes values;
  for (std::uint64_t i = 0; i < kMappedRecords; ++i)
    put_value(values, static_cast<std::uint64_t>(draws.below(distinct) + 1) * 0x9E3779B97F4A7C15,
              bytes, false);
  return values;
}

TEST(ColumnMapChoice, LooksFewValuesUp) {
  for (const char* record : {"u64", "i64", "f64"}) {
    const ColumnMaps maps = maps_of(keys(50), record);
    EXPECT_EQ(map_of(maps), ValueMap::dictionary) << record;
    ASSERT_EQ(maps.tables.size(), 1u);
    EXPECT_EQ(maps.tables[0].size(), 50u);
  }
  EXPECT_EQ(map_of(maps_of(keys(20, 4), "u32")), ValueMap::dictionary);
  EXPECT_EQ(map_of(maps_of(keys(20, 2), "i16")), ValueMap::dictionary);
}

TEST(ColumnMapChoice, TablesHoldEachValueOnceAndRise) {
  for (const int bytes : {2, 4, 8}) {
    const Bytes values = keys(20, bytes);
    const std::string type = std::to_string(8 * bytes);
    std::set<std::uint64_t> plain;
    for (std::size_t at = 0; at < values.size(); at += static_cast<std::size_t>(bytes))
      plain.insert(format::load_le(reinterpret_cast<const unsigned char*>(&values[at]), bytes));
    const std::vector<std::uint64_t> rising(plain.begin(), plain.end());
    const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1);
    // Negative numbers come first.
    std::vector<std::uint64_t> as_signed = rising;
    std::rotate(as_signed.begin(), std::lower_bound(as_signed.begin(), as_signed.end(), sign),
                as_signed.end());
    for (const auto& [letter, expected] : {std::pair{"u", rising}, std::pair{"i", as_signed}}) {
      const ColumnMaps maps = maps_of(values, (letter + type).c_str());
      ASSERT_EQ(maps.tables.size(), 1u) << letter << type;
      EXPECT_EQ(maps.tables[0], expected) << letter << type;
    }
  }
}

TEST(ColumnMapChoice, LooksNothingUpInLongTables) {
  EXPECT_EQ(map_of(maps_of(keys(kMappedRecords / 6), "u64")), ValueMap::none);
  EXPECT_EQ(map_of(maps_of(keys(100000), "u64")), ValueMap::none);
}

// Indices are no smaller than values that lie side by side.
TEST(ColumnMapChoice, LooksNoNeighboursUp) {
  Draws draws(2);
  Bytes values;
  for (std::uint64_t i = 0; i < kMappedRecords; ++i)
    put_value(values, static_cast<std::uint64_t>(1000 + draws.below(300)), 2, false);
  EXPECT_EQ(map_of(maps_of(values, "u16")), ValueMap::none);
}

TEST(ColumnMapChoice, FindsNoneInFewRecords) {
  const Bytes values = walk([](Bytes& bytes, std::int64_t k) {
    put_number(bytes, static_cast<float>(static_cast<double>(k) / 100));
  });
  for (const std::size_t records : {0, 1, 2, 127})
    EXPECT_TRUE(
        maps_of(Bytes(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(4 * records)),
                "f32")
            .empty());
  EXPECT_EQ(map_of(maps_of(Bytes(values.begin(), values.begin() + 4 * 128), "f32")),
            ValueMap::decimal);
}

TEST(ColumnMapChoice, DependsOnLevelAndCoder) {
  const Bytes values = walk([](Bytes& bytes, std::int64_t k) {
    put_number(bytes, static_cast<float>(static_cast<double>(k) / 100));
  });
  EXPECT_TRUE(maps_of(values, "f32", at_level(1)).empty());
  for (const int level : {2, 3, 9}) EXPECT_FALSE(maps_of(values, "f32", at_level(level)).empty());
  EncodeSettings settings = at_level(5);
  settings.coder = Coder::raw;
  EXPECT_TRUE(maps_of(values, "f32", settings).empty());
  settings.coder = Coder::ans;
  EXPECT_FALSE(maps_of(values, "f32", settings).empty());
  settings = at_level(5);
  settings.plain_bytes = true;
  EXPECT_TRUE(maps_of(values, "f32", settings).empty());
}

TEST(ColumnMapChoice, OnlyTheLowestLevelTakesNoExceptions) {
  const Bytes values = walk([n = 0](Bytes& bytes, std::int64_t k) mutable {
    put_number(bytes, ++n == 700 ? std::numeric_limits<float>::quiet_NaN()
                                 : static_cast<float>(static_cast<double>(k) / 100));
  });
  for (int level = kLowestLevel; level <= kHighestLevel; ++level) {
    const ChunkPlan plan = plan_chunk(values, layout_of("f32"), false, at_level(level));
    EXPECT_EQ(plan.maps[0].empty() ? ValueMap::none : map_of(plan.maps[0]),
              level == 1 ? ValueMap::none : ValueMap::decimal)
        << level;
  }
}

// Sample or not: what a plan says of a column is what its values come back by.
TEST(ColumnMapChoice, PlansAreKeptOnlyWhereTheWholeColumnKeepsThem) {
  Bytes values = walk([](Bytes& bytes, std::int64_t k) {
    put_number(bytes, static_cast<float>(static_cast<double>(k) / 100));
  });
  const ChunkPlan plan = plan_chunk(values, layout_of("f32"), false, at_level(5));
  ASSERT_EQ(plan.maps.size(), 1u);
  EXPECT_EQ(map_of(plan.maps[0]), ValueMap::decimal);
  // The sample is 32 stretches of 128; between two of them there are numbers of all digits.
  Bytes long_values;
  Draws draws(2);
  for (int copies = 0; copies < 13; ++copies)
    long_values.insert(long_values.end(), values.begin(), values.end());
  const std::size_t records = long_values.size() / 4;
  for (std::size_t i = 0; i < records; ++i) {
    bool sampled = false;
    for (std::size_t k = 0; k < 32; ++k) {
      const std::size_t first = k * (records - 128) / 31;
      sampled = sampled || (i >= first && i < first + 128);
    }
    if (sampled) continue;
    for (std::size_t b = 0; b < 4; ++b)
      long_values[4 * i + b] = static_cast<std::byte>(draws.below(256));
  }
  const ChunkPlan other = plan_chunk(long_values, layout_of("f32"), false, at_level(5));
  EXPECT_EQ(map_of(maps_of(long_values, "f32")), ValueMap::decimal);
  EXPECT_TRUE(other.maps[0].empty());
}

// At every level that has another way to the section of a column behind maps.
TEST(ColumnMapChoice, WhatPlanningHasMadeBehindMapsIsWhatTheEncoderMakes) {
  const Bytes decimals = walk([n = 0](Bytes& bytes, std::int64_t k) mutable {
    const bool odd = ++n % 200 == 0;
    put_number(bytes, odd ? std::numeric_limits<float>::quiet_NaN()
                          : static_cast<float>(static_cast<double>(k) / 100));
  });
  for (const auto& [record, values] : {std::pair{"f32", decimals}, std::pair{"u64", keys(50)}})
    for (const int level : {3, 5, 7, 9}) {
      const Layout layout = layout_of(record);
      ChunkPlan plan = plan_chunk(values, layout, false, at_level(level));
      ASSERT_FALSE(plan.maps.at(0).empty()) << record << ", " << level;
      EXPECT_FALSE(plan.made.at(0).bytes.empty()) << record << ", " << level;
      const Bytes block = encode_chunk(values, layout, false, plan);
      plan.made.clear();
      EXPECT_TRUE(encode_chunk(values, layout, false, plan) == block) << record << ", " << level;
    }
}

}  // namespace
}  // namespace gdelta::test
