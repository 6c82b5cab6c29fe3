// How much of a sample repeats, in values of every width.
#include "codec/plan/repetition.h"

#include <gtest/gtest.h>

#include <vector>

#include "noise.h"

namespace gdelta {
namespace {

constexpr int kWidths[] = {2, 3, 4, 8};

TEST(Repetition, OfRandomValuesIsNone) {
  for (const int width : kWidths)
    EXPECT_FALSE(repeats(test::noise(4096 * static_cast<std::size_t>(width)), width, {0, 6}, 1));
}

TEST(Repetition, OfWhatIsThereTwiceIsAllOfTheSecond) {
  for (const int width : kWidths) {
    auto bytes = test::noise(1000 * static_cast<std::size_t>(width));
    const auto once = bytes;
    bytes.insert(bytes.end(), once.begin(), once.end());
    // Sequences meet in the table.
    EXPECT_TRUE(repeats(bytes, width, {0, 4}, 701)) << width;
    EXPECT_FALSE(repeats(bytes, width, {0, 4}, 1001)) << width;
  }
}

TEST(Repetition, OfShorterSequencesDoesNotCount) {
  auto bytes = test::noise(4 * 1000);
  for (std::size_t i = 0; i < 4 * 1000; i += 40)
    for (std::size_t k = 0; k < 12; ++k) bytes[i + k] = static_cast<unsigned char>(k);
  EXPECT_TRUE(repeats(bytes, 4, {0, 3}, 201));
  EXPECT_FALSE(repeats(bytes, 4, {0, 4}, 1));
}

TEST(Repetition, IsFoundAboveBitsThatDoNot) {
  auto bytes = test::noise(4 * 2000);
  for (std::size_t i = 4 * 1000; i < 4 * 2000; i += 4)
    for (std::size_t k = 2; k < 4; ++k) bytes[i + k] = bytes[i - 4 * 1000 + k];
  EXPECT_FALSE(repeats(bytes, 4, {8, 4}, 1));
  EXPECT_TRUE(repeats(bytes, 4, {16, 4}, 701));
}

TEST(Repetition, OfOneValueIsNearlyEverything) {
  const std::vector<unsigned char> bytes(8 * 100);
  EXPECT_TRUE(repeats(bytes, 8, {0, 10}, 99));
  EXPECT_FALSE(repeats(bytes, 8, {0, 10}, 100));
}

TEST(Repetition, OfSamplesNoLongerThanASequenceIsNone) {
  const std::vector<unsigned char> bytes(4 * 8);
  for (const std::size_t count : {0u, 1u, 7u, 8u})
    EXPECT_FALSE(repeats(std::span(bytes).first(4 * count), 4, {0, 8}, 1));
}

}  // namespace
}  // namespace gdelta
