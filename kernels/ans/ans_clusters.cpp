#include "kernels/ans/ans_clusters.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/ans/fixed_log2.h"
#include "kernels/cpu/cpu_targets.h"

namespace gdelta {
namespace {

constexpr int kUnit = 32;                       // residuals of which costs are added up
constexpr int kSpanUnits = 2;                   // of the spans that are clustered
constexpr std::uint64_t kFewestOfTable = 1024;  // residuals
constexpr std::uint64_t kTableClassBits = 28;   // about what a class in use adds to a table

template <class Word>
GDELTA_ALWAYS_INLINE void add_costs(const std::uint32_t* costs, const Word* residuals,
                                    std::uint64_t count, std::uint32_t* sums) {
  std::uint32_t own[kMostClusters] = {};
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint32_t* const row = costs + ResidualClasses::of(residuals[i]) * kMostClusters;
    for (int c = 0; c < kMostClusters; ++c) own[c] += row[c];
  }
  for (int c = 0; c < kMostClusters; ++c) sums[c] += own[c];
}

#if GDELTA_HAS_AVX2_CODE
template <class Word>
GDELTA_AVX2 void add_costs_avx2(const std::uint32_t* costs, const Word* residuals,
                                std::uint64_t count, std::uint32_t* sums) {
  add_costs(costs, residuals, count, sums);
}
#endif

// A sample's units of `kUnit` residuals; only the last of a stretch may be shorter.
template <class Word>
struct Sample {
  explicit Sample(std::span<const std::span<const Word>> stretches) {
    for (const std::span<const Word>& stretch : stretches) {
      first_unit.push_back(units.size());
      for (std::size_t at = 0; at < stretch.size(); at += kUnit)
        units.push_back(stretch.subspan(at, std::min<std::size_t>(kUnit, stretch.size() - at)));
      residuals += stretch.size();
    }
    first_unit.push_back(units.size());
  }
  std::vector<std::span<const Word>> units;
  std::vector<std::size_t> first_unit;  // of each stretch, and the end
  std::uint64_t residuals = 0;
};

struct Span {
  std::size_t first, end;  // units
};

template <class Word>
std::vector<Span> spans_of(const Sample<Word>& sample, std::size_t units) {
  std::vector<Span> spans;
  for (std::size_t s = 0; s + 1 < sample.first_unit.size(); ++s)
    for (std::size_t at = sample.first_unit[s]; at < sample.first_unit[s + 1]; at += units)
      spans.push_back({at, std::min(at + units, sample.first_unit[s + 1])});
  return spans;
}

using Sums = std::uint32_t[kMostClusters];

// Costs from the spans that each cluster has.
template <class Word>
ClusterCosts costs_of(const Sample<Word>& sample, std::span<const Span> spans,
                      std::span<const std::uint8_t> cluster_of, int clusters) {
  ClusterCosts made{.clusters = clusters, .span_bits = kMaxSpanBits, .costs = {}};
  std::vector<std::uint32_t> counts(kResidualClasses * kMostClusters);
  std::uint64_t totals[kMostClusters] = {};
  for (std::size_t s = 0; s < spans.size(); ++s)
    for (std::size_t unit = spans[s].first; unit < spans[s].end; ++unit) {
      for (const Word residual : sample.units[unit])
        ++counts[ResidualClasses::of(residual) * kMostClusters + cluster_of[s]];
      totals[cluster_of[s]] += sample.units[unit].size();
    }
  // A class that a cluster has not seen counts as a sixteenth of a residual.
  made.costs.resize(counts.size());
  for (int c = 0; c < kMostClusters; ++c) {
    const std::uint32_t all = fixed_log2(16 * totals[c] + kResidualClasses);
    for (int k = 0; k < kResidualClasses; ++k)
      made.costs[k * kMostClusters + c] =
          all - fixed_log2(16 * std::uint64_t{counts[k * kMostClusters + c]} + 1);
  }
  return made;
}

template <class Word>
std::uint64_t size_of(std::span<const Word> residuals) {
  std::uint64_t bits = 0;
  for (const Word residual : residuals) {
    const unsigned number = ResidualClasses::of(residual);
    bits += number < kResidualClasses / 2 ? kResidualClasses / 2 - 1 - number
                                          : number - kResidualClasses / 2;
  }
  return bits * kUnit / residuals.size();
}

// Begins with clusters of about equally large residuals.
template <class Word>
std::vector<std::uint8_t> clusters_by_size(const Sample<Word>& sample, std::span<const Span> spans,
                                           int clusters) {
  std::vector<std::uint64_t> sizes(spans.size());
  for (std::size_t s = 0; s < spans.size(); ++s) {
    for (std::size_t unit = spans[s].first; unit < spans[s].end; ++unit)
      sizes[s] += size_of(sample.units[unit]);
    sizes[s] /= spans[s].end - spans[s].first;
  }
  std::vector<std::uint32_t> ranking(spans.size());
  std::iota(ranking.begin(), ranking.end(), 0u);
  std::stable_sort(ranking.begin(), ranking.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return sizes[a] < sizes[b]; });
  std::vector<std::uint8_t> cluster_of(spans.size());
  for (std::size_t rank = 0; rank < ranking.size(); ++rank)
    cluster_of[ranking[rank]] = static_cast<std::uint8_t>(rank * clusters / ranking.size());
  return cluster_of;
}

// Bits, in 1/256, of the tables of clusters, cut down to the sample's share of all residuals.
std::uint64_t table_bits(const ClusterCosts& costs, std::uint64_t residuals,
                         const ClusterEffort& effort) {
  std::uint64_t classes = 0;
  for (int c = 0; c < costs.clusters; ++c) {
    // What was never seen has the highest cost of its cluster.
    std::uint32_t most = 0;
    for (int k = 0; k < kResidualClasses; ++k)
      most = std::max(most, costs.costs[k * kMostClusters + c]);
    for (int k = 0; k < kResidualClasses; ++k) classes += costs.costs[k * kMostClusters + c] < most;
  }
  const std::uint64_t bits = (classes * kTableClassBits) << kFixedLog2Bits;
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(bits) * residuals /
                                    effort.all_residuals);
}

template <class Word>
class Clustering {
 public:
  Clustering(std::span<const std::span<const Word>> stretches, const ClusterEffort& effort)
      : sample_(stretches), spans_(spans_of(sample_, kSpanUnits)), effort_(effort) {}

  /// Divides the sample into so many clusters. Gives the bits of the sample, in 1/256.
  std::uint64_t divide(int clusters, ClusterCosts& costs) const {
    std::vector<std::uint8_t> cluster_of = clusters_by_size(sample_, spans_, clusters);
    costs = costs_of<Word>(sample_, spans_, cluster_of, clusters);
    for (int round = 1; round < effort_.rounds && clusters > 1; ++round) {
      for (std::size_t s = 0; s < spans_.size(); ++s) {
        Sums sums = {};
        for (std::size_t unit = spans_[s].first; unit < spans_[s].end; ++unit)
          costs.add(sample_.units[unit].data(), sample_.units[unit].size(), sums);
        cluster_of[s] = static_cast<std::uint8_t>(costs.cheapest(sums));
      }
      costs = costs_of<Word>(sample_, spans_, cluster_of, clusters);
    }
    return choose_span(costs) + table_bits(costs, sample_.residuals, effort_);
  }

 private:
  // The length of span that suits the costs; gives the bits of the sample. A single cluster has no
  // selectors.
  std::uint64_t choose_span(ClusterCosts& costs) const {
    std::vector<std::uint32_t> unit_sums(sample_.units.size() * kMostClusters);
    for (std::size_t unit = 0; unit < sample_.units.size(); ++unit) {
      Sums sums = {};
      costs.add(sample_.units[unit].data(), sample_.units[unit].size(), sums);
      std::copy_n(sums, kMostClusters, unit_sums.begin() + unit * kMostClusters);
    }
    constexpr int kUnitBits = std::bit_width(unsigned{kUnit}) - 1;
    const std::uint64_t of_selector = static_cast<std::uint64_t>(selector_bits(costs.clusters))
                                      << kFixedLog2Bits;
    std::uint64_t least = ~std::uint64_t{0};
    for (int span_bits = kMaxSpanBits; span_bits >= kUnitBits; --span_bits) {
      std::uint64_t bits = 0;
      for (const Span& span : spans_of(sample_, std::size_t{1} << (span_bits - kUnitBits))) {
        Sums sums = {};
        for (std::size_t unit = span.first; unit < span.end; ++unit)
          for (int c = 0; c < kMostClusters; ++c) sums[c] += unit_sums[unit * kMostClusters + c];
        bits += sums[costs.cheapest(sums)] + of_selector;
      }
      if (bits >= least) continue;
      least = bits;
      costs.span_bits = span_bits;
      if (costs.clusters == 1) break;
    }
    return least;
  }

  Sample<Word> sample_;
  std::vector<Span> spans_;
  const ClusterEffort& effort_;
};

}  // namespace

template <class Word>
void ClusterCosts::add(const Word* residuals, std::uint64_t count,
                       std::uint32_t (&sums)[kMostClusters]) const {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) return add_costs_avx2(costs.data(), residuals, count, sums);
#endif
  add_costs(costs.data(), residuals, count, sums);
}

template <class Word>
ClusterCosts find_clusters(std::span<const std::span<const Word>> stretches,
                           const ClusterEffort& effort) {
  const Clustering<Word> clustering(stretches, effort);
  // Few residuals are not worth many tables.
  int clusters = effort.most_clusters;
  while (clusters > 1 && effort.all_residuals < kFewestOfTable * static_cast<unsigned>(clusters))
    clusters /= 2;
  ClusterCosts best;
  std::uint64_t least = clustering.divide(clusters, best);
  while (clusters > 1) {
    clusters /= 2;
    ClusterCosts fewer;
    const std::uint64_t bits = clustering.divide(clusters, fewer);
    if (bits > least) break;
    least = bits;
    best = std::move(fewer);
  }
  return best;
}

template void ClusterCosts::add(const std::uint32_t*, std::uint64_t,
                                std::uint32_t (&)[kMostClusters]) const;
template void ClusterCosts::add(const std::uint64_t*, std::uint64_t,
                                std::uint32_t (&)[kMostClusters]) const;
template ClusterCosts find_clusters(std::span<const std::span<const std::uint32_t>>,
                                    const ClusterEffort&);
template ClusterCosts find_clusters(std::span<const std::span<const std::uint64_t>>,
                                    const ClusterEffort&);

}  // namespace gdelta
