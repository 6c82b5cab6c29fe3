// What a sample says of how many different values a lane has.
#include "codec/coders/maps/dictionary_choice.h"

#include <gtest/gtest.h>

#include <vector>

#include "codec/plan/planned_values.h"

namespace gdelta::test {
namespace {

constexpr std::uint64_t kManyValues = 1 << 16;

std::vector<std::uint64_t> draws_below(int count, std::int64_t end) {
  Draws draws(7);
  std::vector<std::uint64_t> words;
  for (int i = 0; i < count; ++i) words.push_back(static_cast<std::uint64_t>(draws.below(end)));
  return words;
}

TEST(FewValues, AreTheValuesOfTheSampleAsNumbersRise) {
  const auto few = few_values({7, 3, 0xffff, 3, 7, 3, 0xffff, 7}, kManyValues, ValueType::i16);
  ASSERT_TRUE(few);
  EXPECT_EQ(few->values, (std::vector<std::uint64_t>{0xffff, 3, 7}));
}

TEST(FewValues, AreNoneIfMostAreThereOnce) {
  EXPECT_FALSE(few_values(draws_below(1000, 1ll << 40), kManyValues, ValueType::i64));
}

TEST(FewValues, AreNoneIfThereAreMoreThanATableMayHold) {
  EXPECT_TRUE(few_values(draws_below(1000, 20), 20, ValueType::i32));
  EXPECT_FALSE(few_values(draws_below(1000, 20), 19, ValueType::i32));
}

TEST(FewValues, AreFoundAlsoIfOneOfAFewWordsAlwaysDiffers) {
  // Every fourth word is a new one, the others are all the same.
  std::vector<std::uint64_t> words(1000);
  for (std::size_t i = 1; i < words.size(); i += 4) words[i] = i;
  EXPECT_TRUE(few_values(words, kManyValues, ValueType::i32));
}

TEST(FewValues, AreAllThereAreIfEachIsThereOften) {
  const auto few = few_values(draws_below(1000, 20), kManyValues, ValueType::i32);
  ASSERT_TRUE(few);
  EXPECT_EQ(few->values.size(), 20u);
  EXPECT_EQ(few->expected, 20u);
}

TEST(FewValues, AreMoreByThoseThatTheSampleHasMissed) {
  const auto few = few_values(draws_below(4096, 5000), kManyValues, ValueType::i32);
  ASSERT_TRUE(few);
  EXPECT_LT(few->values.size(), 3000u);
  EXPECT_GT(few->expected, 4500u);
  EXPECT_LT(few->expected, 5500u);
}

TEST(FewValues, ByTheRuleOnceAndTwice) {
  // Four once, two twice, one thrice: 7 + 4 x 3 / (2 x 3).
  const auto few = few_values({1, 2, 3, 4, 5, 5, 6, 6, 7, 7, 7}, kManyValues, ValueType::i32);
  ASSERT_TRUE(few);
  EXPECT_EQ(few->values.size(), 7u);
  EXPECT_EQ(few->expected, 9u);
}

TEST(MostTableEntries, AreAShareOfTheRecordsUpToAllThatATableHolds) {
  EXPECT_EQ(most_table_entries(7), 0u);
  EXPECT_EQ(most_table_entries(8000), 1000u);
  EXPECT_EQ(most_table_entries(std::uint64_t{1} << 40), std::uint64_t{1} << 16);
}

}  // namespace
}  // namespace gdelta::test
