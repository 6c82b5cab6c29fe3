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
constexpr int kUnitBits = std::bit_width(kUnit) - 1;
constexpr std::size_t kMostUnits = kMaxAnsTile / kUnit;  // of a stretch
constexpr int kSpanLevels = kMaxSpanBits - kUnitBits + 1;

// Costs in each cluster: of a unit, and of several units.
using UnitSums = std::uint16_t[kMostClusters];
struct Sums {
  std::uint32_t of[kMostClusters] = {};

  GDELTA_ALWAYS_INLINE void add(const std::uint16_t* unit) {
    for (int c = 0; c < kMostClusters; ++c) of[c] += unit[c];
  }
  GDELTA_ALWAYS_INLINE void add(const Sums& other) {
    for (int c = 0; c < kMostClusters; ++c) of[c] += other.of[c];
  }
  /// The least sum, and the first cluster that has it, below it: one number, so that vectors find both.
  GDELTA_ALWAYS_INLINE std::uint32_t least() const {
    static_assert((kMaxAnsTile * ClusterCosts::kMostCost + 1) * std::uint64_t{kMostClusters} <=
                  ~std::uint32_t{0});
    std::uint32_t least = ~std::uint32_t{0};
    for (std::uint32_t c = 0; c < kMostClusters; ++c)
      least = std::min(least, of[c] * kMostClusters + c);
    return least;
  }
  static constexpr int cluster(std::uint32_t least) {
    return static_cast<int>(least % kMostClusters);
  }
  static constexpr std::uint32_t cost(std::uint32_t least) { return least / kMostClusters; }
};

// What residuals of these classes cost in each cluster. Precondition: no more than a unit.
void sum_unit_of(const std::uint16_t* costs, const std::uint16_t* classes, std::size_t count,
                 UnitSums& sums) {
  std::uint16_t own[kMostClusters] = {};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t* const row = costs + classes[i] * kMostClusters;
    for (int c = 0; c < kMostClusters; ++c) own[c] = static_cast<std::uint16_t>(own[c] + row[c]);
  }
  std::copy_n(own, kMostClusters, sums);
}

int choose_cluster(const std::uint16_t* costs, const std::uint16_t* classes, std::size_t count) {
  Sums sums;
  for (std::size_t at = 0; at < count; at += kUnit) {
    UnitSums unit;
    sum_unit_of(costs, classes + at, std::min(kUnit, count - at), unit);
    sums.add(unit);
  }
  return Sums::cluster(sums.least());
}

// The cheapest cluster of each `length` units of a stretch; the last may be fewer.
GDELTA_ALWAYS_INLINE void choose_each(const std::uint16_t* unit_sums, std::size_t units,
                                      std::size_t length, std::uint8_t* clusters) {
  for (std::size_t at = 0; at < units; at += length) {
    Sums sums;
    for (std::size_t unit = at; unit < std::min(at + length, units); ++unit)
      sums.add(unit_sums + unit * kMostClusters);
    *clusters++ = static_cast<std::uint8_t>(Sums::cluster(sums.least()));
  }
}

// What a stretch costs in spans of one unit, two units, and so on, each in its cheapest cluster.
GDELTA_ALWAYS_INLINE void add_spans(const std::uint16_t* unit_sums, std::size_t units,
                                    std::uint64_t* costs) {
  Sums spans[kMostUnits];
  for (std::size_t unit = 0; unit < units; ++unit)
    spans[unit].add(unit_sums + unit * kMostClusters);
  for (int level = 0; level < kSpanLevels; ++level, units = (units + 1) / 2) {
    for (std::size_t span = 0; span < units; ++span)
      costs[level] += Sums::cost(spans[span].least());
    for (std::size_t span = 0; span < units / 2; ++span) {
      spans[span] = spans[2 * span];
      spans[span].add(spans[2 * span + 1]);
    }
    if (units % 2 == 1) spans[units / 2] = spans[units - 1];
  }
}

#if GDELTA_HAS_AVX2_CODE
// By hand, because otherwise GCC keeps sums in memory.
GDELTA_AVX2 GDELTA_ALWAYS_INLINE __m256i unit_of(const std::uint16_t* costs,
                                                 const std::uint16_t* classes, std::size_t count) {
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
  return _mm256_add_epi16(even, odd);
}

GDELTA_AVX2 void sum_unit_avx2(const std::uint16_t* costs, const std::uint16_t* classes,
                               std::size_t count, UnitSums& sums) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), unit_of(costs, classes, count));
}

GDELTA_AVX2 int choose_cluster_avx2(const std::uint16_t* costs, const std::uint16_t* classes,
                                    std::size_t count) {
  Sums sums;
  auto* const halves = reinterpret_cast<__m256i*>(sums.of);
  __m256i low = _mm256_setzero_si256(), high = low;
  for (std::size_t at = 0; at < count; at += kUnit) {
    const __m256i unit = unit_of(costs, classes + at, std::min(kUnit, count - at));
    low = _mm256_add_epi32(low, _mm256_cvtepu16_epi32(_mm256_castsi256_si128(unit)));
    high = _mm256_add_epi32(high, _mm256_cvtepu16_epi32(_mm256_extracti128_si256(unit, 1)));
  }
  _mm256_storeu_si256(halves, low);
  _mm256_storeu_si256(halves + 1, high);
  return Sums::cluster(sums.least());
}

GDELTA_AVX2 void choose_each_avx2(const std::uint16_t* unit_sums, std::size_t units,
                                  std::size_t length, std::uint8_t* clusters) {
  choose_each(unit_sums, units, length, clusters);
}
GDELTA_AVX2 void add_spans_avx2(const std::uint16_t* unit_sums, std::size_t units,
                                std::uint64_t* costs) {
  add_spans(unit_sums, units, costs);
}
GDELTA_AVX512 void choose_each_avx512(const std::uint16_t* unit_sums, std::size_t units,
                                      std::size_t length, std::uint8_t* clusters) {
  choose_each(unit_sums, units, length, clusters);
}
GDELTA_AVX512 void add_spans_avx512(const std::uint16_t* unit_sums, std::size_t units,
                                    std::uint64_t* costs) {
  add_spans(unit_sums, units, costs);
}
#endif

void sum_unit(const std::uint16_t* costs, const std::uint16_t* classes, std::size_t count,
              UnitSums& sums) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) return sum_unit_avx2(costs, classes, count, sums);
#endif
  sum_unit_of(costs, classes, count, sums);
}

void choose_for_each(const std::uint16_t* unit_sums, std::size_t units, std::size_t length,
                     std::uint8_t* clusters) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx512()) return choose_each_avx512(unit_sums, units, length, clusters);
  if (cpu_has_avx2()) return choose_each_avx2(unit_sums, units, length, clusters);
#endif
  choose_each(unit_sums, units, length, clusters);
}

void add_all_spans(const std::uint16_t* unit_sums, std::size_t units, std::uint64_t* costs) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx512()) return add_spans_avx512(unit_sums, units, costs);
  if (cpu_has_avx2()) return add_spans_avx2(unit_sums, units, costs);
#endif
  add_spans(unit_sums, units, costs);
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
    std::vector<std::uint8_t> seen(kResidualClasses);  // bits would wait for each other
    for (const std::uint16_t number : classes) seen[number] = 1;
    for (int number = 0; number < kResidualClasses; ++number)
      if (seen[number] != 0) used.push_back(static_cast<std::uint16_t>(number));
  }

  std::vector<Span> spans_of(std::size_t length) const {
    std::vector<Span> spans;
    for (std::size_t s = 0; s + 1 < first_unit.size(); ++s)
      for (std::size_t at = first_unit[s]; at < first_unit[s + 1]; at += length)
        spans.push_back({at, std::min(at + length, first_unit[s + 1])});
    return spans;
  }
  std::size_t stretches() const { return first_unit.size() - 1; }
  std::size_t units_of(std::size_t stretch) const {
    return first_unit[stretch + 1] - first_unit[stretch];
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

// How often each coarse class is in each cluster.
struct ClassCounts {
  std::vector<std::uint32_t> counts = std::vector<std::uint32_t>(kResidualClasses * kMostClusters);
  std::uint64_t totals[kMostClusters] = {};
};

// Costs of coarse classes, and how many classes the clusters have.
struct CoarseCosts {
  // What nobody is in is dearer than all others.
  std::vector<std::uint16_t> costs =
      std::vector<std::uint16_t>(kResidualClasses * kMostClusters, ClusterCosts::kMostCost);
  std::uint64_t classes = 0;
};

std::uint16_t cost_of(std::uint32_t bits) {
  return static_cast<std::uint16_t>(
      std::min((bits + (1u << kCutBits) / 2) >> kCutBits, ClusterCosts::kMostCost));
}

// Few residuals are not worth many tables.
int most_clusters(const ClusterEffort& effort) {
  int clusters = effort.most_clusters;
  while (clusters > 1 &&
         effort.all_residuals < effort.fewest_of_table * static_cast<unsigned>(clusters))
    clusters /= 2;
  return clusters;
}

// The costs of fine classes, from those of coarse ones.
ClusterCosts with_fine_costs(ClusterCosts clusters) {
  std::vector<std::uint16_t> fine(std::size_t{kFineClasses} * kMostClusters);
  for (std::size_t number = 0; number < std::size_t{kFineClasses}; ++number)
    std::copy_n(clusters.costs.begin() + kCoarseClass[number] * kMostClusters, kMostClusters,
                fine.begin() + static_cast<std::ptrdiff_t>(number * kMostClusters));
  clusters.costs = std::move(fine);
  return clusters;
}

class Clustering {
 public:
  Clustering(std::span<const std::span<const std::uint16_t>> stretches, const ClusterEffort& effort)
      : sample_(stretches),
        spans_(sample_.spans_of(kSpanUnits)),
        effort_(effort),
        most_(most_clusters(effort)) {
    std::vector<std::uint32_t> sizes;
    for (const Span& span : spans_) sizes.push_back(size_of(sample_.of(span)));
    ranking_.resize(spans_.size());
    std::iota(ranking_.begin(), ranking_.end(), 0u);
    std::stable_sort(ranking_.begin(), ranking_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return sizes[a] < sizes[b]; });
    // Begins with clusters of about equally large residuals.
    std::vector<std::uint8_t> cluster_of(spans_.size());
    for (std::size_t rank = 0; rank < ranking_.size(); ++rank)
      cluster_of[ranking_[rank]] = static_cast<std::uint8_t>(rank * most_ / ranking_.size());
    ranked_ = counts_of(cluster_of);
  }

  /// Divides the sample into so many clusters, a power of two. Gives the bits of the sample, in 1/64; the costs
  /// are those of coarse classes.
  std::uint64_t divide(int clusters, ClusterCosts& found) const {
    CoarseCosts coarse = costs_of(merged(ranked_, clusters), clusters);
    std::vector<std::uint16_t> unit_sums(sample_.units.size() * kMostClusters);
    std::vector<std::uint8_t> cluster_of(spans_.size());
    for (int round = 1; round < effort_.rounds && clusters > 1; ++round) {
      sum_units(coarse, unit_sums);
      std::uint8_t* next = cluster_of.data();
      for (std::size_t s = 0; s < sample_.stretches(); ++s) {
        choose_for_each(unit_sums.data() + sample_.first_unit[s] * kMostClusters,
                        sample_.units_of(s), kSpanUnits, next);
        next += (sample_.units_of(s) + kSpanUnits - 1) / kSpanUnits;
      }
      coarse = costs_of(counts_of(cluster_of), clusters);
    }
    sum_units(coarse, unit_sums);
    const std::uint64_t of_tables = table_bits(coarse);
    found.clusters = clusters;
    found.costs = std::move(coarse.costs);
    return choose_span(unit_sums, found) + of_tables;
  }

 private:
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

  ClassCounts counts_of(std::span<const std::uint8_t> cluster_of) const {
    ClassCounts made;
    for (std::size_t s = 0; s < spans_.size(); ++s) {
      std::uint32_t* const own = made.counts.data() + cluster_of[s];
      const std::span<const std::uint16_t> residuals = sample_.of(spans_[s]);
      for (const std::uint16_t number : residuals) ++own[number * kMostClusters];
      made.totals[cluster_of[s]] += residuals.size();
    }
    return made;
  }

  // Of the most clusters neighbours become one: so are those of fewer, by size of residuals.
  ClassCounts merged(const ClassCounts& ranked, int clusters) const {
    ClassCounts made;
    for (int c = 0; c < most_; ++c) {
      const int to = c * clusters / most_;
      made.totals[to] += ranked.totals[c];
      for (const std::uint16_t k : sample_.used)
        made.counts[k * kMostClusters + to] += ranked.counts[k * kMostClusters + c];
    }
    return made;
  }

  // Costs from what each cluster has. A class that a cluster has not seen counts as a sixteenth of a residual.
  CoarseCosts costs_of(const ClassCounts& classes, int clusters) const {
    CoarseCosts made;
    for (int c = 0; c < clusters; ++c) {
      const std::uint32_t all = fixed_log2(16 * classes.totals[c] + kResidualClasses);
      const std::uint16_t unseen = cost_of(all);
      for (int k = 0; k < kResidualClasses; ++k) made.costs[k * kMostClusters + c] = unseen;
      for (const std::uint16_t k : sample_.used) {
        const std::uint32_t count = classes.counts[k * kMostClusters + c];
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
    const std::uint64_t of_selector = static_cast<std::uint64_t>(selector_bits(found.clusters))
                                      << ClusterCosts::kCostBits;
    std::uint64_t bits[kSpanLevels] = {};
    for (std::size_t s = 0; s < sample_.stretches(); ++s) {
      std::size_t spans = sample_.units_of(s);
      add_all_spans(unit_sums.data() + sample_.first_unit[s] * kMostClusters, spans, bits);
      for (int level = 0; level < kSpanLevels; ++level, spans = (spans + 1) / 2)
        bits[level] += spans * of_selector;
    }
    std::uint64_t least = ~std::uint64_t{0};
    for (int level = kSpanLevels; level-- > 0;) {
      if (bits[level] >= least) continue;
      least = bits[level];
      found.span_bits = kUnitBits + level;
      if (found.clusters == 1) break;
    }
    return least;
  }

  Sample sample_;
  std::vector<Span> spans_;
  std::vector<std::uint32_t> ranking_;  // spans from the smallest residuals up
  const ClusterEffort& effort_;
  int most_;
  ClassCounts ranked_;  // of as many clusters as there may be, by size
};

}  // namespace

int ClusterCosts::choose(std::span<const std::uint16_t> classes) const {
  if (clusters == 1) return 0;
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) return choose_cluster_avx2(costs.data(), classes.data(), classes.size());
#endif
  return choose_cluster(costs.data(), classes.data(), classes.size());
}

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
  return with_fine_costs(std::move(best));
}

std::vector<ClusterCosts> find_all_clusters(
    std::span<const std::span<const std::uint16_t>> stretches, const ClusterEffort& effort) {
  const int most = most_clusters(effort);
  if (most == 1) return {ClusterCosts{}};
  const Clustering clustering(stretches, effort);
  std::vector<ClusterCosts> found;
  for (int clusters = most; clusters > 1; clusters /= 2) {
    ClusterCosts divided;
    clustering.divide(clusters, divided);
    found.push_back(with_fine_costs(std::move(divided)));
  }
  found.emplace_back();
  return found;
}

}  // namespace gdelta
