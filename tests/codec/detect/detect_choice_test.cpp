// Which of several layouts that all make sense is taken.
#include <gtest/gtest.h>

#include <vector>

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

/// Numbers that grow, and between them phrases that begin at any byte, as in a program.
Bytes numbers_and_phrases() {
  Draws draws(4);
  std::vector<std::vector<std::int64_t>> phrases(600);
  for (auto& phrase : phrases)
    phrase = draws.many_below(static_cast<std::size_t>(3 + draws.below(9)), 1 << 8);
  Bytes bytes;
  std::int64_t number = 0;
  for (int block = 1; block <= 60; ++block) {
    while (bytes.size() < static_cast<std::size_t>(block * 4096 - 1024))
      for (const std::int64_t byte : phrases[static_cast<std::size_t>(draws.below(600))])
        bytes.push_back(static_cast<std::byte>(byte));
    bytes.resize(static_cast<std::size_t>(block * 4096 - 1024));
    ValueBytes values(4);
    for (int i = 0; i < 256; ++i) values.put(number += draws.below(200));
    bytes.insert(bytes.end(), values.bytes().begin(), values.bytes().end());
  }
  return bytes;
}

TEST(DetectChoice, PhrasesThatBeginAtAnyByteOutweighNumbersAtLevelsThatLookForPhrases) {
  const Bytes bytes = numbers_and_phrases();
  for (const int level : {1, 2}) EXPECT_EQ(to_string(detect_layout(bytes, level)), "i32") << level;
  for (int level = 3; level <= 9; ++level)
    EXPECT_EQ(to_string(detect_layout(bytes, level)), "u8") << level;
}

TEST(DetectChoice, PhrasesOfValuesStayValues) {
  Draws draws(5);
  const auto words = draws.many_below(8 * 60, 1 << 14);
  ValueBytes values(4);
  for (int phrase = 0; phrase < 5000; ++phrase) {
    const auto first = static_cast<std::size_t>(8 * draws.below(60));
    for (std::size_t i = 0; i < 8; ++i) values.put(words[first + i]);
  }
  for (int level = 3; level <= 9; ++level)
    EXPECT_EQ(to_string(detect_layout(values.bytes(), level)), "i32") << level;
}

}  // namespace
}  // namespace gdelta::test
