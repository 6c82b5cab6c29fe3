// The sample of a column that tables are fitted to, and the clusters of its spans: what ans_clusters.h does,
// by a block.
#pragma once

#include <cstdint>

#include "kernels/ans/ans_fit_rules.h"
#include "kernels/ans/ans_page_runs.cuh"
#include "kernels/ans/log2_table.cuh"
#include "kernels/deltas/lane_residuals.cuh"

namespace gdelta::cuda {

inline constexpr int kFitThreads = 256;
inline constexpr int kFitUnit = 32;  // residuals
inline constexpr int kStretchUnits = kMaxAnsTile / kFitUnit;
inline constexpr int kFitUnits = static_cast<int>(kMostFitStretches) * kStretchUnits;
inline constexpr int kFitSpans = kFitUnits / kSpanUnits;
inline constexpr int kCostBits = 6;
inline constexpr int kClassesAtOnce = 8;                                  // a thread loads
inline constexpr int kRowBytes = kMostFitTables * sizeof(std::uint16_t);  // of costs of a class

/// Costs of a unit in each cluster.
using UnitCosts = std::uint16_t[kMostFitTables];

/// Consecutive residuals of a lane.
struct FitStretch {
  std::uint32_t first;  // tuple of the chunk
  std::uint32_t lane;
};

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
  FitStretch stretches[kMostFitStretches];
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
  /// Stretch `i` of the sample, and how many residuals it has.
  __device__ FitStretch find(std::uint32_t i, std::uint16_t& length) const {
    std::uint64_t number = all * i / count;
    const bool is_full = number < full_stretches();
    if (!is_full) number -= full_stretches();
    const std::uint32_t tuples = is_full ? page_tuples_ : rest_, of_lane = stretches_of(tuples);
    const auto lane = static_cast<std::uint32_t>(number / of_lane % tuple_);
    const auto page = static_cast<std::uint32_t>(is_full ? number / of_lane / tuple_
                                                         : std::uint64_t{full_pages_});
    const auto first = static_cast<std::uint32_t>(number % of_lane) * kMaxAnsTile;
    length = static_cast<std::uint16_t>(min(tuples - first, std::uint32_t{kMaxAnsTile}));
    return {page * page_tuples_ + first, lane};
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
    FitStretch stretch{};
    std::uint16_t length = 0;
    if (i < sample.count) stretch = sample.find(i, length);
    shared.stretches[i] = stretch;
    shared.stretch_length[i] = length;
    constexpr int kSpan = kSpanUnits * kFitUnit;
    atomicAdd(&shared.residuals, std::uint32_t{length});
    atomicAdd(&shared.spans, static_cast<std::uint32_t>((length + kSpan - 1) / kSpan));
  }
  __syncthreads();  // the sample is known
}

/// Where the class of a residual is: sum_units reads eight of a unit at once.
__device__ inline int class_place(int unit, int number) {
  return ((number / kClassesAtOnce) * kFitUnits + unit) * kClassesAtOnce + number % kClassesAtOnce;
}

/// The residuals of the sample, and their classes, each as where the class's row of costs begins; a warp a stretch.
template <class Word>
__device__ void take_residuals(const PackTask& task, const FitShared<Word>& shared,
                               AnsFitRoom<Word>& room) {
  constexpr int kGroups = kMaxAnsTile / kGroupValues;
  const int thread = static_cast<int>(threadIdx.x % 32);
  for (int s = static_cast<int>(threadIdx.x / 32); s < static_cast<int>(kMostFitStretches);
       s += kFitThreads / 32) {
    const int length = shared.stretch_length[s];
    if (length == 0) break;
    const FitStretch stretch = shared.stretches[s];
    const LaneView<Word> values(task, stretch.lane, task.map);
    const int order = task.orders[stretch.lane];
    GroupValues<Word> groups[kGroups];
    bool differs = false;
#pragma unroll
    for (int g = 0; g < kGroups; ++g)
      // A group behind the chunk's end, which nobody wants, is its last tuple.
      groups[g] =
          load_group<false>(task, values, min(stretch.first + kGroupValues * g, task.records - 1),
                            order, Word{0}, differs);
#pragma unroll 1
    for (int k = 0; k < order; ++k) {
#pragma unroll
      for (GroupValues<Word>& group : groups) group.difference();
    }
#pragma unroll
    for (int i = 0; i < kStretchUnits; ++i) {
      if (kFitUnit * i + thread >= length) continue;
      const Word residual = sign_extended(
          groups[i / kGroupRegisters].words[i % kGroupRegisters + 1], 8 * task.value_bytes);
      const int unit = kStretchUnits * s + i;
      room.residuals[kFitUnit * unit + thread] = residual;
      room.classes[class_place(unit, thread)] =
          static_cast<std::uint16_t>(coarse_class(residual) * kRowBytes);
    }
  }
  __syncthreads();  // all residuals are there
}

/// Divides the sample's spans into clusters of alike ones.
template <class Word>
class Clustering {
 public:
  /// `classes`: of the sample, as take_residuals leaves them.
  __device__ Clustering(const std::uint16_t* classes, FitShared<Word>& shared)
      : classes_(classes), shared_(shared) {}

  /// Ranks the sample's spans by size, which all divisions begin with.
  __device__ void rank_spans() const {
    for (int span = threadIdx.x; span < kFitSpans; span += kFitThreads) {
      std::uint32_t size = 0, count = 0;
      for (int unit = span * kSpanUnits; unit < (span + 1) * kSpanUnits; ++unit) {
        const std::uint32_t length = shared_.unit_length(unit);
        for_each_class(unit, length, [&](std::uint32_t row) {
          const int number = static_cast<int>(row / kRowBytes) - kCoarseClasses / 2;
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
    const auto* const costs = reinterpret_cast<const unsigned char*>(shared_.costs);
    for (int unit = threadIdx.x; unit < kFitUnits; unit += kFitThreads) {
      const std::uint32_t length = shared_.unit_length(unit);
      uint4 sums = make_uint4(0, 0, 0, 0);  // two and two clusters in a word
      for_each_class(unit, length, [&](std::uint32_t at) {
        const uint4 row = *reinterpret_cast<const uint4*>(costs + at);
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
      for_each_class(unit, length, [&](std::uint32_t row) {
        atomicAdd(&shared_.counts[row / (kRowBytes / kMostFitTables) + cluster], 1u);
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

  /// Calls visit(where the row of costs begins) for each residual of a unit. Behind a unit's end there is memory, too.
  template <class Visit>
  __device__ void for_each_class(int unit, std::uint32_t length, const Visit& visit) const {
    constexpr int kLoads = kFitUnit / kClassesAtOnce;
    union {
      uint4 vectors[kLoads];
      std::uint32_t pairs[kFitUnit / 2];
    };
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      vectors[i] =
          *reinterpret_cast<const uint4*>(classes_ + class_place(unit, kClassesAtOnce * i));
    if (length == kFitUnit) {
#pragma unroll
      for (int i = 0; i < kFitUnit; ++i) visit(pairs[i / 2] >> (16 * (i & 1)) & 0xffff);
      return;
    }
#pragma unroll
    for (int i = 0; i < kFitUnit; ++i)
      if (i < static_cast<int>(length)) visit(pairs[i / 2] >> (16 * (i & 1)) & 0xffff);
  }

  const std::uint16_t* classes_;
  FitShared<Word>& shared_;
};

}  // namespace gdelta::cuda
