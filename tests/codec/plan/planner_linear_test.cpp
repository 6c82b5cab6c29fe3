// Where linear prediction is planned, and what it gains.
#include <gtest/gtest.h>

#include "codec/chunk/decode_block.h"
#include "codec/plan/planned_values.h"

namespace gdelta::test {
namespace {

/// Two resonances of which the second lane has the first in it, too; in whole numbers, the same everywhere.
Bytes resonances(int width, std::int64_t size, std::size_t tuples = 20000, std::int64_t zero = 0) {
  Draws draws(8);
  ValueBytes values(width);
  std::int64_t left[2] = {}, right[2] = {};
  for (std::size_t i = 0; i < tuples; ++i) {
    const std::int64_t l = (117 * left[0] - 61 * left[1]) / 64 + draws.around_zero(size);
    const std::int64_t r =
        (100 * right[0] - 60 * right[1]) / 64 + l / 2 + draws.around_zero(size / 8);
    left[1] = left[0];
    left[0] = l;
    right[1] = right[0];
    right[0] = r;
    values.put(zero + l);
    values.put(zero + r);
  }
  return values.bytes();
}

std::vector<std::byte> block_of(const Bytes& values, const char* record, int level,
                                Workers& workers = Workers::alone()) {
  const Layout layout = layout_of(record);
  return encode_chunk(values, layout, false,
                      plan_chunk(values, layout, false, at_level(level), workers), workers);
}

TEST(PlannerLinear, IsChosenFromSevenOnWhereItPredicts) {
  const Bytes values = resonances(2, 100);
  for (int level = 1; level <= 9; ++level)
    EXPECT_EQ(plan_column(values, "i16x2", at_level(level)).front.predictor == Predictor::linear,
              level >= 7)
        << level;
}

TEST(PlannerLinear, IsNotChosenForNumbersWithoutAPast) {
  Draws draws(9);
  ValueBytes values(2);
  for (int i = 0; i < 20000; ++i) values.put(draws.around_zero(1000));
  for (const int level : {7, 8, 9})
    EXPECT_NE(plan_column(values.bytes(), "i16", at_level(level)).front.predictor,
              Predictor::linear)
        << level;
}

TEST(PlannerLinear, IsNotChosenIfAnOrderWasAskedFor) {
  EncodeSettings settings = at_level(9);
  settings.order = 1;
  EXPECT_NE(plan_column(resonances(2, 100), "i16x2", settings).front.predictor, Predictor::linear);
}

TEST(PlannerLinear, TakesLittleMoreThanWhatCannotBePredicted) {
  const auto bytes = static_cast<double>(block_of(resonances(2, 1000), "i16x2", 9).size());
  // log2(2001) and log2(251) bits.
  const double least = (10.97 + 7.97) * 20000 / 8;
  EXPECT_LT(bytes, 1.05 * least);
  EXPECT_GT(bytes, least);
}

TEST(PlannerLinear, ComesBackAtEveryWidth) {
  for (const char* record : {"i16x2", "u16x2", "i24x2", "u24:bex2", "i32x2", "u32:bex2"}) {
    const Layout layout = layout_of(record);
    const int width = value_bytes(layout.columns[0].type);
    const bool is_unsigned = record[0] == 'u';
    const Bytes values =
        resonances(width, 100, 5000, is_unsigned ? std::int64_t{1} << (8 * width - 1) : 0);
    const Bytes block = block_of(values, record, 7);
    const auto parsed = format::parse_chunk_block(block, 0, layout);
    ASSERT_TRUE(parsed) << record;
    EXPECT_TRUE(layout.columns[0].big_endian ||
                parsed->columns[0].model.front.predictor == Predictor::linear)
        << record;
    Bytes decoded(values.size());
    EXPECT_FALSE(decode_block(block, 0, layout, decoded, true)) << record;
    EXPECT_TRUE(decoded == values) << record;
  }
}

TEST(PlannerLinear, BytesAreThoseOfOneThread) {
  const Bytes values = resonances(2, 100, 60000);
  Workers workers(4);
  for (const int level : {7, 9})
    EXPECT_TRUE(block_of(values, "i16x2", level) == block_of(values, "i16x2", level, workers))
        << level;
}

}  // namespace
}  // namespace gdelta::test
