#include "kernels/ans/ans_clusters.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/ans/ans_fit_rules.h"
#include "kernels/ans/fixed_log2.h"
#include "kernels/cpu/cpu_targets.h"

#if GDELTA_HAS_AVX2_CODE
#include <immintrin.h>
#endif

namespace gdelta {
namespace {

constexpr std::size_t kUnit = ClusterCosts::kUnit;
constexpr int kCutBits = kFixedLog2Bits - ClusterCosts::kCostBits;

// Costs of a unit in each cluster, and of several units.
using UnitSums = std::uint16_t[kMostClusters];
using Sums = std::uint32_t[kMostClusters];

// What residuals of these classes cost in each cluster. Precondition: no more than a unit.
GDELTA_ALWAYS_INLINE void add_unit(const std::uint16_t* costs, const std::uint16_t* classes,
                                   std::size_t count, UnitSums& sums) {
  std::uint16_t own[kMostClusters] = {};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t* const row = costs + classes[i] * kMostClusters;
    for (int c = 0; c < kMostClusters; ++c) own[c] = static_cast<std::uint16_t>(own[c] + row[c]);
  }
  std::copy_n(own, kMostClusters, sums);
}

#if GDELTA_HAS_AVX2_CODE
GDELTA_AVX2 void add_unit_avx2(const std::uint16_t* costs, const std::uint16_t* classes,
                               std::size_t count, UnitSums& sums) {
  static_assert(sizeof(UnitSums) == sizeof(__m256i));
  const auto row = [costs, classes](std::size_t i) GDELTA_AVX2 {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(costs + classes[i] * kMostClusters));
  };
  __m256i even = _mm256_setzero_si256(), odd = even;
  std::size_t i = 0;
  for (; i + 2 <= count; i += 2) {
    even = _mm256_add_epi16(even, row(i));
    odd = _mm256_add_epi16(odd, row(i + 1));
  }
  if (i < count) even = _mm256_add_epi16(even, row(i));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), _mm256_add_epi16(even, odd));
}
#endif

void sum_unit(const std::uint16_t* costs, const std::uint16_t* classes, std::size_t count,
              UnitSums& sums) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) return add_unit_avx2(costs, classes, count, sums);
#endif
  add_unit(costs, classes, count, sums);
}

void add(const UnitSums& unit, Sums& sums) {
  for (int c = 0; c < kMostClusters; ++c) sums[c] += unit[c];
}

int cheapest(const Sums& sums, int clusters) {
  int best = 0;
  for (int c = 1; c < clusters; ++c) best = sums[c] < sums[best] ? c : best;
  return best;
}

struct Span {
  std::size_t first, end;  // units
};

// A sample's coarse classes, in units of `kUnit`; only the last of a stretch may be shorter.
struct Sample {
  struct Unit {
    std::size_t first, count;
  };

  explicit Sample(std::span<const std::span<const std::uint16_t>> stretches) {
    for (const std::span<const std::uint16_t>& stretch : stretches) {
      first_unit.push_back(units.size());
      for (std::size_t at = 0; at < stretch.size(); at += kUnit)
        units.push_back({classes.size() + at, std::min(kUnit, stretch.size() - at)});
      const std::size_t first = classes.size();
      classes.resize(first + stretch.size());
      for (std::size_t i = 0; i < stretch.size(); ++i)
        classes[first + i] = kCoarseClass[stretch[i]];
    }
    first_unit.push_back(units.size());
    std::vector<bool> seen(kResidualClasses);
    for (const std::uint16_t number : classes) seen[number] = true;
    for (int number = 0; number < kResidualClasses; ++number)
      if (seen[number]) used.push_back(static_cast<std::uint16_t>(number));
  }

  std::vector<Span> spans_of(std::size_t length) const {
    std::vector<Span> spans;
    for (std::size_t s = 0; s + 1 < first_unit.size(); ++s)
      for (std::size_t at = first_unit[s]; at < first_unit[s + 1]; at += length)
        spans.push_back({at, std::min(at + length, first_unit[s + 1])});
    return spans;
  }
  /// The residuals of a span.
  std::span<const std::uint16_t> of(const Span& span) const {
    const Unit& last = units[span.end - 1];
    const std::size_t first = units[span.first].first;
    return {classes.data() + first, last.first + last.count - first};
  }

  std::vector<std::uint16_t> classes, used;
  std::vector<Unit> units;
  std::vector<std::size_t> first_unit;  // of each stretch, and the end
};

// Costs of coarse classes, and how many classes the clusters have.
struct CoarseCosts {
  std::vector<std::uint16_t> costs = std::vector<std::uint16_t>(kResidualClasses * kMostClusters);
  std::uint64_t classes = 0;
};

std::uint16_t cost_of(std::uint32_t bits) {
  return static_cast<std::uint16_t>(
      std::min((bits + (1u << kCutBits) / 2) >> kCutBits, ClusterCosts::kMostCost));
}

class Clustering {
 public:
  Clustering(std::span<const std::span<const std::uint16_t>> stretches, const ClusterEffort& effort)
      : sample_(stretches), spans_(sample_.spans_of(kSpanUnits)), effort_(effort) {
    std::vector<std::uint32_t> sizes;
    for (const Span& span : spans_) sizes.push_back(size_of(sample_.of(span)));
    ranking_.resize(spans_.size());
    std::iota(ranking_.begin(), ranking_.end(), 0u);
    std::stable_sort(ranking_.begin(), ranking_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return sizes[a] < sizes[b]; });
  }

  /// Divides the sample into so many clusters. Gives the bits of the sample, in 1/64.
  std::uint64_t divide(int clusters, ClusterCosts& found) const {
    // Begins with clusters of about equally large residuals.
    std::vector<std::uint8_t> cluster_of(spans_.size());
    for (std::size_t rank = 0; rank < ranking_.size(); ++rank)
      cluster_of[ranking_[rank]] = static_cast<std::uint8_t>(rank * clusters / ranking_.size());
    CoarseCosts coarse = costs_of(cluster_of, clusters);
    std::vector<std::uint16_t> unit_sums(sample_.units.size() * kMostClusters);
    for (int round = 1; round < effort_.rounds && clusters > 1; ++round) {
      sum_units(coarse, unit_sums);
      for (std::size_t s = 0; s < spans_.size(); ++s)
        cluster_of[s] =
            static_cast<std::uint8_t>(cheapest(sums_of(spans_[s], unit_sums).sums, clusters));
      coarse = costs_of(cluster_of, clusters);
    }
    sum_units(coarse, unit_sums);
    found.clusters = clusters;
    found.costs.resize(std::size_t{kFineClasses} * kMostClusters);
    for (int fine = 0; fine < kFineClasses; ++fine)
      std::copy_n(coarse.costs.begin() + kCoarseClass[fine] * kMostClusters, kMostClusters,
                  found.costs.begin() + fine * kMostClusters);
    return choose_span(unit_sums, found) + table_bits(coarse);
  }

 private:
  struct SpanSums {
    Sums sums = {};
  };
  static SpanSums sums_of(const Span& span, const std::vector<std::uint16_t>& unit_sums) {
    SpanSums made;
    for (std::size_t unit = span.first; unit < span.end; ++unit)
      for (int c = 0; c < kMostClusters; ++c) made.sums[c] += unit_sums[unit * kMostClusters + c];
    return made;
  }

  static std::uint32_t size_of(std::span<const std::uint16_t> classes) {
    constexpr int kHalf = ResidualClasses::kHalf;
    std::uint32_t size = 0;
    for (const int number : classes)
      size += static_cast<std::uint32_t>(number < kHalf ? kHalf - 1 - number : number - kHalf);
    return static_cast<std::uint32_t>(size * kUnit / classes.size());
  }

  void sum_units(const CoarseCosts& coarse, std::vector<std::uint16_t>& unit_sums) const {
    for (std::size_t unit = 0; unit < sample_.units.size(); ++unit) {
      UnitSums sums;
      sum_unit(coarse.costs.data(), sample_.classes.data() + sample_.units[unit].first,
               sample_.units[unit].count, sums);
      std::copy_n(sums, kMostClusters, unit_sums.begin() + unit * kMostClusters);
    }
  }

  // Costs from the spans that each cluster has. A class that a cluster has not seen counts as a sixteenth
  // of a residual.
  CoarseCosts costs_of(std::span<const std::uint8_t> cluster_of, int clusters) const {
    std::vector<std::uint32_t> counts(kResidualClasses * kMostClusters);
    std::uint64_t totals[kMostClusters] = {};
    for (std::size_t s = 0; s < spans_.size(); ++s) {
      std::uint32_t* const own = counts.data() + cluster_of[s];
      const std::span<const std::uint16_t> residuals = sample_.of(spans_[s]);
      for (const std::uint16_t number : residuals) ++own[number * kMostClusters];
      totals[cluster_of[s]] += residuals.size();
    }
    CoarseCosts made;
    for (int c = 0; c < clusters; ++c) {
      const std::uint32_t all = fixed_log2(16 * totals[c] + kResidualClasses);
      const std::uint16_t unseen = cost_of(all);
      for (int k = 0; k < kResidualClasses; ++k) made.costs[k * kMostClusters + c] = unseen;
      for (const std::uint16_t k : sample_.used) {
        const std::uint32_t count = counts[k * kMostClusters + c];
        if (count == 0) continue;
        made.costs[k * kMostClusters + c] =
            cost_of(all - fixed_log2(16 * std::uint64_t{count} + 1));
        ++made.classes;
      }
    }
    return made;
  }

  // Bits, in 1/64, of the tables of clusters, cut down to the sample's share of all residuals.
  std::uint64_t table_bits(const CoarseCosts& coarse) const {
    const std::uint64_t bits = (coarse.classes * kTableClassBits) << ClusterCosts::kCostBits;
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(bits) *
                                      sample_.classes.size() / effort_.all_residuals);
  }

  // The length of span that suits the costs; gives the bits of the sample. A single cluster has no
  // selectors.
  std::uint64_t choose_span(const std::vector<std::uint16_t>& unit_sums,
                            ClusterCosts& found) const {
    constexpr int kUnitBits = std::bit_width(kUnit) - 1;
    const std::uint64_t of_selector = static_cast<std::uint64_t>(selector_bits(found.clusters))
                                      << ClusterCosts::kCostBits;
    std::uint64_t least = ~std::uint64_t{0};
    for (int span_bits = kMaxSpanBits; span_bits >= kUnitBits; --span_bits) {
      std::uint64_t bits = 0;
      for (std::size_t s = 0; s + 1 < sample_.first_unit.size(); ++s) {
        const std::size_t end = sample_.first_unit[s + 1],
                          length = std::size_t{1} << (span_bits - kUnitBits);
        for (std::size_t at = sample_.first_unit[s]; at < end; at += length) {
          const SpanSums span = sums_of({at, std::min(at + length, end)}, unit_sums);
          bits += *std::min_element(span.sums, span.sums + found.clusters) + of_selector;
        }
      }
      if (bits >= least) continue;
      least = bits;
      found.span_bits = span_bits;
      if (found.clusters == 1) break;
    }
    return least;
  }

  Sample sample_;
  std::vector<Span> spans_;
  std::vector<std::uint32_t> ranking_;  // spans from the smallest residuals up
  const ClusterEffort& effort_;
};

}  // namespace

int ClusterCosts::choose(std::span<const std::uint16_t> classes) const {
  if (clusters == 1) return 0;
  Sums sums = {};
  for (std::size_t at = 0; at < classes.size(); at += kUnit) {
    UnitSums unit;
    sum_unit(costs.data(), classes.data() + at, std::min(kUnit, classes.size() - at), unit);
    add(unit, sums);
  }
  return cheapest(sums, clusters);
}

namespace {

// Few residuals are not worth many tables.
int most_clusters(const ClusterEffort& effort) {
  int clusters = effort.most_clusters;
  while (clusters > 1 && effort.all_residuals < kFewestOfTable * static_cast<unsigned>(clusters))
    clusters /= 2;
  return clusters;
}

}  // namespace

ClusterCosts find_clusters(std::span<const std::span<const std::uint16_t>> stretches,
                           const ClusterEffort& effort) {
  int clusters = most_clusters(effort);
  if (clusters == 1) return {};
  const Clustering clustering(stretches, effort);
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

std::vector<ClusterCosts> find_all_clusters(
    std::span<const std::span<const std::uint16_t>> stretches, const ClusterEffort& effort) {
  const int most = most_clusters(effort);
  if (most == 1) return {ClusterCosts{}};
  const Clustering clustering(stretches, effort);
  std::vector<ClusterCosts> found;
  for (int clusters = most; clusters > 1; clusters /= 2)
    clustering.divide(clusters, found.emplace_back());
  found.emplace_back();
  return found;
}

}  // namespace gdelta
