// Which residuals share a table of the ans coder: spans of residuals are divided into clusters of alike
// spans, by rounds of "tables from members, members from tables" (k-means with code length as distance).
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/ans/ans_layout.h"
#include "kernels/ans/size_class.h"

namespace gdelta {

/// Coarse bins, the same for every column.
using ResidualClasses = SizeClasses<2, 256>;
inline constexpr int kResidualClasses = ResidualClasses::kCount;
inline constexpr int kMostClusters = 8;

/// What a residual of a class costs in each cluster, in 1/256 bits, but for the bits that tell residuals
/// of a class apart.
struct ClusterCosts {
  int clusters = 1;
  int span_bits = kMaxSpanBits;
  std::vector<std::uint32_t> costs;  // [class][kMostClusters]

  /// Adds up `count` residuals: sums[c] is what they cost in cluster c.
  template <class Word>
  void add(const Word* residuals, std::uint64_t count, std::uint32_t (&sums)[kMostClusters]) const;

  /// The cluster that suits them best; of equals the first.
  int cheapest(const std::uint32_t (&sums)[kMostClusters]) const {
    int best = 0;
    for (int c = 1; c < clusters; ++c)
      if (sums[c] < sums[best]) best = c;
    return best;
  }
};

struct ClusterEffort {
  int most_clusters;
  int rounds;
  std::uint64_t all_residuals;  ///< of which the sample is a part
};

/// Finds clusters, and the length of span, that make a sample short; one cluster if that is all that
/// `effort` allows. Each stretch has kMaxAnsTile residuals at most.
template <class Word>
ClusterCosts find_clusters(std::span<const std::span<const Word>> stretches,
                           const ClusterEffort& effort);

}  // namespace gdelta
