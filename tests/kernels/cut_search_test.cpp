// Searches for cuts by vectors find what one comparison after the other finds.
#include "kernels/ans/cut_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "kernels/ans/ans_fit_rules.h"
#include "kernels/ans/fixed_log2.h"

namespace gdelta {
namespace {

/// Cells of up to 2^`most_count_bits` values, of up to 2^`most_bits` residuals and as far apart.
CutCells random_cells(std::size_t size, int most_count_bits, int most_bits, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](int bits) { return random() >> 1 >> (63 - random() % (bits + 1)); };
  CutCells cells;
  std::uint64_t next = 0 - (std::uint64_t{1} << most_bits), values = 0;
  for (std::size_t i = 0; i < size; ++i) {
    cells.firsts.push_back(next += up_to(most_bits));
    cells.lasts.push_back(next += random() % 4 == 0 ? 0 : up_to(most_bits));
    cells.befores.push_back(values);
    values += 1 + up_to(most_count_bits);
    ++next;
  }
  cells.befores.push_back(values);
  return cells;
}

void expect_same(const CutCells& cells, std::uint64_t bin_bits) {
  const CutEnds found = search_cuts(cells, bin_bits),
                expected = search_cuts_one_by_one(cells, bin_bits);
  EXPECT_EQ(found.costs, expected.costs);
  EXPECT_EQ(found.froms, expected.froms);
}

TEST(CutSearch, FindsWhatOneByOneFinds) {
  std::uint64_t seed = 1;
  for (std::size_t size = 1; size < 420; size += size < 40 ? 1 : 61)
    for (const int count_bits : {0, 4, 14})
      for (const int bits : {0, 3, 12, 31, 54})
        for (const std::uint64_t bin_bits : {1, 500, 8193, 1 << 20}) {
          SCOPED_TRACE(testing::Message()
                       << size << " cells, " << count_bits << ", " << bits << ", " << bin_bits);
          expect_same(random_cells(size, count_bits, bits, seed++), bin_bits);
        }
}

/// What the bin of cells [from, end) costs.
std::uint64_t cost_of(const CutCells& cells, std::uint64_t from, std::uint64_t end,
                      std::uint64_t bin_bits) {
  const std::uint64_t values = cells.befores[end] - cells.befores[from];
  const auto offset_bits =
      static_cast<std::uint64_t>(std::bit_width(cells.lasts[end - 1] - cells.firsts[from]));
  return values * (fixed_log2(cells.befores.back()) - fixed_log2(values) +
                   (offset_bits << kFixedLog2Bits)) +
         bin_bits;
}

TEST(CutSearch, ShortBinsAreTheBestOfThoseWithSoManyCells) {
  for (const std::size_t size : {1, 31, 32, 33, 34, 100}) {
    for (const std::uint64_t bin_bits : {1, 500, 1 << 22}) {
      const CutCells cells = random_cells(size, 4, 3, size + bin_bits);
      const CutEnds found = search_short_cuts(cells, bin_bits);
      for (std::size_t end = 1; end <= size; ++end) {
        std::uint64_t least = ~std::uint64_t{0};
        for (std::size_t from = end - std::min<std::size_t>(end, kMostBinCells); from < end; ++from)
          least = std::min(least, found.costs[from] + cost_of(cells, from, end, bin_bits));
        ASSERT_EQ(found.costs[end], least) << size << " cells, bins " << bin_bits;
        ASSERT_LE(end - found.froms[end], kMostBinCells);
      }
    }
  }
}

TEST(CutSearch, TakesTheShortestOfEquallyGoodBins) {
  for (const std::size_t size : {1, 7, 8, 9, 100}) {
    CutCells cells;
    for (std::size_t i = 0; i < size; ++i) {
      cells.firsts.push_back(4 * i);
      cells.lasts.push_back(4 * i + 3);
      cells.befores.push_back(16 * i);
    }
    cells.befores.push_back(16 * size);
    for (const std::uint64_t bin_bits : {0, 1, 256, 1 << 16}) expect_same(cells, bin_bits);
  }
}

TEST(CutSearch, KnowsWholeRangesOfNumbers) {
  CutCells cells;
  for (std::uint64_t i = 0; i < 20; ++i) {
    cells.firsts.push_back(i == 0 ? std::uint64_t{1} << 63 : (std::uint64_t{1} << 63) + (i << 58));
    cells.lasts.push_back(cells.firsts.back() + (std::uint64_t{1} << 58) - 1);
    cells.befores.push_back(3 * i);
  }
  cells.lasts.back() = ~(std::uint64_t{1} << 63);
  cells.befores.push_back(60);
  for (std::uint64_t bin_bits = 1; bin_bits < 1 << 16; bin_bits += bin_bits / 4 + 1)
    expect_same(cells, bin_bits);
}

}  // namespace
}  // namespace gdelta
