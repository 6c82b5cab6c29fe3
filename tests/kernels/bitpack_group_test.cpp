// Packing of a group against the bit-by-bit definition of the format.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/group_pack.h"
#include "kernels/bitpack/order_cost.h"

namespace gdelta {
namespace {

template <class Word>
class BitpackGroup : public testing::Test {
 public:
  static constexpr int kBits = 8 * sizeof(Word);

  static Word low_bits(Word value, int width) {
    return width == 0 ? 0 : static_cast<Word>(value << (kBits - width)) >> (kBits - width);
  }

  std::vector<Word> random_words(int width) {
    std::vector<Word> words(kGroupValues);
    for (Word& word : words) word = low_bits(static_cast<Word>(random_()), width);
    return words;
  }

 private:
  std::mt19937_64 random_{7};
};

using Words = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(BitpackGroup, Words);

bool bit_of(const std::vector<unsigned char>& bytes, std::size_t bit) {
  return (bytes[bit / 8] >> (bit % 8) & 1) != 0;
}

TYPED_TEST(BitpackGroup, PutsEveryBitWhereTheFormatSays) {
  using Word = TypeParam;
  for (int width = 0; width <= TestFixture::kBits; ++width) {
    // Residuals may be wider than their fields; the rest is for exceptions.
    const std::vector<Word> residuals = this->random_words(TestFixture::kBits);
    std::vector<unsigned char> packed(16 * width + kUnpackSlack, 0xee);
    pack_group(residuals.data(), width, packed.data());
    for (int l = 0; l < 16; ++l) {
      for (int i = 0; i < 8; ++i) {
        const int slot = 16 * i + l;
        EXPECT_EQ(slot, slot_of_residual(8 * l + i));
        for (int b = 0; b < width; ++b) {
          ASSERT_EQ(bit_of(packed, static_cast<std::size_t>(slot) * width + b),
                    (residuals[8 * l + i] >> b & 1) != 0)
              << "width " << width << " slot " << slot << " bit " << b;
        }
      }
    }
    for (std::size_t k = 0; k < kUnpackSlack; ++k) ASSERT_EQ(packed[16 * width + k], 0xee);
    std::vector<Word> slots(kGroupValues);
    unpack_slots(packed.data(), width, slots.data());
    for (int p = 0; p < kGroupValues; ++p)
      ASSERT_EQ(slots[slot_of_residual(p)], TestFixture::low_bits(residuals[p], width));
  }
}

TYPED_TEST(BitpackGroup, CountsBitLengths) {
  using Word = TypeParam;
  for (int width = 0; width <= TestFixture::kBits; ++width) {
    const std::vector<Word> residuals = this->random_words(width);
    std::uint8_t expected[65] = {}, counts[65];
    for (const Word word : residuals) ++expected[std::bit_width(word)];
    count_bit_lengths(residuals.data(), counts);
    for (int b = 0; b < 65; ++b) ASSERT_EQ(counts[b], expected[b]);
  }
}

TYPED_TEST(BitpackGroup, CountsTheLengthsOfNumbersBesidePowersOfTwo) {
  using Word = TypeParam;
  std::vector<Word> residuals(kGroupValues);
  for (int shift = 0; shift < TestFixture::kBits; ++shift) {
    std::uint8_t expected[65] = {}, counts[65];
    for (int i = 0; i < kGroupValues; ++i) {
      const Word power = Word{1} << ((shift + i / 4) % TestFixture::kBits);
      const Word numbers[] = {power, power - 1, power + 1, static_cast<Word>(~power)};
      residuals[i] = numbers[i % 4];
      ++expected[std::bit_width(residuals[i])];
    }
    count_bit_lengths(residuals.data(), counts);
    for (int b = 0; b < 65; ++b) ASSERT_EQ(counts[b], expected[b]) << "shift " << shift;
  }
}

TYPED_TEST(BitpackGroup, SumsSlotsLikeTheDefinition) {
  using Word = TypeParam;
  for (int order = 0; order <= 8; ++order) {
    const std::vector<Word> slots = this->random_words(TestFixture::kBits);
    std::vector<Word> states = this->random_words(TestFixture::kBits);
    std::vector<Word> expected_states(states.begin(), states.begin() + 8), values(kGroupValues);
    sum_slots(slots.data(), order, states.data(), values.data());
    for (int p = 0; p < kGroupValues; ++p) {
      const Word z = slots[slot_of_residual(p)];
      Word sum = (z & 1) != 0 ? static_cast<Word>(~(z >> 1)) : z >> 1;
      for (int k = 0; k < order; ++k) sum = expected_states[k] += sum;
      ASSERT_EQ(values[p], sum) << "order " << order << " position " << p;
    }
    for (int k = 0; k < order; ++k) ASSERT_EQ(states[k], expected_states[k]);
  }
}

TEST(BitpackCost, IsThatOfTheWidthWithTheFewestBits) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::uint8_t counts[65] = {};
    const int longest = static_cast<int>(random() % 33);
    for (int k = 0; k < kGroupValues; ++k) {
      const bool outlier = random() % 20 == 0;
      ++counts[outlier ? random() % (longest + 1) : longest / 3];
    }
    std::uint32_t best = ~0u;
    for (int width = 0; width <= 32; ++width) {
      int exceptions = 0, most = width;
      for (int b = width + 1; b <= 32; ++b) {
        exceptions += counts[b];
        if (counts[b] > 0) most = b;
      }
      if (exceptions > 127) continue;
      const int high_bits = most - width;
      const int high_bytes = high_bits <= 8 ? 1 : high_bits <= 16 ? 2 : 4;
      best = std::min<std::uint32_t>(best, 128 * width + 8 * exceptions * (1 + high_bytes));
    }
    EXPECT_EQ(fewest_group_bits(counts, 32), best + 16);
  }
}

TEST(BitpackCost, SamplesGroupsInsideTheLane) {
  for (const std::uint64_t tuples : {1ull, 127ull, 128ull, 129ull, 12345ull, 1ull << 28}) {
    for (const int tuple : {1, 3, 64}) {
      for (const std::uint64_t groups :
           {std::uint64_t{96}, std::uint64_t{512}, ~std::uint64_t{0}}) {
        const GroupSample sample = sample_groups<std::uint64_t>(tuples, tuple, groups);
        ASSERT_GE(sample.count, 1u);
        for (std::uint64_t k = 0; k < std::min<std::uint64_t>(sample.count, 1000); ++k) {
          ASSERT_EQ(sample.first_tuple(k) % 128, 0u);
          ASSERT_LE(sample.first_tuple(k) + (tuples < 128 ? tuples : 128), tuples);
        }
        ASSERT_LE(sample.first_tuple(sample.count - 1) + (tuples < 128 ? tuples : 128), tuples);
      }
    }
  }
}

}  // namespace
}  // namespace gdelta
