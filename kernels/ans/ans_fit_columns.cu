// Fits clusters to columns and makes cells of their samples, a block a column: the first half of what ans_fit.h does
// before all residuals are counted.
#include "kernels/ans/ans_fit_cells.cuh"
#include "kernels/ans/ans_fit_clusters.cuh"
#include "kernels/ans/ans_fit_cuts_cuda.h"
#include "kernels/ans/residual_classes.h"
#include "kernels/ans/turned_sign.cuh"
#include "kernels/device/shared_limit.h"
#include "kernels/device/team_sort.cuh"

namespace gdelta::cuda {
namespace {

static_assert(kCoarseClasses == kResidualClasses);

/// One column's clusters and cells, by a block.
template <class Word>
class ColumnCells {
 public:
  __device__ ColumnCells(const AnsEncodeArgs<Word>& args, std::uint32_t task,
                         AnsFitCells<Word>& cells, FitShared<Word>& shared)
      : effort_(args.effort),
        task_(args.tasks[task]),
        all_(device::warp_uniform(std::uint64_t{task_.records} * task_.tuple)),
        sample_(args.samples[blockIdx.x]),
        cuts_(args.cuts[task]),
        cells_(cells),
        shared_(shared) {
    take_stretches(task_, effort_.sampled_stretches, shared);
    if (device::warp_uniform(task_.has_steps())) {
      take_residuals<true>(task_, shared_, sample_);
    } else {
      take_residuals<false>(task_, shared_, sample_);
    }
  }

  /// Many tables follow residuals that change, few have room for bins of residuals that repeat: a single one is tried,
  /// too.
  __device__ void make() const {
    FitTables tables = find_clusters();
    if (threadIdx.x == 0) {
      cells_.num_tables = tables.count;
      cells_.span_bits = tables.span_bits;
      cells_.residuals = shared_.residuals;
    }
    count_selectors(tables);
    int first = 0;
#pragma unroll 1
    for (bool again = true; again; tables = {}) {
      again = tables.count > 1 && tables.count <= effort_.most_to_single;
      place_units(tables);
      for (int table = 0; table < tables.count; table += kFitTeams)
        make_tables(table, tables.count, cells_.tables + first);
      first += tables.count;
    }
  }

 private:
  /// As many clusters as make the sample short; their costs go to the column's.
  __device__ FitTables find_clusters() const {
    int most = effort_.most_tables;
    while (most > 1 && all_ < kFewestOfTable * static_cast<unsigned>(most)) most /= 2;
    if (most == 1) return {};
    return SpanClusters<Word>(shared_).find(most, effort_.rounds, all_, cuts_.costs);
  }

  __device__ static std::uint32_t sampled(std::uint32_t size) {
    return min(size, static_cast<std::uint32_t>(kMostTableSample));
  }

  /// Those of as many tables as there are teams.
  __device__ void make_tables(int first, int count,
                              typename AnsFitCells<Word>::Table* tables) const {
    const int team = device::warp_number() / kTeamWarps, table = first + team;
    const std::uint32_t size = table < count ? shared_.totals[table] : 0;
    const std::uint32_t values = device::warp_uniform(sampled(size));
    std::uint32_t most = 0;
    for (int t = first; t < min(first + kFitTeams, count); ++t)
      most = max(most, sampled(shared_.totals[t]));
    Word* const sample = shared_.samples[team];
    if (values > 0) gather(table, sample);
    __syncthreads();  // the samples are there
    using Sort =
        device::TeamSort<Word, static_cast<int>(kMostTableSample) / kTeamThreads, kTeamWarps>;
    Sort(sample).sort(values, device::warp_uniform(most));
    typename AnsFitCells<Word>::Table& made = tables[min(table, count - 1)];
    const std::uint32_t cells =
        make_cells<Word>(sample, values, effort_.cells, shared_.warp_cells, made);
    if (table >= count || threadIdx.x % kTeamThreads != 0) return;
    made.cells = cells;
    made.values = values;
    made.size = size;
  }

  /// Those of spans that begin with this thread's.
  __device__ void count_selectors(const FitTables& tables) const {
    if (threadIdx.x == 0) shared_.selectors = 0;
    __syncthreads();  // the sum is zero
    const int length = shared_.span_length(static_cast<int>(threadIdx.x));
    int selectors = 0;
    for (int at = 0; at < length; at += kFitUnit) {
      const int first = static_cast<int>(threadIdx.x) % kStretchSpans * kFitSpan + at;
      if (first % (1 << tables.span_bits) == 0) ++selectors;
    }
    selectors = device::warp_sum(selectors);
    if (threadIdx.x % 32 == 0) atomicAdd(&shared_.selectors, static_cast<std::uint32_t>(selectors));
    __syncthreads();  // all have added theirs
    if (threadIdx.x == 0) cells_.selectors = shared_.selectors;
  }

  /// Lists the units of each table, and before how many residuals each has.
  __device__ void place_units(const FitTables& tables) const {
    constexpr int kUnitsAt = 16;  // what a table has of them, above its residuals
    const int warp = device::warp_number(),
              length = shared_.span_length(static_cast<int>(threadIdx.x));
    const auto of_unit = [&](int unit, int table) -> std::uint32_t {
      const int own = min(max(length - unit * kFitUnit, 0), kFitUnit);
      return own > 0 && tables.of_units[unit] == static_cast<std::uint32_t>(table)
                 ? own | 1u << kUnitsAt
                 : 0;
    };
    std::uint32_t before[kMostFitTables] = {};
#pragma unroll
    for (int table = 0; table < kMostFitTables; ++table) {
      if (table >= tables.count) continue;
      std::uint32_t own = 0;
#pragma unroll
      for (int unit = 0; unit < kSpanUnits; ++unit) own += of_unit(unit, table);
      const std::uint32_t end = device::warp_prefix(own);
      before[table] = end - own;
      if (threadIdx.x % 32 == 31) shared_.warp_units[table][warp] = end;
    }
    __syncthreads();  // the units of all warps are there
    if (warp < tables.count) {
      const std::uint32_t thread = threadIdx.x % 32;
      const std::uint32_t own = thread < kFitWarps ? shared_.warp_units[warp][thread] : 0;
      const std::uint32_t end = device::warp_prefix(own);
      if (thread < kFitWarps) shared_.warp_units[warp][thread] = end - own;
      if (thread == 31) {
        const std::uint32_t total = end & ((1u << kUnitsAt) - 1);
        shared_.totals[warp] = total;
        shared_.table_units[warp] = end >> kUnitsAt;
        // Rounded up, which changes no quotient: what is divided, times the total, stays below 2^43.
        shared_.reciprocals[warp] =
            total > kMostTableSample
                ? static_cast<std::uint32_t>(((std::uint64_t{1} << kReciprocalBits) + total - 1) /
                                             total)
                : 0;
      }
    }
    __syncthreads();  // all units have their places
    std::uint32_t start = 0;
#pragma unroll
    for (int table = 0; table < kMostFitTables; ++table) {
      if (table >= tables.count) continue;
      std::uint32_t place = before[table] + shared_.warp_units[table][warp];
#pragma unroll
      for (int unit = 0; unit < kSpanUnits; ++unit) {
        const std::uint32_t own = of_unit(unit, table);
        if (own > 0)
          shared_.units[start + (place >> kUnitsAt)] =
              place << kUnitsAt | (threadIdx.x * kSpanUnits + unit);
        place += own;
      }
      start += shared_.table_units[table];
    }
    __syncthreads();  // all units are listed
  }

  /// The sample of a table, by a team: number size × i / kMostTableSample of its residuals, if it has more.
  __device__ void gather(int table, Word* sample) const {
    constexpr auto kMost = static_cast<std::uint32_t>(kMostTableSample);
    constexpr std::uint32_t kLoads = 8;  // under way together
    const std::uint32_t thread = threadIdx.x % 32, warp = device::warp_number() % kTeamWarps;
    const std::uint32_t size = shared_.totals[table], reciprocal = shared_.reciprocals[table];
    const std::uint32_t count = shared_.table_units[table];
    std::uint32_t first = 0;
    for (int t = 0; t < table; ++t) first += shared_.table_units[t];
    const std::uint32_t* const units = shared_.units + first;
    for (std::uint32_t i = warp; i < count; i += kTeamWarps * kLoads) {
      Word residuals[kLoads];
      std::uint32_t places[kLoads];
#pragma unroll
      for (std::uint32_t k = 0; k < kLoads; ++k) {
        const std::uint32_t at = i + k * kTeamWarps;
        places[k] = size;
        if (at >= count) continue;
        const std::uint32_t place = (units[at] >> 16) + thread;
        if (place >= (at + 1 < count ? units[at + 1] >> 16 : size)) continue;
        places[k] = place;
        residuals[k] = sample_.residuals[kFitUnit * (units[at] & 0xffff) + thread];
      }
#pragma unroll
      for (std::uint32_t k = 0; k < kLoads; ++k) {
        std::uint32_t number = places[k];
        if (number == size) continue;
        if (size > kMost) {
          const std::uint64_t rounded_up = number * kMost + size - 1;
          number = static_cast<std::uint32_t>(rounded_up * reciprocal >> kReciprocalBits);
          if (number >= kMost || number * size / kMost != places[k]) continue;
        }
        sample[number] = turn_sign(residuals[k]);
      }
    }
  }

  static constexpr int kReciprocalBits = 43;  // reciprocals have 32 bits

  const AnsEffort& effort_;
  const PackTask& task_;
  std::uint64_t all_;  // residuals of the column
  AnsFitSample<Word>& sample_;
  AnsCutTables<Word>& cuts_;
  AnsFitCells<Word>& cells_;
  FitShared<Word>& shared_;
};

/// Nothing has been counted.
template <class Word>
__device__ void clear_counts(AnsBinCounts<Word>& counts) {
  for (int name = threadIdx.x; name < kAnsNames; name += kFitThreads) {
    counts.counts[name] = 0;
    counts.first[name] = static_cast<Word>(~Word{0} >> 1);
    counts.last[name] = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
  }
}

/// Of columns from `first` on, as many as there is memory for their cells.
template <class Word>
__global__ void __launch_bounds__(kFitThreads, 4)
    fit_ans_kernel(AnsEncodeArgs<Word> args, std::uint32_t first) {
  auto& shared = *reinterpret_cast<FitShared<Word>*>(device::dynamic_shared());
  shared.log2.fill(kFitThreads);
  device::wait_for_predecessor();
  const std::uint32_t columns = min(args.fit_columns, args.num_tasks - first);
  for (std::uint32_t column = blockIdx.x; column < columns; column += gridDim.x) {
    ColumnCells<Word>(args, first + column, args.cells[column], shared).make();
    clear_counts(args.counts[first + column]);
    __syncthreads();  // what the block shares has been used
  }
}

}  // namespace

template <class Word>
cudaError_t launch_fit_ans(const AnsEncodeArgs<Word>& args, cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  if (auto error = device::raise_shared_limit(fit_ans_kernel<Word>)) return error;
  for (std::uint32_t first = 0; first < args.num_tasks; first += args.fit_columns) {
    if (auto error = device::launch_after_with<fit_ans_kernel<Word>>(
            args.fit_blocks, kFitThreads, sizeof(FitShared<Word>), stream, args, first))
      return error;
    if (auto error = launch_cut_ans(args, first, stream)) return error;
  }
  return cudaSuccess;
}

template cudaError_t launch_fit_ans(const AnsEncodeArgs<std::uint32_t>&, cudaStream_t);
template cudaError_t launch_fit_ans(const AnsEncodeArgs<std::uint64_t>&, cudaStream_t);

}  // namespace gdelta::cuda
