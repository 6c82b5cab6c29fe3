// The sample of a column that tables are fitted to, taken by a block, and what the block shares while it fits.
#pragma once

#include <cstdint>

#include "kernels/ans/ans_fit_rules.h"
#include "kernels/ans/ans_page_runs.cuh"
#include "kernels/ans/log2_table.cuh"
#include "kernels/deltas/lane_residuals.cuh"

namespace gdelta::cuda {

inline constexpr int kFitUnit = 32;  // residuals
inline constexpr int kFitSpan = kSpanUnits * kFitUnit;
inline constexpr int kStretchUnits = kMaxAnsTile / kFitUnit;
inline constexpr int kStretchSpans = kMaxAnsTile / kFitSpan;
inline constexpr int kFitUnits = static_cast<int>(kMostFitStretches) * kStretchUnits;
inline constexpr int kFitSpans = kFitUnits / kSpanUnits;
inline constexpr int kFitThreads = kFitSpans;  // a thread a span
inline constexpr int kFitWarps = kFitThreads / 32;
inline constexpr int kFitTeams = 2;  // each sorts a table's sample while the other sorts another's
inline constexpr int kTeamThreads = kFitThreads / kFitTeams;
inline constexpr int kTeamWarps = kTeamThreads / 32;
inline constexpr int kUnitBits = 5;
/// Lengths of spans: a unit, two, and so on.
inline constexpr int kSpanLevels = kMaxSpanBits - kUnitBits + 1;
static_assert(kFitUnit == 1 << kUnitBits && kSpanUnits == 2);
inline constexpr int kClassesAtOnce = 8;  // a thread loads
inline constexpr int kSpanPieces = kFitSpan / kClassesAtOnce;
inline constexpr int kUnitPieces = kFitUnit / kClassesAtOnce;
inline constexpr int kRowBytes = kMostFitTables * sizeof(std::uint16_t);  // of costs of a class
/// The class of residuals that a span lacks: it costs nothing.
inline constexpr int kNoClass = kCoarseClasses;

/// Consecutive residuals of a lane.
struct FitStretch {
  std::uint32_t first;  // tuple of the chunk
  std::uint32_t lane;
};

/// While spans are divided into clusters.
struct ClusterShared {
  // One row more than there are spans, so that the classes of a unit are in different banks.
  static constexpr int kPieceClasses = (kFitSpans + 1) * kClassesAtOnce;
  // Of each span its first eight classes, then the next eight, and so on; each as where the class's costs begin.
  alignas(16) std::uint16_t classes[kSpanPieces * kPieceClasses];
  alignas(16) std::uint16_t costs[kCoarseClasses + 1][kMostFitTables];
  alignas(16) std::uint32_t span_sizes[kFitSpans];
  std::uint32_t counts[kMostFitTables / 2]
                      [kCoarseClasses + 1];  // of two clusters in the halves of a word
};

template <class Word>
struct FitShared {
  union {
    ClusterShared clusters;
    alignas(16) Word samples[kFitTeams][kMostTableSample];
  };
  FitStretch stretches[kMostFitStretches];
  std::uint16_t stretch_length[kMostFitStretches];
  Log2Table log2;
  std::uint32_t cluster_totals[2][kMostFitTables];  // of a round, and of the one before
  // Of each number of clusters: bits by the length of a span, and how many classes all clusters have.
  std::uint32_t sums[kMostFitTables + 1][kSpanLevels + 1];
  // Units of a table and their residuals, in the high and the low half: of a warp's, then before them.
  std::uint32_t warp_units[kMostFitTables][kFitWarps];
  // Table after table, and how many of the table's residuals are before each, in the high half.
  std::uint32_t units[kFitUnits];
  std::uint32_t totals[kMostFitTables];  // residuals of each table
  std::uint32_t table_units[kMostFitTables];
  std::uint32_t reciprocals[kMostFitTables];  // of totals
  std::uint32_t warp_cells[kFitWarps];
  std::uint32_t selectors;
  std::uint32_t residuals;
  std::uint32_t spans;

  __device__ int span_length(int span) const {
    return min(max(stretch_length[span / kStretchSpans] - span % kStretchSpans * kFitSpan, 0),
               kFitSpan);
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
    atomicAdd(&shared.residuals, std::uint32_t{length});
    atomicAdd(&shared.spans, static_cast<std::uint32_t>((length + kFitSpan - 1) / kFitSpan));
  }
  __syncthreads();  // the sample is known
}

/// The residuals of the sample, and their classes, each as where the class's row of costs begins; a warp a stretch.
template <bool kSteps, class Word>
__device__ void take_residuals(const PackTask& task, FitShared<Word>& shared,
                               AnsFitSample<Word>& sample) {
  constexpr int kGroups = kMaxAnsTile / kGroupValues;
  const int thread = static_cast<int>(threadIdx.x % 32);
  for (int s = device::warp_number(); s < static_cast<int>(kMostFitStretches); s += kFitWarps) {
    const int length = device::warp_uniform(shared.stretch_length[s]);
    if (length == 0) break;
    const FitStretch stretch = shared.stretches[s];
    const LaneView<Word, kSteps> values(task, stretch.lane, task.map);
    const int order = device::warp_uniform(task.orders[stretch.lane]);
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
      const Word residual = sign_extended(
          groups[i / kGroupRegisters].words[i % kGroupRegisters + 1], 8 * task.value_bytes);
      const bool has = kFitUnit * i + thread < length;
      if (has) sample.residuals[kMaxAnsTile * s + kFitUnit * i + thread] = residual;
      const int span = kStretchSpans * s + i / kSpanUnits;
      const int number = i % kSpanUnits * kFitUnit + thread;
      shared.clusters.classes[number / kClassesAtOnce * ClusterShared::kPieceClasses +
                              span * kClassesAtOnce + number % kClassesAtOnce] =
          static_cast<std::uint16_t>((has ? coarse_class(residual) : kNoClass) * kRowBytes);
    }
  }
  __syncthreads();  // all residuals are there
}

}  // namespace gdelta::cuda
