// What the planner picks, and that it picks the same everywhere.
#include <gtest/gtest.h>

#include <cmath>

#include "codec/chunk_cases.h"
#include "codec/chunk_decode.h"
#include "codec/planner.h"
#include "formats/gdelta/chunk_block.h"

namespace gdelta::test {
namespace {

EncodeSettings at_level(int level) {
  EncodeSettings settings;
  settings.level = level;
  return settings;
}

Layout layout_of(const char* record) { return parse_record(record).value(); }

// A polynomial of each degree with a little noise, as i32.
Bytes polynomial(int degree, int noise, std::uint64_t count) {
  std::mt19937 random(degree);
  Bytes values;
  std::vector<std::uint32_t> sums(degree + 1, 3);
  for (std::uint64_t i = 0; i < count; ++i) {
    for (int k = degree; k > 0; --k) sums[k - 1] += sums[k];
    put_value(values, sums[0] + (noise > 0 ? random() % noise : 0), 4, false);
  }
  return values;
}

// Rows that resemble the row before more than neighbours resemble each other.
Bytes image(std::uint64_t width, std::uint64_t height, int bytes) {
  std::mt19937 random(5);
  std::vector<std::uint32_t> row(width);
  for (std::uint32_t& pixel : row) pixel = random() % 50000;
  Bytes values;
  for (std::uint64_t y = 0; y < height; ++y) {
    for (std::uint32_t& pixel : row) put_value(values, pixel += random() % 5, bytes, false);
  }
  return values;
}

std::size_t encoded_size(const Bytes& values, const Layout& layout,
                         const EncodeSettings& settings) {
  const ChunkPlan plan = plan_chunk(values, layout, false, settings);
  const Bytes block = encode_chunk(values, layout, false, plan, settings.level);
  Bytes out(values.size());
  const auto error = decode_chunk(block, 0, layout, out, true);
  EXPECT_FALSE(error);
  EXPECT_TRUE(out == values);
  return block.size();
}

TEST(PlannerPlan, FindsTheOrderOfAPolynomial) {
  for (int degree = 1; degree <= 4; ++degree) {
    const auto plan =
        plan_chunk(polynomial(degree, 0, 20000), layout_of("i32"), false, at_level(5));
    ASSERT_EQ(plan.columns.size(), 1u);
    const auto& model = plan.columns[0];
    // Its residuals are constant at this order, and zero at the next.
    EXPECT_GE(model.orders[0], degree) << degree;
    EXPECT_LE(model.orders[0], degree + 1) << degree;
  }
}

TEST(PlannerPlan, PicksAnOrderForEachLane) {
  Bytes values;
  const Bytes line = polynomial(1, 0, 20000), curve = polynomial(3, 0, 20000);
  std::mt19937 random(9);
  for (int i = 0; i < 20000; ++i) {
    values.insert(values.end(), line.begin() + 4 * i, line.begin() + 4 * i + 4);
    values.insert(values.end(), curve.begin() + 4 * i, curve.begin() + 4 * i + 4);
    put_value(values, random() % 1000, 4, false);
  }
  EncodeSettings settings = at_level(5);
  settings.device_decodable = true;
  const auto model = plan_chunk(values, layout_of("i32x3"), false, settings).columns[0];
  EXPECT_EQ(model.coder, Coder::pack);
  EXPECT_LT(model.orders[0], 3);
  EXPECT_GE(model.orders[1], 3);
  EXPECT_EQ(model.orders[2], 0);
}

TEST(PlannerPlan, FindsTheRowsOfAnImage) {
  for (const std::uint64_t width : {97u, 640u, 1617u}) {
    for (const int bytes : {2, 4, 8}) {
      EncodeSettings settings = at_level(5);
      settings.device_decodable = true;
      const Layout layout{{{bytes == 2   ? ValueType::u16
                            : bytes == 4 ? ValueType::i32
                                         : ValueType::i64,
                            1, false}}};
      const auto model = plan_chunk(image(width, 60, bytes), layout, false, settings).columns[0];
      ASSERT_EQ(model.num_strides, 1) << width << ' ' << bytes;
      EXPECT_EQ(model.strides[0].stride, width);
    }
  }
}

TEST(PlannerPlan, HonoursWhatIsAskedFor) {
  const Bytes values = make_values(layout_of("i32x2"), 5000, Shape::smooth);
  for (int level = 1; level <= 9; ++level) {
    EncodeSettings settings = at_level(level);
    settings.device_decodable = true;
    EXPECT_NE(plan_chunk(values, layout_of("i32x2"), false, settings).columns[0].coder,
              Coder::zstd);
    settings = at_level(level);
    settings.order = 5;
    const auto ordered = plan_chunk(values, layout_of("i32x2"), false, settings).columns[0];
    if (ordered.coder != Coder::raw) {
      EXPECT_EQ(ordered.orders[0], 5);
      EXPECT_EQ(ordered.orders[1], 5);
    }
    for (const Coder coder : {Coder::raw, Coder::pack, Coder::zstd}) {
      settings = at_level(level);
      settings.coder = coder;
      EXPECT_EQ(plan_chunk(values, layout_of("i32x2"), false, settings).columns[0].coder, coder);
    }
  }
}

TEST(PlannerPlan, EveryPlanIsLegalAndNeverMuchWorseThanRaw) {
  for (const char* record : {"u8", "i16x2", "u24:be", "f32x3", "f64:be", "i64", "i32x64", "f16x5",
                             "i32x3,u16,u8x2,f64"}) {
    const Layout layout = layout_of(record);
    for (const std::uint64_t records : {1u, 2u, 9u, 130u, 3000u}) {
      for (const Shape shape : kShapes) {
        const Bytes values = make_values(layout, records, shape);
        for (const int level : {1, 3, 5, 6, 9}) {
          if (level >= 6 && records > 200) continue;
          EXPECT_LE(encoded_size(values, layout, at_level(level)),
                    values.size() + 24 + layout.columns.size())
              << record << " x " << records << " level " << level;
        }
      }
    }
  }
}

TEST(PlannerPlan, SizesFallAsLevelsRise) {
  const Layout layout = layout_of("i16x2");
  Bytes values;
  std::mt19937 random(2);
  for (int i = 0; i < 30000; ++i) {
    put_value(values, static_cast<std::uint64_t>(9000 * std::sin(i * 0.01)) + random() % 9, 2,
              false);
    put_value(values, i / 7 + random() % 3, 2, false);
  }
  const std::size_t fast = encoded_size(values, layout, at_level(1));
  const std::size_t normal = encoded_size(values, layout, at_level(5));
  const std::size_t small = encoded_size(values, layout, at_level(9));
  EXPECT_LE(normal, fast + fast / 100);
  EXPECT_LE(small, normal);
  EXPECT_LT(small, values.size() / 2);
}

TEST(PlannerPlan, IsTheSameEveryTime) {
  const Layout layout = layout_of("f32x3");
  const Bytes values = make_values(layout, 4000, Shape::smooth);
  const auto block = [&] {
    return encode_chunk(values, layout, false, plan_chunk(values, layout, false, at_level(6)), 6);
  };
  EXPECT_TRUE(block() == block());
}

}  // namespace
}  // namespace gdelta::test
