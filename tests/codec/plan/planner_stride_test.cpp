// Which strides are found, and which are taken.
#include <gtest/gtest.h>

#include <algorithm>

#include "codec/plan/column_map_choice.h"
#include "codec/plan/lane_orders.h"
#include "codec/plan/levels.h"
#include "codec/plan/planned_values.h"
#include "codec/plan/stride_search.h"
#include "formats/gdelta/map_traits.h"
#include "kernels/bitpack/order_cost.h"

namespace gdelta::test {
namespace {

ColumnBytes first_column(const Bytes& values, const Layout& layout) {
  return {.first = reinterpret_cast<const unsigned char*>(values.data()),
          .record_bytes = layout.record_bytes(),
          .records = values.size() / layout.record_bytes(),
          .column = layout.columns[0]};
}

// Multiples of a period are as good as itself.
bool finds(const Bytes& values, std::uint32_t period, int level) {
  const ColumnBytes bytes = first_column(values, layout_of("i32"));
  const ResidualSource source(bytes, format::Front{});
  const auto found = find_strides(source, 0, level_policy(level).strides);
  return std::any_of(found.begin(), found.end(),
                     [&](std::uint32_t stride) { return stride % period == 0; });
}

/// Rows that repeat but for a little noise.
Bytes rows(std::size_t width, std::size_t height) {
  Draws draws(1);
  const auto row = draws.many_below(width, 1 << 20);
  ValueBytes values(4);
  for (std::size_t i = 0; i < width * height; ++i)
    values.put(row[i % width] + draws.around_zero(3));
  return values.bytes();
}

TEST(PlannerStride, TheSearchReachesFurtherAtHigherLevels) {
  EXPECT_TRUE(finds(rows(1999, 6), 1999, 3));
  EXPECT_FALSE(finds(rows(3001, 6), 3001, 4));
  EXPECT_TRUE(finds(rows(3001, 6), 3001, 5));
  EXPECT_FALSE(finds(rows(20011, 5), 20011, 6));
  EXPECT_TRUE(finds(rows(20011, 5), 20011, 7));
  EXPECT_FALSE(finds(rows(70001, 5), 70001, 8));
  EXPECT_TRUE(finds(rows(70001, 5), 70001, 9));
}

TEST(PlannerStride, DifferencesThatRepeatAreFoundThoughValuesDoNot) {
  Draws draws(2);
  const auto steps = draws.many_below(500, 1 << 14);
  ValueBytes values(4);
  std::int64_t at = 0;
  for (int i = 0; i < 20000; ++i) {
    at += steps[i % 500] + draws.around_zero(3);
    if (draws.below(50) == 0) at += draws.around_zero(1 << 24);
    values.put(at);
  }
  EXPECT_TRUE(finds(values.bytes(), 500, 5));
}

TEST(PlannerStride, NoneIsLongerThanAQuarterOfTheRecords) {
  Draws draws(7);
  int strides = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    // What repeats after a little more than a quarter of them repeats, in part, after a little less.
    const std::int64_t records = 40 + draws.below(200), period = records / 4 + draws.below(4);
    const auto row = draws.many_below(static_cast<std::size_t>(period), 1 << 8);
    ValueBytes values(4);
    for (std::int64_t i = 0; i < records; ++i)
      values.put(row[static_cast<std::size_t>((i + draws.below(2)) % period)]);
    const format::Front front = plan_column(values.bytes(), "i32", pack_at_level(5)).front;
    strides += front.num_strides;
    for (int link = 0; link < front.num_strides; ++link)
      EXPECT_LE(4 * front.strides[link].stride, records);
  }
  EXPECT_GT(strides, 100);
}

TEST(PlannerStride, TheLaneThatCostsMostIsLookedAt) {
  Draws draws(3);
  const auto row = draws.many_below(97, 1 << 20);
  for (int wide = 0; wide < 3; ++wide) {
    ValueBytes values(4);
    for (int i = 0; i < 10000; ++i)
      for (int lane = 0; lane < 3; ++lane)
        values.put(lane == wide ? row[i % 97] + draws.around_zero(3) : 5 * i + draws.below(2));
    const auto model = plan_column(values.bytes(), "i32x3", pack_at_level(5));
    ASSERT_EQ(model.front.num_strides, 1) << "lane " << wide;
    EXPECT_EQ(model.front.strides[0].stride % 97, 0u);
  }
}

/// Sums of what repeats every 97 values, which is more, and every 1013.
Bytes two_periods() {
  Draws draws(4);
  const auto large = draws.many_below(97, 1 << 24), small = draws.many_below(1013, 1 << 12);
  ValueBytes values(4);
  for (int i = 0; i < 20000; ++i)
    values.put(large[i % 97] + small[i % 1013] + draws.around_zero(3));
  return values.bytes();
}

TEST(PlannerStride, ASecondStrideFollowsWhereTheLevelAllows) {
  const Bytes values = two_periods();
  EXPECT_EQ(plan_column(values, "i32", pack_at_level(4)).front.num_strides, 1);
  const auto model = plan_column(values, "i32", pack_at_level(5));
  ASSERT_EQ(model.front.num_strides, 2);
  EXPECT_EQ(model.front.strides[0].stride % 97, 0u);
  EXPECT_EQ(model.front.strides[1].stride % 1013, 0u);
}

/// Every 97 values the same pattern, below noise that a stride makes larger.
Bytes pattern_below_noise(std::int64_t pattern, std::int64_t noise) {
  Draws draws(5);
  const auto row = draws.many_below(97, pattern);
  ValueBytes values(4);
  for (int i = 0; i < 30000; ++i) values.put(row[i % 97] + draws.below(noise));
  return values.bytes();
}

TEST(PlannerStride, AStrideThatSavesATenthIsTaken) {
  const Bytes values = pattern_below_noise(1 << 13, 1 << 10);
  EXPECT_EQ(plan_column(values, "i32", pack_at_level(5)).front.num_strides, 1);
}

/// Groups of 128 values whose differences are larger than they are; the last ones repeat.
Bytes noise_then_repeats(int groups, int repeating) {
  Draws draws(6);
  const auto row = draws.many_below(128, 1 << 9);
  ValueBytes values(4);
  for (int i = 0; i < 128 * groups; ++i)
    values.put(row[i % 128] + (i < 128 * (groups - repeating) ? draws.around_zero(1 << 12) : 0));
  return values.bytes();
}

double bits_of_stride(const Bytes& values, std::uint8_t num_strides) {
  const ColumnBytes bytes{.first = reinterpret_cast<const unsigned char*>(values.data()),
                          .record_bytes = 4,
                          .records = values.size() / 4,
                          .column = Column{ValueType::i32, 1, false}};
  format::Front front;
  front.num_strides = num_strides;
  front.strides[0] = {128, 1};
  const OrderPolicy& orders = level_policy(6).orders;
  return static_cast<double>(
      choose_orders({bytes, front}, std::nullopt, {orders.highest, orders.groups}, Workers::alone())
          .bits);
}

// Not every stride is found, but of those that save 2.1 % at most some are.
TEST(PlannerStride, AStrideThatSavesTwoPercentIsTakenAndNoneThatSavesLess) {
  int close_below = 0, taken_close_above = 0;
  for (int groups = 400; groups < 500; groups += 7)
    for (int repeating = groups / 13; repeating <= groups / 12 + 1; ++repeating) {
      const Bytes values = noise_then_repeats(groups, repeating);
      const double saved = 1000 * (1 - bits_of_stride(values, 1) / bits_of_stride(values, 0));
      if (saved < 19 || saved > 21) continue;
      const int taken = plan_column(values, "i32", pack_at_level(6)).front.num_strides;
      if (saved > 20) {
        taken_close_above += taken;
      } else {
        EXPECT_EQ(taken, 0) << saved << " per mille";
        ++close_below;
      }
    }
  EXPECT_GT(close_below, 3);
  EXPECT_GT(taken_close_above, 2);
}

TEST(PlannerStride, AStrideThatCostsIsNotTaken) {
  for (const int level : {3, 5, 7, 9})
    EXPECT_EQ(
        plan_column(pattern_below_noise(2, 1 << 26), "i32", pack_at_level(level)).front.num_strides,
        0)
        << level;
}

EncodeSettings with_stride(EncodeSettings settings, std::uint64_t stride) {
  settings.stride = stride;
  return settings;
}

TEST(PlannerStride, OneThatIsAskedForIsTakenAtEveryLevelWhereItSaves) {
  const Bytes values = rows(3001, 8);
  for (int level = kLowestLevel; level <= kHighestLevel; ++level) {
    const auto model = plan_column(values, "i32", with_stride(pack_at_level(level), 3001));
    ASSERT_EQ(model.front.num_strides, 1) << level;
    EXPECT_EQ(model.front.strides[0].stride, 3001u) << level;
  }
  EXPECT_EQ(plan_column(values, "i32", pack_at_level(1)).front.num_strides, 0);
}

TEST(PlannerStride, LowLevelsFindOneIfTheyAreAsked) {
  const Bytes values = rows(1013, 12);
  for (int level = kLowestLevel; level <= kHighestLevel; ++level) {
    const auto found = plan_column(values, "i32", with_stride(pack_at_level(level), kFindStride));
    ASSERT_GE(found.front.num_strides, 1) << level;
    EXPECT_EQ(found.front.strides[0].stride % 1013, 0u) << level;
    const auto plain = plan_column(values, "i32", pack_at_level(level));
    // Others look for strides anyway.
    EXPECT_EQ(plain.front.num_strides, level < 3 ? 0 : found.front.num_strides) << level;
  }
}

TEST(PlannerStride, OneThatIsAskedForIsLeftWhereItSavesNothingOrIsTooLong) {
  const Bytes values = rows(1000, 8);
  for (const std::uint64_t stride :
       {std::uint64_t{2}, std::uint64_t{999}, std::uint64_t{2001}, kMaxStride})
    EXPECT_EQ(plan_column(values, "i32", with_stride(pack_at_level(1), stride)).front.num_strides,
              0)
        << stride;
  EXPECT_EQ(plan_column(values, "i32", with_stride(pack_at_level(1), 2000)).front.num_strides, 1);
}

TEST(PlannerStride, OthersAreLookedForBehindTheOneThatIsAskedFor) {
  const Bytes values = two_periods();
  const auto model = plan_column(values, "i32", with_stride(pack_at_level(5), 970));
  ASSERT_EQ(model.front.num_strides, 2);
  EXPECT_EQ(model.front.strides[0].stride, 970u);
  EXPECT_EQ(model.front.strides[1].stride % 1013, 0u);
}

/// Rows of floats on both sides of zero that drift by last places: as decimals they take less, unless the row before tells
/// them. A few are so small that they have none. Beside them are true decimals.
TEST(PlannerStride, MapsThatSuitValuesAloneAreNotTakenBehindOne) {
  constexpr std::size_t kRow = 101;
  Draws draws(4);
  std::vector<std::int64_t> row;
  for (std::size_t i = 0; i < kRow; ++i) {
    const auto size = 0.125F + static_cast<float>(draws.below(1 << 20)) / (1 << 20);
    row.push_back(std::bit_cast<std::uint32_t>(draws.below(2) == 0 ? size : -size));
  }
  ValueBytes values(4);
  for (std::size_t i = 0; i < kRow * 80; ++i) {
    row[i % kRow] += draws.around_zero(30);
    if (i % (5 * kRow) == 0) {
      values.put_float(0.01F);
    } else {
      values.put(row[i % kRow]);
    }
    values.put_float(static_cast<float>(10000 + draws.below(3000)) / 10);
  }
  const Layout layout = layout_of("f32x2");
  const auto map_of = [](const ColumnMaps& maps, std::size_t lane) {
    return static_cast<ValueMap>(maps.lanes.at(lane).map);
  };
  for (const int level : {3, 4, 5, 6, 7}) {
    const auto by_values =
        choose_column_maps(first_column(values.bytes(), layout), pack_at_level(level));
    ASSERT_TRUE(format::has_fields(map_of(by_values, 0))) << level;
    const ChunkPlan plan = plan_chunk(values.bytes(), layout, false, pack_at_level(level));
    ASSERT_GE(plan.columns[0].front.num_strides, 1) << level;
    EXPECT_FALSE(format::has_fields(map_of(plan.maps[0], 0))) << level;
    EXPECT_TRUE(format::has_fields(map_of(plan.maps[0], 1))) << level;
  }
}

TEST(PlannerStride, OneThatIsAskedForIsMeantForNumbersAlone) {
  const Bytes values = rows(1000, 8);
  const auto settings = with_stride(pack_at_level(1), 4000);
  EXPECT_EQ(plan_chunk(values, byte_layout(), true, settings).columns[0].front.num_strides, 0);
  EXPECT_EQ(plan_chunk(values, byte_layout(), false, settings).columns[0].front.num_strides, 1);
}

TEST(PlannerStride, TrialsOfShortColumnsSayWhetherASecondOnePaysForSymbols) {
  // Slopes that change now and then are narrower behind two; of symbols, the second makes noise wider.
  Draws draws(31);
  auto slopes = draws.many_below(5, 4000);
  ValueBytes values(4);
  for (std::int64_t i = 0; i < 500; ++i) {
    if (draws.below(10) == 0) slopes[static_cast<std::size_t>(draws.below(5))] += draws.below(4000);
    values.put(slopes[static_cast<std::size_t>(i % 5)] * (i / 16) +
               (draws.below(2) == 0 ? draws.around_zero(100) : 0));
  }
  EXPECT_EQ(plan_column(values.bytes(), "i32", pack_at_level(7)).front.num_strides, 2);
  const auto model = plan_column(values.bytes(), "i32", at_level(7));
  EXPECT_EQ(model.section.coder, Coder::ans);
  EXPECT_EQ(model.front.num_strides, 1);
}

}  // namespace
}  // namespace gdelta::test
