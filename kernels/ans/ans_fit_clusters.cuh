// Clusters of a sample's spans, by a block: what ans_clusters.h does. A thread has a span, and a few classes, whose
// counts become costs.
#pragma once

#include <cstdint>

#include "kernels/ans/ans_fit_sample.cuh"

namespace gdelta::cuda {

/// A thread's: its own number, and those kFitThreads behind each other.
inline constexpr int kOwnClasses = kCoarseClasses / kFitThreads;
static_assert(kFitThreads * kOwnClasses == kCoarseClasses);

/// Which tables a sample has, and which of them this thread's span has.
struct FitTables {
  int count = 1;
  int span_bits = kMaxSpanBits;
  std::uint32_t of_units[kSpanUnits] = {};
};

template <class Word>
class SpanClusters {
 public:
  /// Of the sample whose classes take_residuals has left.
  __device__ explicit SpanClusters(FitShared<Word>& shared)
      : shared_(shared), length_(shared.span_length(static_cast<int>(threadIdx.x))) {}

  /// Tries `most` clusters, half as many, and so on, until the sample becomes longer. The best one's costs go to
  /// `costs`. `all`: residuals of the column.
  __device__ FitTables find(int most, int rounds, std::uint64_t all,
                            std::uint16_t (*costs)[kMostFitTables]) {
    const std::uint32_t rank = rank_of_span();
    clear();
    count(rank * static_cast<std::uint32_t>(most) / shared_.spans);
    take_ranked();
    FitTables best;
    std::uint64_t least = ~std::uint64_t{0};
    for (int clusters = most; clusters >= 1; clusters /= 2, halve_ranked()) {
      std::uint32_t classes = write_ranked_costs(clusters);
      std::uint32_t units[kSpanUnits][kPairs];
      sum_units(clusters, units);
      for (int round = 1; round < rounds && clusters > 1; ++round) {
        count(cheapest_of_span(units, clusters));
        classes = write_counted_costs(clusters);
        sum_units(clusters, units);
      }
      FitTables found{.count = clusters};
      const std::uint64_t bits = device::warp_uniform(choose_span(units, classes, all, found));
      if (bits > least) break;
      least = bits;
      best = found;
      // The thread has written those rows.
#pragma unroll
      for (int i = 0; i < kOwnClasses; ++i)
        *reinterpret_cast<uint2*>(costs[own_class(i)]) =
            *reinterpret_cast<const uint2*>(shared_.clusters.costs[own_class(i)]);
    }
    return best;
  }

 private:
  static constexpr int kCostBits = 6;
  static constexpr std::uint32_t kMostCost = (32u << kCostBits) - 1;
  static constexpr int kCutBits = kFixedLog2Bits - kCostBits;
  static constexpr int kPairs = kMostFitTables / 2;  // of clusters, in a word
  static_assert(kRowBytes == sizeof(uint2));
  static constexpr int kLevels = kSpanLevels;
  // A cluster's residuals of a class are counted in half a word.
  static_assert(kFitSpans * kFitSpan < 1 << 16);

  /// Of a class in each cluster, two and two in a word.
  struct PairedCounts {
    std::uint32_t pairs[kPairs];

    __device__ std::uint32_t of(int cluster) const {
      return pairs[cluster / 2] >> (16 * (cluster & 1)) & 0xffff;
    }
  };

  __device__ static int own_class(int i) { return static_cast<int>(threadIdx.x) + i * kFitThreads; }

  /// Calls visit(where the row of costs begins) for each residual of a unit of the span, which has residuals.
  template <class Visit>
  __device__ void for_each_row(int unit, const Visit& visit) const {
    const std::uint16_t* const first = shared_.clusters.classes + threadIdx.x * kClassesAtOnce;
#pragma unroll 1
    for (int piece = unit * kUnitPieces; piece < (unit + 1) * kUnitPieces; ++piece) {
      const uint4 rows =
          *reinterpret_cast<const uint4*>(first + piece * ClusterShared::kPieceClasses);
      for (const std::uint32_t pair : {rows.x, rows.y, rows.z, rows.w}) {
        visit(pair & 0xffff);
        visit(pair >> 16);
      }
    }
  }

  /// By the size of its residuals; of equals the first.
  __device__ std::uint32_t rank_of_span() const {
    constexpr int kHalf = kCoarseClasses / 2;
    std::uint32_t size = 0;
    if (length_ > 0)
      for (int unit = 0; unit < kSpanUnits; ++unit)
        for_each_row(unit, [&](std::uint32_t row) {
          const int number = static_cast<int>(row / kRowBytes) - kHalf;
          size += static_cast<std::uint32_t>(number < 0 ? -1 - number : number);
        });
    size -= static_cast<std::uint32_t>((kFitSpan - length_) * (kNoClass - kHalf));
    const auto length = static_cast<std::uint32_t>(length_);
    const std::uint32_t own =
        length == 0 ? ~0u : size * kFitUnit / length * kFitSpans + threadIdx.x;
    std::uint32_t* const sizes = shared_.clusters.span_sizes;
    sizes[threadIdx.x] = own;
    __syncthreads();  // all sizes are there
    std::uint32_t rank = 0;
#pragma unroll 4
    for (int other = 0; other < kFitSpans; other += 4) {
      const uint4 others = *reinterpret_cast<const uint4*>(sizes + other);
      rank += (others.x < own ? 1 : 0) + (others.y < own ? 1 : 0) + (others.z < own ? 1 : 0) +
              (others.w < own ? 1 : 0);
    }
    return rank;
  }

  /// Nothing is counted, and no class costs nothing.
  __device__ void clear() {
    for (int i = 0; i < kOwnClasses; ++i)
      for (int p = 0; p < kPairs; ++p) shared_.clusters.counts[p][own_class(i)] = 0;
    if (threadIdx.x < kMostFitTables) {
      shared_.cluster_totals[0][threadIdx.x] = 0;
      shared_.clusters.costs[kNoClass][threadIdx.x] = 0;
    }
    constexpr int kSums = sizeof shared_.sums / sizeof(std::uint32_t);
    if (threadIdx.x < kSums) shared_.sums[0][threadIdx.x] = 0;
    __syncthreads();  // all is zero
  }

  /// Counts the classes of the span in its cluster; the block waits.
  __device__ void count(std::uint32_t cluster) {
    if (length_ > 0) {
      auto* const counts = reinterpret_cast<unsigned char*>(shared_.clusters.counts[cluster / 2]);
      const std::uint32_t one = 1u << (16 * (cluster & 1));
      for (int unit = 0; unit < kSpanUnits; ++unit)
        for_each_row(unit, [&](std::uint32_t row) {
          atomicAdd(
              reinterpret_cast<std::uint32_t*>(counts + row / (kRowBytes / sizeof(std::uint32_t))),
              one);
        });
      atomicAdd(&shared_.cluster_totals[round_ & 1][cluster], static_cast<std::uint32_t>(length_));
    }
    __syncthreads();  // all are counted
  }

  /// The counts of a class of the thread's, which are zero then.
  __device__ PairedCounts take_counts(int i) {
    PairedCounts counts;
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
      counts.pairs[p] = shared_.clusters.counts[p][own_class(i)];
      shared_.clusters.counts[p][own_class(i)] = 0;
    }
    return counts;
  }
  /// The residuals of cluster (thread % kMostFitTables).
  __device__ std::uint32_t take_total() {
    const std::uint32_t total = shared_.cluster_totals[round_ & 1][threadIdx.x % kMostFitTables];
    ++round_;
    // Nobody reads those of the round before any more.
    if (threadIdx.x < kMostFitTables) shared_.cluster_totals[round_ & 1][threadIdx.x] = 0;
    return total;
  }

  /// Of the most clusters neighbours become one: so are those of fewer, by size of residuals.
  __device__ void take_ranked() {
#pragma unroll
    for (int i = 0; i < kOwnClasses; ++i) ranked_[i] = take_counts(i);
    ranked_total_ = take_total();
  }
  __device__ void halve_ranked() {
#pragma unroll
    for (PairedCounts& ranked : ranked_) {
      std::uint32_t sums[kPairs];
#pragma unroll
      for (int p = 0; p < kPairs; ++p) sums[p] = ranked.of(2 * p) + ranked.of(2 * p + 1);
#pragma unroll
      for (int p = 0; p < kPairs; ++p)
        ranked.pairs[p] =
            p < kPairs / 2 ? sums[2 * p % kPairs] | sums[2 * p % kPairs + 1] << 16 : 0;
    }
    const int own = static_cast<int>(2 * threadIdx.x % kMostFitTables);
    const std::uint32_t first = __shfl_sync(device::kWholeWarp, ranked_total_, own);
    ranked_total_ = first + __shfl_sync(device::kWholeWarp, ranked_total_, own + 1);
  }

  __device__ std::uint32_t write_ranked_costs(int clusters) {
    return write_costs([&](int i) { return ranked_[i]; }, ranked_total_, clusters);
  }
  __device__ std::uint32_t write_counted_costs(int clusters) {
    return write_costs([&](int i) { return take_counts(i); }, take_total(), clusters);
  }

  /// What the thread's classes cost, by their counts; how many clusters have them. A class that a cluster has not seen
  /// counts as a sixteenth of a residual. The block waits.
  template <class CountsOf>
  __device__ std::uint32_t write_costs(const CountsOf& counts_of, std::uint32_t total,
                                       int clusters) {
    const std::uint32_t own_bits = shared_.log2.of(16 * total + kCoarseClasses);
    std::uint32_t classes = 0;
#pragma unroll
    for (int i = 0; i < kOwnClasses; ++i) {
      const PairedCounts counts = counts_of(i);
      std::uint32_t pairs[kPairs] = {};
#pragma unroll
      for (int c = 0; c < kMostFitTables; ++c) {
        std::uint32_t bits = __shfl_sync(device::kWholeWarp, own_bits, c);
        if (c >= clusters) continue;
        if (counts.of(c) > 0) {
          bits -= shared_.log2.of(16 * counts.of(c) + 1);
          ++classes;
        }
        const std::uint32_t cost = min((bits + (1u << kCutBits) / 2) >> kCutBits, kMostCost);
        pairs[c / 2] |= cost << (16 * (c & 1));
      }
      *reinterpret_cast<uint2*>(shared_.clusters.costs[own_class(i)]) =
          make_uint2(pairs[0], pairs[1]);
    }
    __syncthreads();  // all costs are there, and counts are zero
    return classes;
  }

  /// What the span's units cost in each cluster, two and two in a word: 32 residuals add up in 16 bits.
  __device__ void sum_units(int clusters, std::uint32_t (&units)[kSpanUnits][kPairs]) const {
    if (clusters > 2) {
      add_rows<kPairs>(units);
    } else {
      add_rows<1>(units);
    }
  }
  template <int kRowPairs>
  __device__ void add_rows(std::uint32_t (&units)[kSpanUnits][kPairs]) const {
    struct alignas(4 * kRowPairs) Row {
      std::uint32_t pairs[kRowPairs];
    };
    const auto* const costs = reinterpret_cast<const unsigned char*>(shared_.clusters.costs);
#pragma unroll
    for (int u = 0; u < kSpanUnits; ++u) {
#pragma unroll
      for (int p = 0; p < kPairs; ++p) units[u][p] = 0;
      if (length_ == 0) continue;
      for_each_row(u, [&](std::uint32_t at) {
        const Row row = *reinterpret_cast<const Row*>(costs + at);
#pragma unroll
        for (int p = 0; p < kRowPairs; ++p) units[u][p] += row.pairs[p];
      });
    }
  }

  __device__ static void add_unit(const std::uint32_t (&unit)[kPairs],
                                  std::uint32_t (&sums)[kMostFitTables]) {
#pragma unroll
    for (int c = 0; c < kMostFitTables; ++c) sums[c] += unit[c / 2] >> (16 * (c & 1)) & 0xffff;
  }
  /// The least sum, and below it the first cluster that has it.
  __device__ static std::uint32_t cheapest(const std::uint32_t (&sums)[kMostFitTables],
                                           int clusters) {
    std::uint32_t least = ~0u;
#pragma unroll
    for (int c = 0; c < kMostFitTables; ++c)
      if (c < clusters) least = min(least, sums[c] * kMostFitTables + c);
    return least;
  }
  __device__ static std::uint32_t cheapest_of_span(const std::uint32_t (&units)[kSpanUnits][kPairs],
                                                   int clusters) {
    std::uint32_t sums[kMostFitTables] = {};
#pragma unroll
    for (const auto& unit : units) add_unit(unit, sums);
    return cheapest(sums, clusters) % kMostFitTables;
  }

  /// The length of span that suits the costs, and the tables of the span then; gives the bits of the sample, in
  /// 1/64. A single cluster has no selectors.
  __device__ std::uint64_t choose_span(const std::uint32_t (&units)[kSpanUnits][kPairs],
                                       std::uint32_t classes, std::uint64_t all, FitTables& found) {
    const int clusters = found.count;
    const std::uint32_t of_selector = static_cast<std::uint32_t>(selector_bits(clusters))
                                      << kCostBits;
    std::uint32_t own_sums[kLevels + 1] = {}, tables[kLevels] = {}, of_unit[kSpanUnits];
    own_sums[kLevels] = classes;
    std::uint32_t sums[kMostFitTables] = {};
#pragma unroll
    for (int u = 0; u < kSpanUnits; ++u) {
      std::uint32_t own[kMostFitTables] = {};
      add_unit(units[u], own);
      add_unit(units[u], sums);
      const std::uint32_t least = cheapest(own, clusters);
      of_unit[u] = least % kMostFitTables;
      if (length_ > u * kFitUnit) own_sums[0] += least / kMostFitTables + of_selector;
    }
#pragma unroll
    for (int level = 1; level < kLevels; ++level) {
      const int threads = 1 << (level - 1);
      if (threads > 1) {
#pragma unroll
        for (std::uint32_t& sum : sums)
          sum += __shfl_xor_sync(device::kWholeWarp, sum, threads / 2);
      }
      const std::uint32_t least = cheapest(sums, clusters);
      tables[level] = least % kMostFitTables;
      if (length_ > 0 && threadIdx.x % threads == 0)
        own_sums[level] = least / kMostFitTables + of_selector;
    }
    std::uint32_t* const block_sums = shared_.sums[clusters];
#pragma unroll
    for (int i = 0; i <= kLevels; ++i) {
      const std::uint32_t sum = device::warp_sum(own_sums[i]);
      if (threadIdx.x % 32 == 0) atomicAdd(&block_sums[i], sum);
    }
    __syncthreads();  // all sums are there, and costs have been read
    std::uint32_t least = ~0u;
#pragma unroll
    for (int level = kLevels; level-- > 0;) {
      if ((clusters == 1 && level < kLevels - 1) || block_sums[level] >= least) continue;
      least = block_sums[level];
      found.span_bits = kUnitBits + level;
#pragma unroll
      for (int u = 0; u < kSpanUnits; ++u)
        found.of_units[u] = level == 0 ? of_unit[u] : tables[level];
    }
    const std::uint64_t of_classes = (std::uint64_t{block_sums[kLevels]} * kTableClassBits)
                                     << kCostBits;
    return least + of_classes * shared_.residuals / all;
  }

  FitShared<Word>& shared_;
  int length_;                        // of the span
  PairedCounts ranked_[kOwnClasses];  // of the thread's classes, in clusters by size
  std::uint32_t ranked_total_ = 0;
  std::uint32_t round_ = 0;
};

}  // namespace gdelta::cuda
