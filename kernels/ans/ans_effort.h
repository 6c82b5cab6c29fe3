// How hard the ans coder looks for what suits a column: for its tables, and how long its pages are.
#pragma once

#include <cstdint>

#include "kernels/ans/ans_fit_rules.h"
#include "kernels/ans/ans_layout.h"

namespace gdelta {

struct AnsEffort {
  int most_tables = 8;  ///< at most kMostClusters
  /// Of more tables one alone is not tried: their residuals hardly repeat.
  int most_to_single = 4;
  int rounds = 3;                         ///< of clustering
  std::uint64_t sampled_stretches = 128;  ///< of kMaxAnsTile residuals
  std::uint32_t cells = 256;              ///< that bins are made of
  std::uint64_t table_sample = 4096;      ///< residuals of each table that its bins are found from
  /// Looks for bins as a warp does it side by side (kMostBinCells of ans_fit_rules.h).
  bool for_warps = false;
  /// Fits several numbers of tables and counts what all residuals take; a sample decides otherwise.
  bool counts_several = false;
  /// Then counts with what lower levels fit, too, so that looking longer never makes a column longer.
  bool counts_usual = true;
  std::uint64_t fewest_of_table = kFewestOfTable;
  std::uint32_t fewest_of_cell = kFewestOfCell;
  std::uint64_t page_residuals =
      kUsualAnsPage;  ///< about; fewer pages decode side by side if they are long
};

}  // namespace gdelta
