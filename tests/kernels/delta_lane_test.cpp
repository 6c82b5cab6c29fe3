// Differences along a lane and over strides, and back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/deltas/lane_delta.h"
#include "kernels/deltas/stride_delta.h"
#include "kernels/deltas/zigzag.h"

namespace gdelta {
namespace {

TEST(DeltaZigzag, OrdersNumbersByMagnitudeAtEveryWidth) {
  for (const int bits : {8, 16, 24, 32}) {
    const std::uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
    const std::uint32_t top = 1u << (bits - 1);
    EXPECT_EQ(zigzag_encode<std::uint32_t>(0, bits), 0u);
    EXPECT_EQ(zigzag_encode<std::uint32_t>(mask, bits), 1u);  // -1
    EXPECT_EQ(zigzag_encode<std::uint32_t>(1, bits), 2u);
    EXPECT_EQ(zigzag_encode<std::uint32_t>(top - 1, bits), mask - 1);
    EXPECT_EQ(zigzag_encode<std::uint32_t>(top, bits), mask);       // the most negative
    EXPECT_EQ(zigzag_encode<std::uint32_t>(~mask | 5, bits), 10u);  // higher bits are ignored
    for (std::uint32_t value = 0; value < 70000; value += 7)
      EXPECT_EQ(zigzag_decode(zigzag_encode(value, bits)) & mask, value & mask);
  }
  EXPECT_EQ(zigzag_encode<std::uint64_t>(1ull << 63, 64), ~0ull);
  EXPECT_EQ(zigzag_decode(~0ull), 1ull << 63);
}

template <class Word>
void check_lane(int bits) {
  std::mt19937_64 random(bits);
  for (int order = 0; order <= kMaxDeltaOrder; ++order) {
    for (const std::size_t count : {1u, 2u, 7u, 128u, 1000u}) {
      std::vector<Word> lane(order + count);
      for (Word& value : lane) value = static_cast<Word>(random());
      std::vector<Word> words = lane, states(kMaxDeltaOrder);
      difference_lane(words.data(), count, order, bits, states.data());
      std::vector<Word> destroyed = lane, own_states(kMaxDeltaOrder), residuals(count);
      difference_residuals(destroyed.data(), count, order, bits, own_states.data(),
                           residuals.data());
      EXPECT_EQ(own_states, states);
      for (std::size_t i = 0; i < count; ++i) {
        // The binomial sum that q differences are.
        Word expected = 0, coefficient = 1;
        for (int k = 0; k <= order; ++k) {
          expected += (k % 2 == 0 ? coefficient : Word{0} - coefficient) * lane[order + i - k];
          coefficient = coefficient * static_cast<Word>(order - k) / static_cast<Word>(k + 1);
        }
        ASSERT_EQ(words[i], zigzag_encode(expected, bits));
        ASSERT_EQ(residuals[i], zigzag_decode(words[i]));
      }
      sum_lane(words.data(), count, order, states.data());
      const Word mask = static_cast<Word>(~std::uint64_t{0} >> (64 - bits));
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(words[i] & mask, lane[order + i] & mask) << "order " << order << " at " << i;
    }
  }
}

TEST(DeltaLane, TakesAndUndoesDifferencesOfEveryOrder) {
  for (const int bits : {8, 16, 24, 32}) check_lane<std::uint32_t>(bits);
  check_lane<std::uint64_t>(64);
}

template <class Word>
void check_pieces() {
  std::mt19937_64 random(8 * sizeof(Word));
  for (int order = 0; order <= kMaxDeltaOrder; ++order) {
    std::vector<Word> words(777), states(kMaxDeltaOrder), residuals;
    for (Word& word : words) word = static_cast<Word>(random());
    for (Word& state : states) state = static_cast<Word>(random());
    for (const Word word : words) residuals.push_back(zigzag_decode(word));
    std::vector<Word> expected = residuals, states_of_pieces = states;
    sum_residuals(expected.data(), expected.size(), order, states.data());
    for (std::size_t at = 0, count = 0; at < words.size(); at += count, ++count)
      sum_lane(words.data() + at, std::min(count, words.size() - at), order,
               states_of_pieces.data());
    ASSERT_EQ(words, expected) << "order " << order;
    ASSERT_EQ(states_of_pieces, states) << "order " << order;
  }
}

TEST(DeltaLane, SumsOfPiecesGoOnWhereTheLastEnded) {
  check_pieces<std::uint32_t>();
  check_pieces<std::uint64_t>();
}

TEST(DeltaStride, SumsOverEveryDistance) {
  std::mt19937_64 random(1);
  for (const int bytes : {1, 2, 3, 4, 8}) {
    for (const std::size_t distance : {1u, 2u, 31u, 32u, 33u, 99u}) {
      for (const std::size_t count : {1u, 98u, 99u, 500u}) {
        for (const int order : {1, 2, 8}) {
          std::vector<unsigned char> values(count * bytes);
          for (unsigned char& byte : values) byte = static_cast<unsigned char>(random());
          std::vector<std::uint64_t> expected(count);
          for (std::size_t i = 0; i < count; ++i)
            std::memcpy(&expected[i], values.data() + i * bytes, bytes);
          for (int pass = 0; pass < order; ++pass) {
            for (std::size_t i = distance; i < count; ++i) expected[i] += expected[i - distance];
          }
          sum_stride(values.data(), count, bytes, distance, order);
          for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ(std::memcmp(&expected[i], values.data() + i * bytes, bytes), 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace gdelta
