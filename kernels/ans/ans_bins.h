// Bins for a table of the ans coder: where to cut sorted residuals so that symbols and offsets take the
// fewest bits. The cuts are found by dynamic programming over quantiles, as pcodec does it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/ans/ans_fit_rules.h"

namespace gdelta {

/// A stretch of residuals, ends included, as signed numbers.
struct ResidualRange {
  std::int64_t first, last;
};

struct BinEffort {
  std::uint32_t cells;  ///< of about equal count, which bins are made of
  std::uint32_t most_bins;
  std::uint64_t bin_bits;  ///< what a bin costs, in 1/256 bits of the sample
  /// Cells begin at ranks that are known beforehand, and no bin has more than kMostBinCells of them.
  bool for_warps = false;
  std::uint32_t fewest_of_cell = kFewestOfCell;
};

struct BinChoice {
  std::vector<ResidualRange> bins;  ///< from the lowest up, without overlaps
  std::uint64_t bits = 0;           ///< of the sample, bins included, in 1/256
};

/// Sorts it: by digits, which takes much less than comparing.
void sort_sample(std::span<std::int64_t> sample);

/// Bins of a sorted sample; what lies between them was not in the sample.
/// Complexity  O(sample + cells²)
BinChoice choose_bins(std::span<const std::int64_t> sorted, const BinEffort& effort);

}  // namespace gdelta
