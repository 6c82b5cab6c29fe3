// The loops by which detection looks at all layouts.
#include "kernels/bitpack/lag_bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <vector>

#include "kernels/bitpack/zigzag_length.h"

namespace gdelta {
namespace {

template <class Word>
Word plain_zigzag(Word residual, int spare_bits) {
  const int bits = static_cast<int>(8 * sizeof(Word)) - spare_bits;
  const std::uint64_t value = static_cast<std::uint64_t>(residual) >> spare_bits;
  const bool negative = value >> (bits - 1) & 1;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits);
  return static_cast<Word>(((value << 1) ^ (negative ? ~std::uint64_t{0} : 0)) & mask);
}

template <class Word>
std::vector<Word> some_words(std::size_t count, int spare_bits, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Word> words(count);
  for (Word& word : words) {
    const std::uint64_t drawn = random();
    word = static_cast<Word>(static_cast<Word>(random() >> drawn % 64) << spare_bits);
  }
  return words;
}

template <class Word>
void expect_plain_lag_bits(int spare_bits) {
  for (const std::size_t count : {6u, 95u, 96u, 97u, 1024u, 5000u})
    for (const std::size_t lag : {1u, 2u, 3u, 7u, 8u, 31u}) {
      const auto words =
          some_words<Word>(count + kLagPadding, spare_bits, static_cast<unsigned>(count + lag));
      const LagRuns runs = lag_runs(count, lag);
      if (runs.ways == 0) continue;
      ASSERT_LE(static_cast<std::size_t>(runs.ways) * runs.length + 2 * lag, count);
      std::uint64_t expected = 0;
      for (std::size_t i = 0; i < runs.length; ++i) {
        Word orders[3] = {};
        for (int way = 0; way < runs.ways; ++way) {
          const Word* const at = words.data() + static_cast<std::size_t>(way) * runs.length + i;
          const Word differences[] = {at[2 * lag], static_cast<Word>(at[2 * lag] - at[lag]),
                                      static_cast<Word>(at[2 * lag] - at[lag] - at[lag] + at[0])};
          for (int order = 0; order < 3; ++order)
            orders[order] =
                static_cast<Word>(orders[order] | plain_zigzag(differences[order], spare_bits));
        }
        expected += static_cast<std::uint64_t>(
            std::bit_width(*std::min_element(std::begin(orders), std::end(orders))));
      }
      EXPECT_EQ(lag_bits(words.data(), runs, lag, spare_bits), expected)
          << 8 * sizeof(Word) << " bits, " << count << ", lag " << lag;
    }
}

TEST(LagBits, AreThoseOfTheLongestZigzagOfEachPlaceAtItsBestOrder) {
  expect_plain_lag_bits<std::uint8_t>(0);
  expect_plain_lag_bits<std::uint16_t>(0);
  expect_plain_lag_bits<std::uint32_t>(8);
  expect_plain_lag_bits<std::uint32_t>(0);
  expect_plain_lag_bits<std::uint64_t>(0);
}

TEST(LagBits, RunsAreOfWholeLags) {
  for (std::size_t count = 0; count < 300; ++count)
    for (const std::size_t lag : {1u, 3u, 64u}) {
      const LagRuns runs = lag_runs(count, lag);
      EXPECT_EQ(runs.ways > 0, count >= 3 * lag);
      EXPECT_EQ(runs.length % lag, 0u);
      EXPECT_LE(runs.ways, 4);
      if (runs.ways > 0) {
        EXPECT_LE(static_cast<std::size_t>(runs.ways) * runs.length + 2 * lag, count);
      }
    }
}

TEST(LagBits, RepeatsAreBytesThatEqualTheOneALagBefore) {
  std::mt19937 random(3);
  std::vector<std::uint8_t> bytes(512 + 3 * kRepeatBlock);
  for (const unsigned kinds : {1u, 2u, 256u}) {
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() % kinds);
    std::vector<std::uint64_t> repeats(513, 7);
    add_lag_repeats(bytes.data() + 512, 3 * kRepeatBlock, 512, repeats.data());
    for (std::size_t lag = 1; lag <= 512; ++lag) {
      std::uint64_t expected = 7;
      for (std::size_t i = 512; i < bytes.size(); ++i) expected += bytes[i] == bytes[i - lag];
      EXPECT_EQ(repeats[lag], expected) << lag;
    }
  }
}

template <class Word>
void expect_plain_lengths(int spare_bits) {
  std::vector<Word> words = some_words<Word>(2000, spare_bits, 5);
  for (int bit = spare_bits; bit < static_cast<int>(8 * sizeof(Word)); ++bit)
    for (const int step : {-1, 0, 1}) {
      const auto power = static_cast<Word>(Word{1} << bit);
      const auto unit = static_cast<Word>(Word{1} << spare_bits);
      words.push_back(static_cast<Word>(power + static_cast<Word>(step) * unit));
    }
  for (const Word word : words) {
    const int expected = std::bit_width(plain_zigzag(word, spare_bits));
    EXPECT_EQ(zigzag_length(word, spare_bits), expected) << +word;
    EXPECT_EQ(word_bits(zigzag_of(word, spare_bits)), expected) << +word;
  }
}

TEST(LagBits, LengthsAreThoseOfTheZigzagAtEveryWidth) {
  expect_plain_lengths<std::uint8_t>(0);
  expect_plain_lengths<std::uint16_t>(0);
  expect_plain_lengths<std::uint32_t>(8);
  expect_plain_lengths<std::uint32_t>(0);
  expect_plain_lengths<std::uint64_t>(0);
}

}  // namespace
}  // namespace gdelta
