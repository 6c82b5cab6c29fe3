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
    EXPECT_EQ(repeated_values(test::noise(4096 * static_cast<std::size_t>(width)), width, 0, 6),
              0u);
}

TEST(Repetition, OfWhatIsThereTwiceIsAllOfTheSecond) {
  for (const int width : kWidths) {
    auto bytes = test::noise(1000 * static_cast<std::size_t>(width));
    const auto once = bytes;
    bytes.insert(bytes.end(), once.begin(), once.end());
    const std::uint64_t repeated = repeated_values(bytes, width, 0, 4);
    // Sequences meet in the table.
    EXPECT_GT(repeated, 700u) << width;
    EXPECT_LE(repeated, 1000u) << width;
  }
}

TEST(Repetition, OfShorterSequencesDoesNotCount) {
  auto bytes = test::noise(4 * 1000);
  for (std::size_t i = 0; i < 4 * 1000; i += 40)
    for (std::size_t k = 0; k < 12; ++k) bytes[i + k] = static_cast<unsigned char>(k);
  EXPECT_GT(repeated_values(bytes, 4, 0, 3), 200u);
  EXPECT_EQ(repeated_values(bytes, 4, 0, 4), 0u);
}

TEST(Repetition, IsFoundAboveBitsThatDoNot) {
  auto bytes = test::noise(4 * 2000);
  for (std::size_t i = 4 * 1000; i < 4 * 2000; i += 4)
    for (std::size_t k = 2; k < 4; ++k) bytes[i + k] = bytes[i - 4 * 1000 + k];
  EXPECT_EQ(repeated_values(bytes, 4, 8, 4), 0u);
  EXPECT_GT(repeated_values(bytes, 4, 16, 4), 700u);
}

TEST(Repetition, OfOneValueIsNearlyEverything) {
  const std::vector<unsigned char> bytes(8 * 100);
  EXPECT_EQ(repeated_values(bytes, 8, 0, 10), 99u);
}

TEST(Repetition, OfSamplesNoLongerThanASequenceIsNone) {
  const std::vector<unsigned char> bytes(4 * 8);
  for (const std::size_t count : {0u, 1u, 7u, 8u})
    EXPECT_EQ(repeated_values(std::span(bytes).first(4 * count), 4, 0, 8), 0u);
}

}  // namespace
}  // namespace gdelta
