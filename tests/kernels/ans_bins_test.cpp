// Where a sample of residuals is cut into bins.
#include "kernels/ans/ans_bins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace gdelta {
namespace {

using Sample = std::vector<std::int64_t>;
constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();

constexpr BinEffort kUsualBins{.cells = 96, .most_bins = 127, .bin_bits = 32 << 8};

Sample sorted(Sample sample) {
  std::sort(sample.begin(), sample.end());
  return sample;
}

/// About 2^k of them for k up to `most_bits`, of both signs.
Sample sizes(std::size_t count, int most_bits, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Sample sample;
  for (std::size_t i = 0; i < count; ++i) {
    const auto size = static_cast<std::int64_t>(random() >> 1 >> (63 - random() % (most_bits + 1)));
    sample.push_back(random() % 2 == 0 ? size : -1 - size);
  }
  return sorted(sample);
}

/// Bins rise, do not touch each other, begin and end at values of the sample, and leave none out.
void expect_bins_of(const Sample& sample, const std::vector<ResidualRange>& bins) {
  std::size_t at = 0;
  for (const ResidualRange& bin : bins) {
    ASSERT_LT(at, sample.size());
    EXPECT_EQ(bin.first, sample[at]);
    while (at < sample.size() && sample[at] <= bin.last) ++at;
    ASSERT_GT(at, 0u);
    EXPECT_EQ(bin.last, sample[at - 1]);
    EXPECT_LE(bin.first, bin.last);
  }
  EXPECT_EQ(at, sample.size());
}

TEST(AnsBins, AreOfSamplesThatDigitsSort) {
  for (const int bits : {0, 1, 7, 8, 9, 33, 63})
    for (const std::size_t count : {0, 1, 2, 255, 5000}) {
      Sample sample = sizes(count, bits, count + 1);
      const Sample expected = sample;
      std::shuffle(sample.begin(), sample.end(), std::mt19937(2));
      sort_sample(sample);
      EXPECT_EQ(sample, expected) << bits;
    }
  Sample ends{kHighest, 0, kLowest, -1, kHighest, kLowest + 1};
  sort_sample(ends);
  EXPECT_EQ(ends, (Sample{kLowest, kLowest + 1, -1, 0, kHighest, kHighest}));
}

TEST(AnsBins, OfNothingAreNone) { EXPECT_TRUE(choose_bins({}, kUsualBins).bins.empty()); }

TEST(AnsBins, OfOneValueAreOne) {
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, kLowest, kHighest})
    for (const std::size_t count : {1, 2, 1000}) {
      const Sample sample(count, value);
      const auto bins = choose_bins(sample, kUsualBins).bins;
      ASSERT_EQ(bins.size(), 1u);
      EXPECT_EQ(bins[0].first, value);
      EXPECT_EQ(bins[0].last, value);
    }
}

TEST(AnsBins, HaveEveryValueOnce) {
  for (const int bits : {0, 1, 7, 20, 63})
    for (const std::size_t count : {1, 2, 95, 96, 97, 5000})
      for (const std::uint32_t cells : {1u, 2u, 96u}) {
        const Sample sample = sizes(count, bits, count);
        expect_bins_of(
            sample, choose_bins(sample, {.cells = cells, .most_bins = 127, .bin_bits = 500}).bins);
      }
  const Sample ends = sorted({kLowest, kLowest, -1, 0, 1, kHighest, kHighest});
  expect_bins_of(ends, choose_bins(ends, kUsualBins).bins);
}

TEST(AnsBins, AreNoMoreThanAskedFor) {
  const Sample sample = sizes(5000, 40, 3);
  ASSERT_GT(choose_bins(sample, {.cells = 96, .most_bins = 127, .bin_bits = 0}).bins.size(), 31u);
  for (const std::uint32_t most : {1u, 2u, 3u, 7u, 31u}) {
    const auto bins = choose_bins(sample, {.cells = 96, .most_bins = most, .bin_bits = 0}).bins;
    EXPECT_LE(bins.size(), most);
    expect_bins_of(sample, bins);
  }
}

TEST(AnsBins, AreFewWhereTheyCostMuch) {
  const Sample sample = sizes(5000, 40, 4);
  std::size_t before = 1000;
  for (const std::uint64_t bin_bits : {0ull, 1ull << 12, 1ull << 18, 1ull << 40}) {
    const std::size_t bins =
        choose_bins(sample, {.cells = 96, .most_bins = 127, .bin_bits = bin_bits}).bins.size();
    EXPECT_LE(bins, before);
    before = bins;
  }
  EXPECT_EQ(before, 1u);
}

TEST(AnsBins, DoNotBridgeAGapThatCostsMore) {
  Sample sample;
  for (std::int64_t i = 0; i < 2000; ++i) {
    sample.push_back(i % 16);
    sample.push_back(1'000'000 + i % 16);
  }
  sample = sorted(sample);
  const auto bins = choose_bins(sample, kUsualBins).bins;
  for (const ResidualRange& bin : bins) EXPECT_LT(bin.last - bin.first, 16);
}

TEST(AnsBins, GiveAFrequentValueABinOfItsOwn) {
  Sample sample(4000, 5);
  for (std::int64_t i = 0; i < 1000; ++i) sample.push_back(i);
  sample = sorted(sample);
  const auto bins = choose_bins(sample, kUsualBins).bins;
  EXPECT_TRUE(std::any_of(bins.begin(), bins.end(), [](const ResidualRange& bin) {
    return bin.first == 5 && bin.last == 5;
  }));
}

TEST(AnsBins, OfFewValuesAreFoundWhereCellsMayBeShort) {
  Sample sample{-1'000'000, -999'999};
  for (std::int64_t value = 0; value < 14; ++value) sample.push_back(value);
  BinEffort effort{.cells = 96, .most_bins = 127, .bin_bits = 8 << 8};
  const BinChoice usual = choose_bins(sample, effort);
  effort.fewest_of_cell = 1;
  const BinChoice fine = choose_bins(sample, effort);
  EXPECT_LT(fine.bits, usual.bits);
  expect_bins_of(sample, fine.bins);
}

}  // namespace
}  // namespace gdelta
