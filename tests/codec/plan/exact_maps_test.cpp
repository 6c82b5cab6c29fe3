// Which lanes get a map in a pass of their own at the lowest levels: those of which it gives every value back, where it pays.
#include "codec/plan/exact_maps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "codec/coders/maps/value_map.h"
#include "codec/plan/planned_values.h"
#include "codec/plan/quick_maps.h"

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

/// Gives the value of a lane of a tuple, as wide as the type.
using IntegerOf = std::function<std::uint64_t(std::uint64_t tuple, int lane)>;

Bytes integers(const char* record, std::uint64_t records, const IntegerOf& value_of) {
  const Column column = layout_of(record).columns[0];
  Bytes bytes;
  for (std::uint64_t i = 0; i < records; ++i)
    for (int lane = 0; lane < column.tuple; ++lane)
      put_value(bytes, value_of(i, lane), value_bytes(column.type), column.big_endian);
  return bytes;
}

/// A walk in steps of 200.
IntegerOf two_hundreds(std::uint64_t start) {
  return [draws = Draws(3), value = start](std::uint64_t, int) mutable {
    return value += static_cast<std::uint64_t>(200 * draws.around_zero(30));
  };
}

std::string words_of(const LaneMapping& lane) {
  const auto map = static_cast<ValueMap>(lane.map);
  if (map == ValueMap::decimal) return "decimal/" + std::to_string(lane.step);
  if (map == ValueMap::scaled)
    return "scaled/2^" + std::to_string(std::ilogb(std::bit_cast<double>(lane.step)));
  if (map == ValueMap::multiple)
    return "multiple/" + std::to_string(lane.step) + "+" + std::to_string(lane.offset);
  return map == ValueMap::none ? "none" : "ordered";
}

/// What a column gets, "decimal/2 none".
std::string map_words_of(const Bytes& values, const char* record,
                         const EncodeSettings& settings = at_level(1)) {
  const Layout layout = layout_of(record);
  ColumnMaps maps;
  std::optional<PlainFronts> plain;
  const auto mapped = map_quickly({.first = reinterpret_cast<const unsigned char*>(values.data()),
                                   .record_bytes = layout.record_bytes(),
                                   .records = values.size() / layout.record_bytes(),
                                   .column = layout.columns[0]},
                                  settings, Workers::alone(), maps, plain);
  EXPECT_EQ(mapped == nullptr, maps.empty());
  if (mapped) {
    EXPECT_EQ(mapped->exceptions(), 0u);
  }
  std::string words;
  for (const LaneMapping& lane : maps.lanes) words += (words.empty() ? "" : " ") + words_of(lane);
  return words;
}

TEST(ExactMaps, FindsTheFewestDigits) {
  for (const char* record : {"f32", "f64"})
    for (const int digits : {0, 1, 3}) {
      ValueOf walk = hundredths();
      const double power = std::pow(10, digits);
      EXPECT_EQ(map_words_of(floats(record, 5000,
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
    EXPECT_EQ(map_words_of(values, "f64x2").substr(0, 10), "decimal/2 ") << odd;
    EXPECT_EQ(map_words_of(values, "f64x2").find("decimal", 1), std::string::npos) << odd;
  }
}

// Floats from 256 to 512 are decimals of five digits, all of them.
TEST(ExactMaps, NumbersThatDifferTooMuchAreLeftAlone) {
  Draws draws(1);
  EXPECT_EQ(map_words_of(floats("f32", 5000,
                                [&](std::uint64_t, int) {
                                  return 256 +
                                         static_cast<double>(draws.below(1 << 23)) / (1 << 15);
                                }),
                         "f32"),
            "");
}

// With 13 binary digits behind the point, of which 10^-10 is not fine enough a step.
TEST(ExactMaps, FindsStepsThatArePowersOfTwo) {
  for (const char* record : {"f32", "f64"})
    for (const int exponent : {-13, -40, 70}) {
      ValueOf walk = hundredths();
      const auto value_of = [&](std::uint64_t i, int lane) {
        return std::ldexp(std::round(walk(i, lane) * 100), exponent);
      };
      EXPECT_EQ(map_words_of(floats(record, 5000, value_of), record),
                "scaled/2^" + std::to_string(exponent))
          << record;
    }
}

// Tenths of a narrow range are multiples of its last bit, too, and these are decimals of six digits; quarters are hundredths.
TEST(ExactMaps, OfTwoMapsTheOneIsTakenBehindWhichValuesDifferLess) {
  Draws draws(1);
  const auto one_of = [&](double first, double step) {
    return [&draws, first, step](std::uint64_t, int) {
      return first + step * static_cast<double>(draws.below(10));
    };
  };
  EXPECT_EQ(map_words_of(floats("f32", 5000, one_of(20, 0.1)), "f32"), "decimal/1");
  EXPECT_EQ(map_words_of(floats("f32", 5000, one_of(24.4140625, 0x1p-13)), "f32"), "scaled/2^-13");
  EXPECT_EQ(map_words_of(floats("f64", 5000, one_of(20, 0.25)), "f64"), "scaled/2^-2");
  EXPECT_EQ(map_words_of(floats("f64", 5000, one_of(20, 1)), "f64"), "decimal/0");
  EXPECT_EQ(map_words_of(floats("f64", 5000, one_of(20480, 1024)), "f64"), "scaled/2^10");
}

// Words would be as long as all of their bits, so nothing else is looked at.
TEST(ExactMaps, FloatsThatUseTheirLastBitHaveNoBinaryStep) {
  std::vector<std::uint32_t> words(128);
  for (std::uint32_t i = 0; i < words.size(); ++i)
    words[i] = std::bit_cast<std::uint32_t>(1.0f) + 2 * i;
  EXPECT_TRUE(scaled_map.find_exact.narrow(words, 32));
  words[77] |= 1;
  EXPECT_FALSE(scaled_map.find_exact.narrow(words, 32));
}

TEST(ExactMaps, StepsTakeFloatsOfAnySizeThatHaveNormalNumbersForThem) {
  for (const auto& [record, exponent, found] : {std::tuple{"f32", -130, true},
                                                {"f32", 100, true},
                                                {"f64", -1022, true},
                                                {"f64", -1023, false},
                                                {"f64", -1074, false},
                                                {"f64", 1000, true}}) {
    ValueOf walk = hundredths();
    const auto value_of = [&, from = exponent](std::uint64_t i, int lane) {
      return std::ldexp(std::round(walk(i, lane) * 100), from);
    };
    EXPECT_EQ(map_words_of(floats(record, 5000, value_of), record),
              found ? "scaled/2^" + std::to_string(exponent) : "")
        << record << ' ' << exponent;
  }
}

TEST(ExactMaps, FindsTheStepOfIntegers) {
  for (const char* record : {"i32", "u32", "i64", "u64", "i64:be"}) {
    EXPECT_EQ(map_words_of(integers(record, 5000, two_hundreds(0)), record).substr(0, 13),
              "multiple/200+")
        << record;
    EXPECT_EQ(map_words_of(integers(record, 5000, two_hundreds(2000007)), record), "multiple/200+7")
        << record;
  }
  // As words narrower values would not lie where they lay.
  EXPECT_EQ(map_words_of(integers("i16", 5000, two_hundreds(0)), "i16"), "");
}

// From one of them on, where no whole number of steps from zero on reaches beyond the middle.
TEST(ExactMaps, StepsGoOnBeyondTheMiddleOfNumbersWithoutASign) {
  for (const char* record : {"u32", "u64"}) {
    const std::uint64_t middle = std::uint64_t{1} << (record[1] == '3' ? 31 : 63);
    const Bytes values = integers(
        record, 5000, [&](std::uint64_t i, int) { return middle + 300 * (i * i % 4001) - 600000; });
    EXPECT_EQ(map_words_of(values, record), "multiple/300+" + std::to_string(middle - 600000))
        << record;
  }
}

TEST(ExactMaps, OneIntegerBesideTheStepsLeavesItsLaneAlone) {
  IntegerOf walk = two_hundreds(0);
  const Bytes values = integers("i64x2", 300 * 128, [&](std::uint64_t i, int lane) {
    return walk(i, lane) + (i == 2 * 128 + 1 && lane == 1 ? 1 : 0);
  });
  const std::string maps = map_words_of(values, "i64x2");
  EXPECT_EQ(maps.substr(0, 13), "multiple/200+");
  EXPECT_EQ(maps.substr(maps.size() - 5), " none");
}

// The first group alone says nothing.
TEST(ExactMaps, LanesThatBeginAlikeAreLookedAtAsAWhole) {
  IntegerOf walk = two_hundreds(0);
  const Bytes values = integers(
      "i32", 5000, [&](std::uint64_t i, int lane) { return i < 200 ? 400 : walk(i, lane); });
  EXPECT_EQ(map_words_of(values, "i32").substr(0, 13), "multiple/200+");
  EXPECT_EQ(map_words_of(integers("i32", 5000, [](std::uint64_t, int) { return 400; }), "i32"), "");
}

TEST(ExactMaps, WhatSavesNothingIsLeftAlone) {
  Draws draws(1);  // neighbouring floats, of two digits
  EXPECT_EQ(map_words_of(floats("f32", 5000,
                                [&](std::uint64_t, int) {
                                  return 0x1p21 + static_cast<double>(draws.below(4096)) / 4;
                                }),
                         "f32"),
            "");
}

TEST(ExactMaps, WantsAWholeGroupAndToBeAskedFor) {
  EXPECT_EQ(map_words_of(floats("f64", 128, hundredths()), "f64"), "decimal/2");
  EXPECT_EQ(map_words_of(floats("f64", 127, hundredths()), "f64"), "");
  EncodeSettings settings = at_level(1);
  settings.coder = Coder::zstd;
  EXPECT_EQ(map_words_of(floats("f64", 1280, hundredths()), "f64", settings), "decimal/2");
  settings.coder = Coder::raw;
  EXPECT_EQ(map_words_of(floats("f64", 1280, hundredths()), "f64", settings), "");
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
