// How long residuals of low orders are, against one residual after the other.
#include "kernels/deltas/delta_bits.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <vector>

#include "kernels/deltas/zigzag.h"

namespace gdelta {
namespace {

template <class Word>
void expect_plain_delta_bits(int value_bits) {
  std::mt19937_64 random(5);
  for (const std::size_t count : {0u, 1u, 3u, 4u, 5u, 12u, 127u, 128u, 129u}) {
    std::vector<Word> words(count);
    for (Word& word : words) word = static_cast<Word>(random() >> random() % 64);
    for (int highest = 0; highest <= 3; ++highest) {
      const auto history = static_cast<std::size_t>(highest);
      std::vector<std::uint64_t> expected(history + 1, 7), bits = expected;
      std::vector<Word> residuals = words;
      for (std::size_t order = 0; order <= history; ++order) {
        for (std::size_t i = history; i < count; ++i)
          expected[order] +=
              static_cast<std::uint64_t>(std::bit_width(zigzag_encode(residuals[i], value_bits)));
        for (std::size_t i = count; i-- > 1;) residuals[i] -= residuals[i - 1];
      }
      std::vector<Word> destroyed = words;
      add_delta_bits(destroyed.data(), count, value_bits, highest, bits.data());
      EXPECT_EQ(bits, expected) << count << " words, order " << highest << ", " << value_bits;
    }
  }
}

TEST(DeltaBits, AreThoseOfEachResidual) {
  for (const int value_bits : {8, 16, 24, 32}) expect_plain_delta_bits<std::uint32_t>(value_bits);
  expect_plain_delta_bits<std::uint64_t>(64);
}

}  // namespace
}  // namespace gdelta
