// Which lanes lose an earlier one at the lowest levels: those that are clearly smaller then.
#include "codec/plan/quick_steps.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "codec/plan/planned_values.h"
#include "gdelta/codec.h"

namespace gdelta::test {
namespace {

/// Fills a tuple.
using FillTuple = std::function<void(std::uint64_t number, std::vector<std::int64_t>& lanes)>;

Bytes tuples(const char* record, std::uint64_t records, const FillTuple& fill) {
  const Column column = layout_of(record).columns[0];
  std::vector<std::int64_t> lanes(column.tuple);
  Bytes bytes;
  for (std::uint64_t i = 0; i < records; ++i) {
    fill(i, lanes);
    for (const std::int64_t value : lanes)
      put_value(bytes, static_cast<std::uint64_t>(value), value_bytes(column.type),
                column.big_endian);
  }
  return bytes;
}

/// All lanes walk by themselves, but `target`, which stays near `source`.
FillTuple walks_behind(std::size_t target, std::size_t source) {
  return [=, draws = Draws(3)](std::uint64_t, std::vector<std::int64_t>& lanes) mutable {
    for (std::int64_t& lane : lanes) lane += draws.around_zero(40);
    if (target != source) lanes[target] = lanes[source] + draws.around_zero(2);
  };
}

/// "3-1 1-0"
std::string steps_of(const Bytes& values, const char* record,
                     const EncodeSettings& settings = at_level(1)) {
  std::string words;
  for (const LaneStep& step : quick_maps_of(values, record, settings).steps) {
    EXPECT_EQ(step.kind, LaneStepKind::minus);
    words += (words.empty() ? "" : " ") + std::to_string(step.target) + "-" +
             std::to_string(step.source);
  }
  return words;
}

TEST(QuickSteps, FindsTheLaneThatAnotherFollows) {
  for (const char* record : {"i8x2", "u16x2", "i16:bex2", "i24x2", "i32x2", "u64x2"})
    EXPECT_EQ(steps_of(tuples(record, 3000, walks_behind(1, 0)), record), "1-0") << record;
  for (const std::size_t source : {0, 1, 2})
    EXPECT_EQ(steps_of(tuples("i32x4", 3000, walks_behind(3, source)), "i32x4"),
              "3-" + std::to_string(source));
}

TEST(QuickSteps, WideTuplesAreLeftAlone) {
  EXPECT_EQ(steps_of(tuples("i32x4", 3000, walks_behind(3, 2)), "i32x4"), "3-2");
  EXPECT_EQ(steps_of(tuples("i32x5", 3000, walks_behind(4, 3)), "i32x5"), "");
}

TEST(QuickSteps, LanesThatWalkByThemselvesAreLeftAlone) {
  for (const char* record : {"i16x2", "i32x3", "i64x4", "i8x7"})
    EXPECT_EQ(steps_of(tuples(record, 3000, walks_behind(0, 0)), record), "") << record;
  EXPECT_EQ(steps_of(tuples("i32", 3000, walks_behind(0, 0)), "i32"), "");
}

// Lane 2 follows lane 1, which follows lane 0: each loses the other as it was.
TEST(QuickSteps, ASourceMayHaveAStepOfItsOwn) {
  Draws draws(3);
  const Bytes values = tuples("i32x3", 3000, [&](std::uint64_t, std::vector<std::int64_t>& lanes) {
    lanes[0] += draws.around_zero(100000);
    lanes[1] = lanes[0] + draws.around_zero(3000);
    lanes[2] = lanes[1] + draws.around_zero(30);
  });
  EXPECT_EQ(steps_of(values, "i32x3"), "2-1 1-0");
  EXPECT_EQ(steps_of(values, "i32x3", at_level(2)), "2-1 1-0");
}

// Of 300 groups four are looked at first: 0, 75, 150 and 225.
TEST(QuickSteps, FewGroupsRefuse) {
  Draws draws(3);
  const auto follows_but_in = [&](std::uint64_t groups) {
    return tuples("i32x2", 300 * 128, [&](std::uint64_t i, std::vector<std::int64_t>& lanes) {
      bool is_one = false;
      for (std::uint64_t k = 0; k < groups; ++k) is_one |= i / 128 == k * 300 / 4;
      lanes[0] += draws.around_zero(100);
      lanes[1] = is_one ? lanes[1] + draws.around_zero(100) : lanes[0];
    });
  };
  EXPECT_EQ(steps_of(follows_but_in(4), "i32x2"), "");
  EXPECT_EQ(steps_of(follows_but_in(1), "i32x2"), "1-0");
}

// Lane 2 takes a little less without lane 0, lane 1 nearly nothing.
TEST(QuickSteps, EachLaneHasToSaveClearly) {
  Draws draws(3);
  const auto beside = [&](std::int64_t size) {
    return tuples("i32x3", 3000, [&, size](std::uint64_t, std::vector<std::int64_t>& lanes) {
      lanes[0] = draws.around_zero(1 << 16);
      lanes[1] = lanes[0];
      lanes[2] = lanes[0] + draws.around_zero(size);
    });
  };
  EXPECT_EQ(steps_of(beside(1 << 20), "i32x3"), "1-0");
  EXPECT_EQ(steps_of(beside(1 << 12), "i32x3"), "2-0 1-0");
}

TEST(QuickSteps, TheWholeColumnHasToSave) {
  Draws draws(3);
  const auto small_beside = [&](std::int64_t others) {
    return tuples("i64x4", 3000, [&](std::uint64_t, std::vector<std::int64_t>& lanes) {
      for (std::int64_t& lane : lanes) lane = draws.around_zero(others);
      lanes[2] = draws.around_zero(1);
      lanes[3] = lanes[2];
    });
  };
  EXPECT_EQ(steps_of(small_beside(1000), "i64x4"), "3-2");
  EXPECT_EQ(steps_of(small_beside(std::int64_t{1} << 61), "i64x4"), "");
}

TEST(QuickSteps, LanesHaveTheirMapsBefore) {
  Draws draws(3);
  Bytes values;
  double k = 20000;
  for (int i = 0; i < 3000; ++i) {
    k += static_cast<double>(draws.around_zero(300));
    for (const double number : {k, k + static_cast<double>(draws.below(4))})
      put_value(values, std::bit_cast<std::uint64_t>(number / 1000), 8, false);
  }
  const ColumnMaps maps = quick_maps_of(values, "f64x2");
  ASSERT_EQ(maps.lanes.size(), 2u);
  EXPECT_EQ(maps.lanes[1].map, static_cast<std::uint8_t>(ValueMap::decimal));
  EXPECT_EQ(steps_of(values, "f64x2"), "1-0");
}

// Numbers too small for a binary step, around zero: those below it follow each other backwards but in their order.
TEST(QuickSteps, FloatsAreTakenInOrder) {
  Draws draws(3);
  Bytes values;
  std::int64_t k = 0;
  for (int i = 0; i < 3000; ++i) {
    k += draws.around_zero(40) - k / 64;
    for (const std::int64_t number : {k, k + draws.below(3)}) {
      const auto size = static_cast<std::uint32_t>(std::abs(number));
      put_value(values, number < 0 ? size | 0x80000000 : size, 4, false);
    }
  }
  const ColumnMaps maps = quick_maps_of(values, "f32x2");
  ASSERT_EQ(maps.lanes.size(), 2u);
  EXPECT_EQ(maps.lanes[0].map, static_cast<std::uint8_t>(ValueMap::ordered));
  EXPECT_EQ(steps_of(values, "f32x2"), "1-0");
}

TEST(QuickSteps, AnOrderThatIsAskedForIsWeighed) {
  // Behind one difference lanes are noise of their own; as they are, one follows the other.
  Draws draws(3);
  const Bytes values = tuples("i32x2", 3000, [&](std::uint64_t, std::vector<std::int64_t>& lanes) {
    lanes[0] = draws.around_zero(1 << 20);
    lanes[1] = lanes[0] + draws.around_zero(3);
  });
  for (const int order : {0, 1, 4}) {
    EncodeSettings settings = at_level(1);
    settings.order = order;
    EXPECT_EQ(steps_of(values, "i32x2", settings), "1-0") << order;
  }
}

TEST(QuickSteps, WantAWholeGroup) {
  EXPECT_EQ(steps_of(tuples("i16x2", 128, walks_behind(1, 0)), "i16x2"), "1-0");
  EXPECT_EQ(steps_of(tuples("i16x2", 127, walks_behind(1, 0)), "i16x2"), "");
}

TEST(QuickSteps, StreamsAreSmallerAndComeBack) {
  for (const char* record : {"u8x3", "i16x2", "i32x4"}) {
    const Layout layout = layout_of(record);
    const Bytes values = tuples(record, 5000, walks_behind(1, 0));
    EncodeSettings without = at_level(1);
    without.maps = false;
    const auto size = [&](const EncodeSettings& settings) {
      return encode_chunk(values, layout, false, plan_chunk(values, layout, false, settings))
          .size();
    };
    EXPECT_LT(size(at_level(1)), size(without)) << record;
    EncodeOptions options;
    options.layout = layout;
    options.level = 1;
    EXPECT_TRUE(decompress(compress(values, options).value()).value() == values) << record;
  }
}

}  // namespace
}  // namespace gdelta::test
