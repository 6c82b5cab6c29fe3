// The sample of a column that tables are fitted to, and the clusters of its spans: what ans_clusters.h does,
// by a block.
#pragma once

#include <cstdint>

#include "kernels/ans/ans_encode_pages.cuh"
#include "kernels/ans/ans_fit_rules.h"
#include "kernels/ans/log2_table.cuh"

namespace gdelta::cuda {

inline constexpr int kFitThreads = 256;
inline constexpr int kFitUnit = 32;  // residuals
inline constexpr int kStretchUnits = kMaxAnsTile / kFitUnit;
inline constexpr int kFitUnits = static_cast<int>(kMostFitStretches) * kStretchUnits;
inline constexpr int kFitSpans = kFitUnits / kSpanUnits;
inline constexpr int kCostBits = 6;

/// Costs of a unit in each cluster.
using UnitCosts = std::uint16_t[kMostFitTables];

template <class Word>
struct FitShared {
  union {
    alignas(16) std::uint32_t counts[kCoarseClasses * kMostFitTables];
    alignas(16) UnitCosts unit_costs[kFitUnits];
    alignas(16) std::uint32_t span_sizes[kFitSpans];
    Word exchange[kMostTableSample];
    std::uint8_t lengths[kMostFitTables][AnsFitRoom<Word>::kMostCells];
  };
  alignas(16) std::uint16_t costs[kCoarseClasses][kMostFitTables];
  std::uint16_t rank_of[kFitSpans];  // by size
  std::uint8_t cluster_of[kFitSpans];
  std::uint8_t table_of[kFitUnits];
  std::uint16_t place_of[kFitUnits];  // among the residuals of its table
  std::uint32_t stretch_at[kMostFitStretches];
  std::uint16_t stretch_length[kMostFitStretches];
  std::uint16_t chain[kMostFitTables][kMaxTableBins / 2];
  Log2Table log2;
  std::uint32_t totals[kMostFitTables];
  std::uint32_t total_bits[kMostFitTables];  // of each total, its logarithm
  std::uint32_t classes;                     // of all clusters
  unsigned long long span_bits_cost[kMaxSpanBits + 1];
  unsigned long long bits;  // of a division
  std::uint32_t selectors;
  std::uint32_t residuals;
  std::uint32_t spans;

  __device__ std::uint32_t unit_length(int unit) const {
    const int length = stretch_length[unit / kStretchUnits] - unit % kStretchUnits * kFitUnit;
    return static_cast<std::uint32_t>(min(max(length, 0), kFitUnit));
  }
  __device__ std::uint32_t unit_at(int unit) const {
    return stretch_at[unit / kStretchUnits] + unit % kStretchUnits * kFitUnit;
  }
};

/// Stretches spread over a column.
struct StretchSample {
  std::uint64_t all;    // stretches of the column
  std::uint32_t count;  // that are looked at

  __device__ StretchSample(const PackTask& task, std::uint64_t most)
      : page_tuples_(kGroupValues * task.page_groups),
        full_pages_(task.records / page_tuples_),
        rest_(task.records % page_tuples_),
        tuple_(task.tuple) {
    all = full_stretches() + std::uint64_t{tuple_} * stretches_of(rest_);
    count = static_cast<std::uint32_t>(all < most ? all : most);
  }
  /// Where stretch `i` of the sample begins among the column's residuals, and how many it has.
  __device__ void find(std::uint32_t i, std::uint32_t& at, std::uint16_t& length) const {
    std::uint64_t number = all * i / count;
    const bool is_full = number < full_stretches();
    if (!is_full) number -= full_stretches();
    const std::uint32_t tuples = is_full ? page_tuples_ : rest_, of_lane = stretches_of(tuples);
    const auto lane = static_cast<std::uint32_t>(number / of_lane % tuple_);
    const auto page = static_cast<std::uint32_t>(is_full ? number / of_lane / tuple_
                                                         : std::uint64_t{full_pages_});
    const auto first = static_cast<std::uint32_t>(number % of_lane) * kMaxAnsTile;
    at = page * page_tuples_ * tuple_ + lane * tuples + first;
    length = static_cast<std::uint16_t>(min(tuples - first, std::uint32_t{kMaxAnsTile}));
  }

 private:
  __device__ static std::uint32_t stretches_of(std::uint32_t tuples) {
    return (tuples + kMaxAnsTile - 1) / kMaxAnsTile;
  }
  __device__ std::uint64_t full_stretches() const {
    return std::uint64_t{full_pages_} * tuple_ * stretches_of(page_tuples_);
  }

  std::uint32_t page_tuples_, full_pages_, rest_, tuple_;
};

/// Finds the sample; the block calls it.
template <class Word>
__device__ void take_stretches(const PackTask& task, std::uint64_t most, FitShared<Word>& shared) {
  const StretchSample sample(task, most);
  if (threadIdx.x == 0) shared.residuals = shared.spans = 0;
  __syncthreads();  // sums are zero
  for (std::uint32_t i = threadIdx.x; i < kMostFitStretches; i += kFitThreads) {
    std::uint32_t at = 0;
    std::uint16_t length = 0;
    if (i < sample.count) sample.find(i, at, length);
    shared.stretch_at[i] = at;
    shared.stretch_length[i] = length;
    constexpr int kSpan = kSpanUnits * kFitUnit;
    atomicAdd(&shared.residuals, std::uint32_t{length});
    atomicAdd(&shared.spans, static_cast<std::uint32_t>((length + kSpan - 1) / kSpan));
  }
  __syncthreads();  // the sample is known
}

/// The classes of the sample, a unit a column.
template <class Word>
__device__ void take_classes(const Word* residuals, const FitShared<Word>& shared,
                             std::uint16_t* classes) {
  for (int i = threadIdx.x; i < kFitUnits * kFitUnit; i += kFitThreads) {
    const std::uint32_t unit = i / kFitUnit, number = i % kFitUnit;
    if (number < shared.unit_length(unit))
      classes[number * kFitUnits + unit] =
          static_cast<std::uint16_t>(coarse_class(residuals[shared.unit_at(unit) + number]));
  }
  __syncthreads();  // all classes are there
}

/// Divides the sample's spans into clusters of alike ones.
template <class Word>
class Clustering {
 public:
  /// `classes`: of the sample, as take_classes leaves them.
  __device__ Clustering(const std::uint16_t* classes, FitShared<Word>& shared)
      : classes_(classes), shared_(shared) {}

  /// Ranks the sample's spans by size, which all divisions begin with.
  __device__ void rank_spans() const {
    for (int span = threadIdx.x; span < kFitSpans; span += kFitThreads) {
      std::uint32_t size = 0, count = 0;
      for (int unit = span * kSpanUnits; unit < (span + 1) * kSpanUnits; ++unit) {
        const std::uint32_t length = shared_.unit_length(unit);
        for_each_class(unit, length, [&](std::uint32_t of) {
          const int number = static_cast<int>(of) - kCoarseClasses / 2;
          size += static_cast<std::uint32_t>(number < 0 ? -1 - number : number);
        });
        count += length;
      }
      // Of equals the first: no two are the same.
      shared_.span_sizes[span] =
          count == 0 ? ~0u : size * kFitUnit / count * kFitSpans + static_cast<unsigned>(span);
    }
    __syncthreads();  // all sizes are there
    for (int span = threadIdx.x; span < kFitSpans; span += kFitThreads) {
      const std::uint32_t size = shared_.span_sizes[span];
      std::uint32_t rank = 0;
#pragma unroll 4
      for (int other = 0; other < kFitSpans; other += 4) {
        const uint4 sizes = *reinterpret_cast<const uint4*>(shared_.span_sizes + other);
        rank += (sizes.x < size ? 1 : 0) + (sizes.y < size ? 1 : 0) + (sizes.z < size ? 1 : 0) +
                (sizes.w < size ? 1 : 0);
      }
      shared_.rank_of[span] = static_cast<std::uint16_t>(rank);
    }
    __syncthreads();  // all ranks are there, and sizes have been read
  }

  /// Divides the sample into so many clusters, whose costs are then there; `bits` of the sample, in 1/64,
  /// and the length of span that suits them. `all`: residuals of the column.
  __device__ std::uint64_t divide(int clusters, int rounds, std::uint64_t all, int& span_bits) {
    // Begins with clusters of about equally large residuals.
    for (int span = threadIdx.x; span < kFitSpans; span += kFitThreads)
      shared_.cluster_of[span] = static_cast<std::uint8_t>(std::uint32_t{shared_.rank_of[span]} *
                                                           clusters / shared_.spans);
    __syncthreads();  // all spans have a cluster
    find_costs(clusters);
    for (int round = 1; round < rounds && clusters > 1; ++round) {
      sum_units();
      for (int span = threadIdx.x; span < kFitSpans; span += kFitThreads)
        if (span_exists(span))
          shared_.cluster_of[span] =
              static_cast<std::uint8_t>(cheapest(span * kSpanUnits, kSpanUnits, clusters).cluster);
      __syncthreads();  // all spans have their cluster
      find_costs(clusters);
    }
    sum_units();
    const std::uint64_t of_classes = (std::uint64_t{shared_.classes} * kTableClassBits)
                                     << kCostBits;
    return choose_span(clusters, span_bits) + of_classes * shared_.residuals / all;
  }

  /// What units cost by the costs that are there.
  __device__ void sum_units() {
    for (int unit = threadIdx.x; unit < kFitUnits; unit += kFitThreads) {
      const std::uint32_t length = shared_.unit_length(unit);
      uint4 sums = make_uint4(0, 0, 0, 0);  // two and two clusters in a word
      for_each_class(unit, length, [&](std::uint32_t number) {
        const uint4 row = *reinterpret_cast<const uint4*>(shared_.costs[number]);
        sums.x += row.x, sums.y += row.y, sums.z += row.z, sums.w += row.w;
      });
      *reinterpret_cast<uint4*>(shared_.unit_costs[unit]) = sums;
    }
    __syncthreads();  // all units have their costs
  }

  struct Choice {
    int cluster;
    std::uint32_t bits;  // in 1/64
  };
  /// The cluster that suits so many units best, of equals the first.
  __device__ Choice cheapest(int first, int units, int clusters) const {
    std::uint32_t sums[kMostFitTables] = {};
    for (int unit = first; unit < first + units; ++unit) {
      if (shared_.unit_length(unit) == 0) break;
#pragma unroll
      for (int c = 0; c < kMostFitTables; ++c) sums[c] += shared_.unit_costs[unit][c];
    }
    Choice choice{0, sums[0]};
#pragma unroll
    for (int c = 1; c < kMostFitTables; ++c)
      if (c < clusters && sums[c] < choice.bits) choice = {c, sums[c]};
    return choice;
  }

 private:
  static constexpr std::uint32_t kMostCost = (32u << kCostBits) - 1;
  static constexpr int kCutBits = kFixedLog2Bits - kCostBits;

  __device__ bool span_exists(int span) const { return shared_.unit_length(span * kSpanUnits) > 0; }

  __device__ std::uint16_t cost_of(std::uint32_t bits) const {
    return static_cast<std::uint16_t>(min((bits + (1u << kCutBits) / 2) >> kCutBits, kMostCost));
  }

  /// Costs from the spans that each cluster has. A class that a cluster has not seen counts as a sixteenth
  /// of a residual.
  __device__ void find_costs(int clusters) {
    for (int i = threadIdx.x; i < kCoarseClasses * kMostFitTables; i += kFitThreads)
      shared_.counts[i] = 0;
    if (threadIdx.x < kMostFitTables) shared_.totals[threadIdx.x] = 0;
    if (threadIdx.x == 0) shared_.classes = 0;
    __syncthreads();  // counts are zero
    for (int unit = threadIdx.x; unit < kFitUnits; unit += kFitThreads) {
      const std::uint32_t length = shared_.unit_length(unit);
      if (length == 0) continue;
      const int cluster = shared_.cluster_of[unit / kSpanUnits];
      for_each_class(unit, length, [&](std::uint32_t number) {
        atomicAdd(&shared_.counts[number * kMostFitTables + cluster], 1u);
      });
      atomicAdd(&shared_.totals[cluster], length);
    }
    __syncthreads();  // all are counted
    if (threadIdx.x < kMostFitTables)
      shared_.total_bits[threadIdx.x] =
          shared_.log2.of(16 * shared_.totals[threadIdx.x] + kCoarseClasses);
    __syncthreads();  // totals have their logarithms
    std::uint32_t classes = 0;
    for (int i = threadIdx.x; i < kCoarseClasses * kMostFitTables; i += kFitThreads) {
      const int c = i % kMostFitTables;
      const std::uint32_t count = shared_.counts[i];
      std::uint32_t bits = shared_.total_bits[c];
      if (count > 0) bits -= shared_.log2.of(16 * count + 1);
      if (c < clusters && count > 0) ++classes;
      shared_.costs[i / kMostFitTables][c] = c < clusters ? cost_of(bits) : 0;
    }
    if (classes > 0) atomicAdd(&shared_.classes, classes);
    __syncthreads();  // all costs are there
  }

  /// The length of span that suits the costs; gives the bits of the sample. A single cluster has no
  /// selectors.
  __device__ std::uint64_t choose_span(int clusters, int& span_bits) {
    constexpr int kUnitBits = 5;
    static_assert(kFitUnit == 1 << kUnitBits);
    if (threadIdx.x <= kMaxSpanBits) shared_.span_bits_cost[threadIdx.x] = 0;
    __syncthreads();  // sums are zero
    const std::uint32_t of_selector = static_cast<std::uint32_t>(selector_bits(clusters))
                                      << kCostBits;
    for (int bits = kMaxSpanBits; bits >= kUnitBits; --bits) {
      const int units = 1 << (bits - kUnitBits);
      unsigned long long sum = 0;
      for (int unit = threadIdx.x * units; unit < kFitUnits; unit += kFitThreads * units)
        if (shared_.unit_length(unit) > 0)
          sum += cheapest(unit, units, clusters).bits + of_selector;
      if (sum > 0) atomicAdd(&shared_.span_bits_cost[bits], sum);
    }
    __syncthreads();  // all sums are there
    std::uint64_t least = ~std::uint64_t{0};
    for (int bits = kMaxSpanBits; bits >= (clusters == 1 ? kMaxSpanBits : kUnitBits); --bits) {
      if (shared_.span_bits_cost[bits] >= least) continue;
      least = shared_.span_bits_cost[bits];
      span_bits = bits;
    }
    __syncthreads();  // and have been read
    return least;
  }

  /// Several loads are under way at once: behind a unit's end there is memory, too.
  template <class Visit>
  __device__ void for_each_class(int unit, std::uint32_t length, const Visit& visit) const {
    constexpr std::uint32_t kAhead = 16;
    for (std::uint32_t first = 0; first < length; first += kAhead) {
      std::uint16_t numbers[kAhead];
#pragma unroll
      for (std::uint32_t i = 0; i < kAhead; ++i)
        numbers[i] = classes_[(first + i) * kFitUnits + unit];
#pragma unroll
      for (std::uint32_t i = 0; i < kAhead; ++i)
        if (first + i < length) visit(numbers[i]);
    }
  }

  const std::uint16_t* classes_;
  FitShared<Word>& shared_;
};

}  // namespace gdelta::cuda
