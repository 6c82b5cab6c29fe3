// Which residuals share a table of the ans coder: spans of residuals are divided into clusters of alike
// spans, by rounds of "tables from members, members from tables" (k-means with code length as distance).
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/ans/ans_fit_rules.h"
#include "kernels/ans/ans_layout.h"
#include "kernels/ans/residual_classes.h"

namespace gdelta {

inline constexpr int kMostClusters = 16;

/// What a residual of a class costs in each cluster, in 1/64 bits, but for the bits that tell residuals of
/// a class apart. All of them are below 32 bits, so that 32 residuals add up in 16 bits.
struct ClusterCosts {
  static constexpr int kCostBits = 6;
  static constexpr std::uint32_t kMostCost = (32u << kCostBits) - 1;
  static constexpr std::size_t kUnit = 32;  ///< residuals

  int clusters = 1;
  int span_bits = kMaxSpanBits;
  std::vector<std::uint16_t> costs;  // [fine class][kMostClusters]

  /// Which cluster suits residuals of these fine classes best; of equals the first.
  int choose(std::span<const std::uint16_t> classes) const;
};

struct ClusterEffort {
  int most_clusters;
  int rounds;
  std::uint64_t all_residuals;  ///< of which the sample is a part
  std::uint64_t fewest_of_table = kFewestOfTable;
};

/// Finds clusters, and the length of span, that make a sample short; one cluster if that is all that
/// `effort` allows. `stretches`: fine classes of residuals, kMaxAnsTile at most each.
ClusterCosts find_clusters(std::span<const std::span<const std::uint16_t>> stretches,
                           const ClusterEffort& effort);

/// As many clusters as `effort` allows, half as many, and so on; one is the last.
std::vector<ClusterCosts> find_all_clusters(
    std::span<const std::span<const std::uint16_t>> stretches, const ClusterEffort& effort);

}  // namespace gdelta
