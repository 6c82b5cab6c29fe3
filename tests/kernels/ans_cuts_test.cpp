// In which bin a residual is, while it is not known what lies between those of the sample.
#include "kernels/ans/ans_cuts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace gdelta {
namespace {

template <class Word>
class AnsCutsTest : public testing::Test {
 public:
  using Signed = std::make_signed_t<Word>;
  static constexpr Signed kLowest = std::numeric_limits<Signed>::min();
  static constexpr Signed kHighest = std::numeric_limits<Signed>::max();

  /// Bins follow each other from end to end of the type, and the ends of each find it.
  static void expect_found(const AnsCuts<Word>& cuts) {
    ASSERT_GE(cuts.size(), 1);
    EXPECT_EQ(cuts.first(0), kLowest);
    EXPECT_EQ(cuts.last(cuts.size() - 1), kHighest);
    std::vector<Word> residuals;
    std::vector<std::uint8_t> expected;
    std::mt19937_64 random(3);
    for (int bin = 0; bin < cuts.size(); ++bin) {
      if (bin > 0) {
        ASSERT_EQ(static_cast<Word>(cuts.first(bin)),
                  static_cast<Word>(cuts.last(bin - 1)) + Word{1});
      }
      const auto first = static_cast<Word>(cuts.first(bin)),
                 last = static_cast<Word>(cuts.last(bin));
      const auto length = static_cast<Word>(last - first);
      const auto inside =
          static_cast<Word>(first + (length == ~Word{0} ? random() : random() % (length + 1)));
      for (const Word residual : {first, last, inside}) {
        residuals.push_back(residual);
        expected.push_back(static_cast<std::uint8_t>(bin));
      }
    }
    for (std::size_t count = 0; count <= residuals.size();
         count = count < 20 ? count + 1 : std::max(2 * count, residuals.size())) {
      std::vector<std::uint16_t> classes(count);
      find_fine_classes(residuals.data(), count, classes.data());
      std::vector<std::uint8_t> bins(count + 1, 0xab);
      cuts.find({residuals.data(), count}, classes.data(), bins.data());
      ASSERT_TRUE(std::equal(bins.begin(), bins.end() - 1, expected.begin())) << count;
      EXPECT_EQ(bins.back(), 0xab);
      if (count == residuals.size()) break;
    }
    expect_unknown(cuts, expected);
  }
  /// Bins that the sample did not have are told apart, by vectors, too.
  static void expect_unknown(const AnsCuts<Word>& cuts, const std::vector<std::uint8_t>& bins) {
    for (std::size_t at = 0; at < bins.size(); at += 7)
      for (const std::size_t most : {1u, 31u, 32u}) {
        const std::size_t count = std::min(most, bins.size() - at);
        std::uint32_t unknown = 0;
        for (std::size_t i = 0; i < count; ++i)
          if (cuts.offset_bits(bins[at + i]) == AnsCuts<Word>::kUnknown) unknown |= 1u << i;
        ASSERT_EQ(cuts.unknown_of(bins.data() + at, count), unknown) << at << ' ' << count;
      }
  }
  static void expect_found(const std::vector<ResidualRange>& bins) {
    expect_found(AnsCuts<Word>(bins));
  }
};
using Words = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(AnsCutsTest, Words);

TYPED_TEST(AnsCutsTest, OfNothingAreOneBin) {
  const AnsCuts<TypeParam> cuts({});
  EXPECT_EQ(cuts.size(), 1);
  EXPECT_EQ(cuts.offset_bits(0), AnsCuts<TypeParam>::kUnknown);
  this->expect_found(cuts);
}

TYPED_TEST(AnsCutsTest, HaveTheEndsOfTheType) {
  using Own = AnsCutsTest<TypeParam>;
  for (const std::int64_t value :
       {std::int64_t{Own::kLowest}, std::int64_t{-1}, std::int64_t{0}, std::int64_t{Own::kHighest}})
    this->expect_found(std::vector<ResidualRange>{{value, value}});
  this->expect_found(std::vector<ResidualRange>{{Own::kLowest, Own::kHighest}});
  this->expect_found(
      std::vector<ResidualRange>{{Own::kLowest, Own::kLowest}, {Own::kHighest, Own::kHighest}});
}

TYPED_TEST(AnsCutsTest, HaveManyBinsInOneClass) {
  for (const std::int64_t distance : {1, 2, 3, 40})
    for (const int count : {1, 2, 3, 4, 5, 7, 8, 9, 64, 127})
      for (const std::int64_t from :
           {std::int64_t{-50}, std::int64_t{1} << 20, -(std::int64_t{1} << 20)}) {
        std::vector<ResidualRange> bins;
        for (int b = 0; b < count; ++b) bins.push_back({from + b * distance, from + b * distance});
        ASSERT_NO_FATAL_FAILURE(this->expect_found(bins)) << count << " from " << from;
      }
}

TYPED_TEST(AnsCutsTest, HaveBinsThatReachIntoTheNext) {
  // 5 values take offsets of 3 bits, which reach further.
  const std::vector<ResidualRange> bins{{0, 4}, {6, 6}, {7, 11}, {100, 1000}};
  const AnsCuts<TypeParam> cuts(bins);
  this->expect_found(cuts);
  EXPECT_EQ(cuts.offset_bits(1), 3);
  EXPECT_EQ(cuts.last(1), 5);
}

}  // namespace
}  // namespace gdelta
