// Which residuals share a table of the ans coder: spans of residuals are divided into clusters of alike
// spans, by rounds of "tables from members, members from tables" (k-means with code length as distance).
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/ans/ans_layout.h"

namespace gdelta {

/// Classes by sign and size, four to an octave: coarse bins, the same for every column.
inline constexpr int kResidualClasses = 512;
inline constexpr int kMostClusters = 8;

/// Precondition: sign-extended.
template <class Word>
inline unsigned residual_class(Word residual) {
  using Signed = std::make_signed_t<Word>;
  const auto sign = static_cast<Word>(static_cast<Signed>(residual) >> (8 * sizeof(Word) - 1));
  const std::uint64_t size = residual ^ sign;
  // Below 8 each size is a class. The lowest bit set changes nothing from there on.
  const int exponent = 63 - __builtin_clzll(size | 4);
  const unsigned number =
      size < 4 ? static_cast<unsigned>(size)
               : static_cast<unsigned>(4 * (exponent - 1)) + ((size >> (exponent - 2)) & 3);
  return (kResidualClasses / 2 + number) ^ (sign != 0 ? kResidualClasses - 1 : 0);
}

/// Bits that tell the residuals of a class apart.
constexpr int class_offset_bits(int residual_class) {
  constexpr int kHalf = kResidualClasses / 2;
  const int number = residual_class < kHalf ? kHalf - 1 - residual_class : residual_class - kHalf;
  return number < 8 ? 0 : number / 4 - 1;
}

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
