// Where to cut a row of cells into bins, so that a sample takes the fewest bits. By integers alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gdelta {

/// Cells from the lowest up, as vectors load them.
struct CutCells {
  std::vector<std::uint64_t> firsts, lasts;  ///< residuals
  std::vector<std::uint64_t> befores;  ///< values of the sample before each cell, and all of them
  std::size_t size() const { return firsts.size(); }
};

/// The best last bin of the cells before an end.
struct CutEnds {
  std::vector<std::uint64_t> costs;  ///< of all bins, in 1/256 bits
  std::vector<std::uint32_t> froms;  ///< the cell that begins the last one
};

/// For every number of cells from none to all of them. `bin_bits`: what a bin takes, in 1/256 bits.
CutEnds search_cuts(const CutCells& cells, std::uint64_t bin_bits);

/// The same, without vectors.
CutEnds search_cuts_one_by_one(const CutCells& cells, std::uint64_t bin_bits);

/// Of bins of at most kMostBinCells cells, every one of them.
CutEnds search_short_cuts(const CutCells& cells, std::uint64_t bin_bits);

}  // namespace gdelta
