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
#include "kernels/ans/ans_cuts.h"
#include "kernels/ans/ans_effort.h"
#include "kernels/ans/ans_tables.h"

namespace gdelta {

/// What was found in the bins of all tables; adds up over stretches in any order.
template <class Word>
struct AnsCounts {
  using Signed = std::make_signed_t<Word>;
  static constexpr int kCopies = 4;  // neighbours are counted apart: they are often in the same bin

  /// The lowest and the highest residual.
  struct Reach {
    Signed first = std::numeric_limits<Signed>::max();
    Signed last = std::numeric_limits<Signed>::min();
  };
  int bins;
  std::vector<std::uint32_t> counts;
  std::vector<Reach> reaches;  // of bins that the sample did not have

  explicit AnsCounts(int tables)
      : bins(tables * kMaxTableBins), counts(kCopies * bins), reaches(bins) {}
  void add(const AnsCounts& other);
  std::uint64_t count_of(int bin) const;
};

template <class Word>
struct FinishedAnsFit {
  AnsTables<Word> tables;
  AnsNames names;  ///< what was classified is called so
  /// What tables, symbols and offsets take, in 1/256 bits; selectors do not count.
  std::uint64_t bits = 0;
};

template <class Word>
class AnsFit {
 public:
  /// `lanes`: the residuals, sign-extended, of each lane of each page.
  AnsFit(std::span<const std::span<const Word>> lanes, const AnsEffort& effort);

  /// With each number of tables, but for those of which the sample says that they are hopeless.
  static std::vector<AnsFit> several(std::span<const std::span<const Word>> lanes,
                                     const AnsEffort& effort);

  int tables() const { return chosen_.clusters.clusters; }
  int span_bits() const { return chosen_.clusters.span_bits; }

  /// Which table suits a span, of whose residuals these are the fine classes.
  int choose_table(std::span<const std::uint16_t> classes) const;

  /// The bins of a span in its table, by names that `finish` knows, and counts them. `classes`: its fine
  /// classes.
  void classify(int table, std::span<const Word> span, const std::uint16_t* classes,
                std::uint8_t* bins, AnsCounts<Word>& counts) const;

  /// Tables with the bins that have residuals, which are signed numbers of `value_bits` bits.
  FinishedAnsFit<Word> finish(const AnsCounts<Word>& counts, int value_bits) const;

 private:
  using Signed = std::make_signed_t<Word>;
  struct Sample;
  // Clusters and the bins of each; `bits` of the sample, in 1/256.
  struct Division {
    ClusterCosts clusters;
    std::vector<AnsCuts<Word>> cuts;
    std::uint64_t bits = 0;
  };
  AnsFit(std::uint64_t residuals, const AnsEffort& effort, Division division)
      : residuals_(residuals), choice_step_(choice_step_of(effort)), chosen_(std::move(division)) {}
  static std::size_t choice_step_of(const AnsEffort& effort) {
    return effort.for_warps ? kChoiceStep : 1;
  }
  static Division divide(const Sample& sample, const AnsEffort& effort,
                         const ClusterCosts& clusters);
  static BinChoice choose_bins_of(std::span<std::int64_t> residuals, std::uint64_t all, int tables,
                                  const AnsEffort& effort);

  std::uint64_t residuals_ = 0;
  std::size_t choice_step_;
  Division chosen_;
};

}  // namespace gdelta
