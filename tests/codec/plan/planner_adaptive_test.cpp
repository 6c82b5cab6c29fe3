// Where the adaptive coder is planned: at the highest level, of columns that are short.
#include <gtest/gtest.h>

#include "codec/plan/levels.h"
#include "codec/plan/planned_values.h"

namespace gdelta::test {
namespace {

/// Steps of all sizes, so that their tables and states would take a good part of what few of them take.
Bytes uneven_steps(std::size_t count) {
  Draws draws(3);
  ValueBytes values(8);
  std::int64_t value = 0;
  for (std::size_t i = 0; i < count; ++i)
    values.put(value += 1 + draws.below(1 << (1 + draws.below(14))));
  return values.bytes();
}

Coder coder_of(const Bytes& values, const EncodeSettings& settings) {
  return plan_chunk(values, layout_of("u64"), false, settings).columns[0].section.coder;
}

TEST(PlannerAdaptive, TakesShortColumnsAtTheHighestLevelAlone) {
  for (int level = 1; level <= 9; ++level)
    EXPECT_EQ(coder_of(uneven_steps(200), at_level(level)) == Coder::adaptive, level == 9) << level;
}

TEST(PlannerAdaptive, IsNotTriedOnColumnsThatAreLong) {
  EXPECT_NE(coder_of(uneven_steps(kShortColumn / 8 + 1), at_level(9)), Coder::adaptive);
}

TEST(PlannerAdaptive, TakesWhatItIsAskedFor) {
  EncodeSettings settings = at_level(1);
  settings.coder = Coder::adaptive;
  EXPECT_EQ(coder_of(uneven_steps(kShortColumn / 8 + 1), settings), Coder::adaptive);
}

TEST(PlannerAdaptive, IsNotPlannedForADevice) {
  EncodeSettings settings = at_level(9);
  settings.device_decodable = true;
  EXPECT_NE(coder_of(uneven_steps(200), settings), Coder::adaptive);
}

}  // namespace
}  // namespace gdelta::test
