// Fits tables of the ans coder to the residuals of a column: clusters and bins from a sample, then
// frequencies and the ends of bins from all residuals, so that no residual is without a bin.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/ans/ans_bins.h"
#include "kernels/ans/ans_clusters.h"
#include "kernels/ans/ans_tables.h"

namespace gdelta {

struct AnsEffort {
  int most_tables;                  ///< at most kMostClusters
  int rounds;                       ///< of clustering
  std::uint64_t sampled_stretches;  ///< of kMaxAnsTile residuals
  std::uint32_t cells;              ///< that bins are made of
};

/// What was found in the bins of all tables; adds up over stretches in any order.
template <class Word>
struct AnsCounts {
  using Signed = std::make_signed_t<Word>;
  static constexpr int kBins = kMostClusters * kMaxTableBins;
  static constexpr int kCopies = 4;  // neighbours are counted apart: they are often in the same bin

  /// The lowest and the highest residual.
  struct Reach {
    Signed first = std::numeric_limits<Signed>::max();
    Signed last = std::numeric_limits<Signed>::min();
  };
  std::vector<std::uint32_t> counts = std::vector<std::uint32_t>(kCopies * kBins);
  std::vector<Reach> reaches = std::vector<Reach>(kBins);  // of bins that the sample did not have

  void add(const AnsCounts& other);
  std::uint64_t count_of(int bin) const;
};

/// To find bins: few of these classes have residuals of two.
using FineClasses = SizeClasses<4, 1024>;

template <class Word>
class AnsFit {
 public:
  /// `lanes`: the residuals, sign-extended, of each lane of each page.
  AnsFit(std::span<const std::span<const Word>> lanes, const AnsEffort& effort);

  int tables() const { return chosen_.clusters.clusters; }
  int span_bits() const { return chosen_.clusters.span_bits; }

  /// Which table suits a span.
  int choose_table(std::span<const Word> span) const;

  /// The bins of a span in its table, by names that `finish` knows, and counts them.
  void classify(int table, std::span<const Word> span, std::uint8_t* bins,
                AnsCounts<Word>& counts) const;

  /// Tables with the bins that have residuals; `names` says which they were before.
  AnsTables<Word> finish(const AnsCounts<Word>& counts, AnsNames& names) const;

 private:
  using Signed = std::make_signed_t<Word>;
  // Bins that follow each other without gaps: those of the sample, and what lies between them.
  struct Cuts {
    static constexpr std::uint8_t kUnknown = 255;
    std::vector<Signed> firsts;
    std::vector<std::uint8_t> offset_bits;               // kUnknown of what the sample did not have
    std::uint8_t bin_of_class[FineClasses::kCount + 1];  // of the lowest residual of a class
  };
  // Clusters and the bins of each; `bits` of the sample, in 1/256.
  struct Division {
    ClusterCosts clusters;
    std::vector<Cuts> cuts;
    std::uint64_t bits = 0;
  };
  Division divide(std::span<const std::span<const Word>> stretches, const AnsEffort& effort,
                  int most_tables) const;
  BinChoice choose_bins_of(std::vector<std::int64_t>& sample, std::uint64_t all, int tables,
                           std::uint32_t cells) const;
  static Cuts cut(const std::vector<ResidualRange>& bins);
  static int choose_of(const ClusterCosts& clusters, std::span<const Word> span);

  std::uint64_t residuals_ = 0;
  Division chosen_;
};

}  // namespace gdelta
