// Which of several layouts that all make sense is taken.
#include <gtest/gtest.h>

#include "codec/detect/detect.h"
#include "codec/plan/planned_values.h"

namespace gdelta::test {
namespace {

void expect_found(const Bytes& bytes, const std::string& layout) {
  for (const int level : {1, 3, 5, 6, 9})
    EXPECT_EQ(to_string(detect_layout(bytes, level)), layout) << level;
}

TEST(DetectChoice, AHeadOfOddLengthHidesValues) {
  // One byte off, big-endian numbers of an upper byte and the next lower ones look like something.
  Draws draws(1);
  ValueBytes values(4);
  std::int64_t at = 0;
  for (int i = 0; i < 20000; ++i) {
    at += draws.around_zero(1 << 12);
    values.put(at);
    for (int lane = 1; lane < 4; ++lane) values.put(draws.below(1ll << 32));
  }
  expect_found(values.bytes(), "i32x4");
  Bytes shifted{std::byte{7}};
  shifted.insert(shifted.end(), values.bytes().begin(), values.bytes().end());
  expect_found(shifted, "u8");
}

TEST(DetectChoice, ALongTupleMustEarnItsLength) {
  // One value in eleven is always the same, which saves a tuple of eleven a tenth.
  Draws draws(2);
  ValueBytes values(2);
  for (int i = 0; i < 60000; ++i) values.put(i % 11 == 0 ? 3 : draws.around_zero(400));
  expect_found(values.bytes(), "i16");
}

TEST(DetectChoice, OfLayoutsThatCostAboutTheSameTheShortestRecordIsTaken) {
  // Noise of which every tuple is as good as the next, but for chance.
  for (unsigned seed = 1; seed <= 6; ++seed) {
    Draws draws(seed);
    ValueBytes values(2);
    for (int i = 0; i < 40000; ++i) values.put(draws.around_zero(1 + draws.below(500)));
    expect_found(values.bytes(), "i16");
  }
}

}  // namespace
}  // namespace gdelta::test
