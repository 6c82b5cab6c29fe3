// Lanes and byte planes out of records and back.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/words/lane_words.h"
#include "noise.h"

namespace gdelta {
namespace {

template <class Word>
void check_round_trip(int value_bytes) {
  for (const bool big_endian : {false, true}) {
    for (const bool ordered : {false, true}) {
      for (const std::size_t step : {0, 1, 2, 4, 5, 6, 8, 10, 12, 14, 20, 22}) {
        const std::size_t count = 600, step_bytes = value_bytes + step;
        const auto bytes = test::noise(count * step_bytes);
        const LaneFormat format{value_bytes, big_endian, static_cast<std::uint8_t>(ordered)};
        std::vector<Word> words(count);
        load_lane(bytes.data(), step_bytes, count, format, words.data());
        for (std::size_t i = 0; i < count; ++i) {
          std::uint64_t value = 0;
          for (int b = 0; b < value_bytes; ++b) {
            const int place = big_endian ? value_bytes - 1 - b : b;
            value |= std::uint64_t{bytes[i * step_bytes + place]} << (8 * b);
          }
          const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * value_bytes);
          const std::uint64_t sign = 1ull << (8 * value_bytes - 1);
          if (ordered) value ^= (value & sign) != 0 ? mask : sign;
          ASSERT_EQ(words[i] & mask, value);
        }
        // Stores touch the values alone.
        std::vector<unsigned char> back(bytes.size(), 0x5a);
        store_lane(words.data(), count, format, back.data(), step_bytes);
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(std::memcmp(&back[i * step_bytes], &bytes[i * step_bytes], value_bytes), 0);
          for (std::size_t k = value_bytes; k < step_bytes; ++k)
            ASSERT_EQ(back[i * step_bytes + k], 0x5a);
        }
      }
    }
  }
}

TEST(PlanesLane, LoadsAndStoresEveryWidthOrderAndMap) {
  for (const int bytes : {1, 2, 3, 4}) check_round_trip<std::uint32_t>(bytes);
  check_round_trip<std::uint64_t>(8);
}

template <class Word>
void check_all_lanes(int value_bytes) {
  for (const bool big_endian : {false, true})
    for (const bool ordered : {false, true})
      for (const int tuple : {1, 2, 3, 4, 5, 6, 7, 8}) {
        const std::size_t count = 131, lane_words = 140,
                          step_bytes = static_cast<std::size_t>(value_bytes * tuple);
        const auto bytes = test::noise(count * step_bytes);
        const LaneFormat format{value_bytes, big_endian, static_cast<std::uint8_t>(ordered)};
        std::vector<Word> words(lane_words * 8), expected = words;
        load_lanes(bytes.data(), tuple, count, format, words.data(), lane_words);
        for (int lane = 0; lane < tuple; ++lane)
          load_lane(bytes.data() + lane * value_bytes, step_bytes, count, format,
                    expected.data() + static_cast<std::size_t>(lane) * lane_words);
        ASSERT_EQ(words, expected);
        if (!ordered && !big_endian && value_bytes < 4)  // what lies above a value is left out
          for (Word& word : words) word |= static_cast<Word>(~Word{0} << (8 * value_bytes));
        std::vector<unsigned char> back(bytes.size());
        store_lanes(words.data(), lane_words, tuple, count, format, back.data());
        ASSERT_EQ(back, bytes) << value_bytes << " bytes, " << tuple << " lanes";
      }
}

TEST(PlanesLane, AllLanesAreTheSameAsOneAfterTheOther) {
  for (const int bytes : {1, 2, 3, 4}) check_all_lanes<std::uint32_t>(bytes);
  check_all_lanes<std::uint64_t>(8);
}

TEST(PlanesLane, OrderedFloatsSortLikeTheNumbers) {
  const float numbers[] = {-1e30f, -2.5f, -1e-40f, -0.0f, 0.0f, 1e-40f, 1.0f, 3e30f};
  std::uint32_t words[8];
  load_lane(reinterpret_cast<const unsigned char*>(numbers), 4, 8, {4, false, true}, words);
  for (int i = 1; i < 8; ++i) EXPECT_LT(words[i - 1], words[i]);
}

TEST(PlanesLane, SplitsAndMergesPlanes) {
  const std::vector<std::uint64_t> words{0x0807060504030201ull, 0x1817161514131211ull};
  std::vector<unsigned char> planes(24, 0);
  split_planes(words.data(), 2, 8, planes.data(), 3);
  for (int b = 0; b < 8; ++b) {
    EXPECT_EQ(planes[3 * b], b + 1);
    EXPECT_EQ(planes[3 * b + 1], 0x10 + b + 1);
  }
  std::vector<std::uint64_t> back(2);
  merge_planes(planes.data(), 3, 2, 8, back.data());
  EXPECT_EQ(back, words);
}

template <class Word>
void check_planes(int value_bytes) {
  for (std::size_t count = 0; count <= 50; ++count) {
    const std::size_t plane_bytes = count + 3;
    const auto planes = test::noise(plane_bytes * static_cast<std::size_t>(value_bytes));
    std::vector<Word> words(count), expected(count);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t b = 0; b < static_cast<std::size_t>(value_bytes); ++b)
        expected[i] |= static_cast<Word>(planes[b * plane_bytes + i]) << (8 * b);
    merge_planes(planes.data(), plane_bytes, count, value_bytes, words.data());
    ASSERT_EQ(words, expected) << count << " words of " << value_bytes << " bytes";
  }
}

TEST(PlanesLane, MergesPlanesOfAnyLength) {
  for (const int bytes : {1, 2, 3, 4}) check_planes<std::uint32_t>(bytes);
  check_planes<std::uint64_t>(8);
}

}  // namespace
}  // namespace gdelta
