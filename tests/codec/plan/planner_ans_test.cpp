// Where symbols of ans are planned, and what they gain.
#include <gtest/gtest.h>

#include "codec/coders/coder.h"
#include "codec/plan/levels.h"
#include "codec/plan/planned_values.h"
#include "kernels/bitpack/order_cost.h"

namespace gdelta::test {
namespace {

/// Residuals of 3 and of 14 bits, `turn` of each after the other.
Bytes two_scales(int turn) {
  Draws draws(5);
  ValueBytes values(4);
  std::int64_t walk = 0;
  for (int i = 0; i < 64000; ++i)
    values.put(walk += draws.around_zero(i / turn % 2 == 0 ? 3 : 1 << 13));
  return values.bytes();
}

std::size_t size_of(const Bytes& values, const char* record, Coder coder, int level = 5) {
  EncodeSettings settings = at_level(level);
  settings.coder = coder;
  const Layout layout = layout_of(record);
  return encode_chunk(values, layout, false, plan_chunk(values, layout, false, settings)).size();
}

TEST(PlannerAns, TwoScalesInTurnTakeLessThanPacked) {
  for (const int turn : {32, 64, 100, 256, 3200}) {
    const Bytes values = two_scales(turn);
    const std::size_t packed = size_of(values, "i32", Coder::pack);
    const std::size_t coded = size_of(values, "i32", Coder::ans);
    EXPECT_LT(coded, packed) << turn;
    // log2(7) and log2(2^14 + 1) bits; then selectors, tables, and spans of both scales.
    const double least = (2.81 + 14) / 2 * 64000 / 8;
    EXPECT_LT(static_cast<double>(coded), (turn % 64 == 0 ? 1.03 : 1.15) * least) << turn;
    EXPECT_GT(static_cast<double>(coded), least) << turn;
  }
}

TEST(PlannerAns, FewOddValuesTakeLessThanPacked) {
  Draws draws(6);
  ValueBytes values(2);
  for (int i = 0; i < 50000; ++i) values.put(draws.below(20) == 0 ? 1000 + draws.below(3) : 7);
  EXPECT_LT(2 * size_of(values.bytes(), "i16", Coder::ans),
            size_of(values.bytes(), "i16", Coder::pack));
}

// Few tables suit values that repeat, many suit scales that change; which ones does not show in a sample.
TEST(PlannerAns, LookingLongerDoesNotTakeMore) {
  Draws draws(7);
  ValueBytes repeated(4), changing(4);
  std::vector<std::int64_t> often;
  for (int i = 0; i < 200; ++i) often.push_back(draws.around_zero(1 << 24));
  for (int i = 0; i < 100000; ++i) {
    repeated.put(often[static_cast<std::size_t>(draws.below(200))] + (i % 5000 == 0));
    changing.put(draws.around_zero(1 << (i / 300 % 17)));
  }
  for (const Bytes& values : {repeated.bytes(), changing.bytes(), two_scales(100)}) {
    const std::size_t usual = size_of(values, "i32", Coder::ans);
    for (int level = 6; level <= 9; ++level)
      EXPECT_LE(size_of(values, "i32", Coder::ans, level), usual + usual / 500) << level;
  }
  EXPECT_LT(size_of(changing.bytes(), "i32", Coder::ans, 9),
            size_of(changing.bytes(), "i32", Coder::ans, 5));
}

// Groups that are looked at are constant, so that little is expected of packing; the others are what ans is for.
TEST(PlannerAns, IsTakenWhereASampleOfGroupsPromisesTooMuch) {
  constexpr std::uint64_t kTuples = 64000;
  const auto sample = sample_groups<std::uint64_t>(kTuples, 1, level_policy(3).orders.groups);
  std::vector<bool> is_sampled(kTuples / kGroupValues);
  for (std::uint64_t k = 0; k < sample.count; ++k)
    is_sampled[sample.first_tuple(k) / kGroupValues] = true;
  Draws draws(8);
  ValueBytes values(4);
  std::int64_t walk = 0;
  for (std::uint64_t i = 0; i < kTuples; ++i) {
    const std::int64_t step = draws.around_zero(draws.below(2) == 0 ? 3 : 1 << 13);
    values.put(walk += is_sampled[i / kGroupValues] ? 0 : step);
  }
  const std::size_t coded = size_of(values.bytes(), "i32", Coder::ans, 3);
  ASSERT_LT(coded, size_of(values.bytes(), "i32", Coder::pack, 3));
  const Layout layout = layout_of("i32");
  const ChunkPlan plan = plan_chunk(values.bytes(), layout, false, at_level(3));
  EXPECT_LE(encode_chunk(values.bytes(), layout, false, plan).size(), coded);
}

TEST(PlannerAns, IsChosenFromTheLevelOnThatTriesIt) {
  const Bytes values = two_scales(64);
  for (int level = 1; level <= 9; ++level)
    EXPECT_EQ(plan_column(values, "i32", at_level(level)).section.coder == Coder::ans,
              level >= column_coder(Coder::ans).tried_from_level)
        << level;
}

/// Lines of 70 of four letters: far from 0 and from each other, so that differences over some lines are narrower.
Bytes lines_of_four_letters() {
  Draws draws(8);
  ValueBytes bytes(1);
  for (int line = 0; line < 3000; ++line) {
    for (int i = 0; i < 70; ++i) bytes.put("ACGT"[draws.below(4)]);
    bytes.put('\n');
  }
  return bytes.bytes();
}

TEST(PlannerAns, BytesOfFewKindsAreSymbolsAsTheyAre) {
  const Bytes letters = lines_of_four_letters();
  for (const int level : {3, 5, 6, 8}) {
    const auto model = plan_column(letters, "u8", at_level(level));
    EXPECT_EQ(model.section.coder, Coder::ans) << level;
    EXPECT_EQ(model.front.orders[0], 0) << level;
    EXPECT_EQ(model.front.num_strides, 0) << level;
  }
}

}  // namespace
}  // namespace gdelta::test
