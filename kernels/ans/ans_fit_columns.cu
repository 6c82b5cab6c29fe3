// Fits clusters and bins to columns, a block a column: what ans_fit.h does before all residuals are counted.
#include "kernels/ans/ans_fit_bins.cuh"
#include "kernels/ans/ans_fit_sort.cuh"
#include "kernels/ans/residual_classes.h"
#include "kernels/device/shared_limit.h"

namespace gdelta::cuda {
namespace {

static_assert(kCoarseClasses == kResidualClasses);

/// One column's fit, by a block.
template <class Word>
class ColumnFit {
 public:
  __device__ ColumnFit(const AnsEncodeArgs<Word>& args, std::uint32_t task, FitShared<Word>& shared)
      : effort_(args.effort),
        task_(args.tasks[task]),
        all_(std::uint64_t{task_.records} * task_.tuple),
        room_(args.rooms[blockIdx.x]),
        cuts_(args.cuts[task]),
        shared_(shared) {
    take_stretches(task_, effort_.sampled_stretches, shared);
    take_residuals(task_, shared_, room_);
  }

  __device__ void fit() const {
    int tables = 1, span_bits = kMaxSpanBits;
    find_clusters(tables, span_bits);
    const std::uint64_t bits = divide(tables, span_bits, ~std::uint64_t{0});
    // Many tables follow residuals that change, few have room for bins of residuals that repeat.
    if (tables > 1 && tables <= kMostToSingle) divide(1, kMaxSpanBits, bits);
  }

 private:
  /// As many clusters as make the sample short; their costs go to the column's.
  __device__ void find_clusters(int& tables, int& span_bits) const {
    int clusters = effort_.most_tables;
    while (clusters > 1 && all_ < kFewestOfTable * static_cast<unsigned>(clusters)) clusters /= 2;
    if (clusters == 1) return;
    Clustering<Word> clustering(room_.classes, shared_);
    clustering.rank_spans();
    std::uint64_t least = ~std::uint64_t{0};
    for (; clusters >= 1; clusters /= 2) {
      int bits_of_span = kMaxSpanBits;
      const std::uint64_t bits = clustering.divide(clusters, effort_.rounds, all_, bits_of_span);
      if (bits > least) break;
      least = bits;
      tables = clusters;
      span_bits = bits_of_span;
      copy_costs(shared_.costs, cuts_.costs);
    }
  }

  __device__ static void copy_costs(const std::uint16_t (*from)[kMostFitTables],
                                    std::uint16_t (*to)[kMostFitTables]) {
    for (int i = threadIdx.x; i < kCoarseClasses; i += kFitThreads)
      *reinterpret_cast<uint4*>(to[i]) = *reinterpret_cast<const uint4*>(from[i]);
    __syncthreads();  // they are there, and have been read
  }

  /// Finds the bins of so many tables. They become the column's if the sample takes no more than `most` bits, in
  /// 1/256; gives its bits.
  __device__ std::uint64_t divide(int tables, int span_bits, std::uint64_t most) const {
    const std::uint32_t selectors = choose_tables(tables, span_bits);
    place_units(tables);
    gather();
    BlockSort<Word> block_sort(shared_.exchange);
    for (int table = 0; table < tables; ++table)
      block_sort.sort(room_.tables[table].sample, sampled(shared_.totals[table]));
    if (threadIdx.x == 0)
      shared_.bits = (std::uint64_t{selectors} * selector_bits(tables)) << kFixedLog2Bits;
    __syncthreads();  // samples are sorted, and the selectors' bits are there
    const int table = static_cast<int>(threadIdx.x) / 32;
    const bool mine = table < tables;
    const std::uint32_t values = mine ? sampled(shared_.totals[table]) : 0;
    TableBins<Word> bins(room_.tables[mine ? table : 0], values, shared_, mine ? table : 0);
    if (values > 0) {
      const std::uint64_t size = shared_.totals[table];
      const auto of_bin = static_cast<std::uint32_t>(bin_bits(size, values) + 1);
      const std::uint64_t bits =
          bins.choose(effort_.cells, of_bin, min(kMaxTableBins / 2, kMaxAnsBins / tables) - 1);
      if (threadIdx.x % 32 == 0) atomicAdd(&shared_.bits, 0ull + bits * size / values);
    }
    __syncthreads();  // all bins are found
    const std::uint64_t bits = shared_.bits;
    if (bits <= most) write(tables, span_bits, mine, table, bins);
    __syncthreads();  // the sum has been read
    return bits;
  }

  /// What a bin costs of a table's sample, of which `values` of `size` are left.
  __device__ std::uint64_t bin_bits(std::uint64_t size, std::uint64_t values) const {
    const std::uint64_t represented = all_ * size / shared_.residuals;
    return represented == 0 ? 0 : (kAnsBinBits << kFixedLog2Bits) * values / represented;
  }

  __device__ std::uint32_t sampled(std::uint32_t size) const {
    return min(size, static_cast<std::uint32_t>(kMostTableSample));
  }

  /// The table of every unit; how many selectors say so.
  __device__ std::uint32_t choose_tables(int tables, int span_bits) const {
    const int units = 1 << (span_bits - 5);
    if (threadIdx.x == 0) shared_.selectors = 0;
    Clustering<Word> clustering(room_.classes, shared_);
    if (tables > 1) {
      copy_costs(cuts_.costs, shared_.costs);
      clustering.sum_units();
    }
    __syncthreads();  // the number is zero
    std::uint32_t selectors = 0;
    for (int unit = threadIdx.x * units; unit < kFitUnits; unit += kFitThreads * units) {
      if (shared_.unit_length(unit) == 0) continue;
      ++selectors;
      const int table = tables == 1 ? 0 : clustering.cheapest(unit, units, tables).cluster;
      for (int u = unit; u < unit + units; ++u)
        shared_.table_of[u] = static_cast<std::uint8_t>(table);
    }
    if (selectors > 0) atomicAdd(&shared_.selectors, selectors);
    __syncthreads();  // all units have a table
    return shared_.selectors;
  }

  /// Where units begin among the residuals of their tables, and how many each table has; a warp a table.
  __device__ void place_units(int tables) const {
    const std::uint32_t thread = threadIdx.x % 32;
    const int table = static_cast<int>(threadIdx.x) / 32;
    if (table < tables) {
      std::uint32_t before = 0;
      for (int unit = static_cast<int>(thread); unit < kFitUnits; unit += 32) {
        const std::uint32_t length = shared_.unit_length(unit);
        const bool mine = length > 0 && shared_.table_of[unit] == table;
        const std::uint32_t end = before + device::warp_prefix(mine ? length : 0);
        if (mine) shared_.place_of[unit] = static_cast<std::uint16_t>(end - length);
        before = __shfl_sync(device::kWholeWarp, end, 31);
      }
      if (thread == 0) shared_.totals[table] = before;
    }
    __syncthreads();  // all places are there
  }

  /// The samples of all tables: number size × i / kMostTableSample of a table's, if it has more.
  __device__ void gather() const {
    constexpr auto kMost = static_cast<std::uint32_t>(kMostTableSample);
    for (int unit = static_cast<int>(threadIdx.x) / 32; unit < kFitUnits;
         unit += kFitThreads / 32) {
      const std::uint32_t thread = threadIdx.x % 32;
      if (thread >= shared_.unit_length(unit)) continue;
      const int table = shared_.table_of[unit];
      const std::uint32_t size = shared_.totals[table], place = shared_.place_of[unit] + thread;
      std::uint32_t number = place;
      if (size > kMost) {
        number = (place * kMost + size - 1) / size;
        if (number >= kMost || number * size / kMost != place) continue;
      }
      room_.tables[table].sample[number] = turn_sign(room_.residuals[kFitUnit * unit + thread]);
    }
    __syncthreads();  // the samples are there
  }

  __device__ void write(int tables, int span_bits, bool mine, int table,
                        const TableBins<Word>& bins) const {
    if (threadIdx.x == 0) {
      cuts_.tables = tables;
      cuts_.span_bits = span_bits;
    }
    if (!mine) return;
    Word* const lasts = cuts_.lasts + table * kMaxTableBins;
    for (int i = threadIdx.x % 32; i < kMaxTableBins; i += 32)
      lasts[i] = static_cast<Word>(~Word{0} >> 1);
    __syncwarp();  // there is no bin yet
    bins.write_cuts(lasts, cuts_.offset_bits + table * kMaxTableBins, cuts_.bins[table]);
  }

  const AnsEffort& effort_;
  const PackTask& task_;
  std::uint64_t all_;  // residuals of the column
  AnsFitRoom<Word>& room_;
  AnsCutTables<Word>& cuts_;
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

template <class Word>
__global__ void __launch_bounds__(kFitThreads, 4) fit_ans_kernel(AnsEncodeArgs<Word> args) {
  auto& shared = *reinterpret_cast<FitShared<Word>*>(device::dynamic_shared());
  shared.log2.fill(kFitThreads);
  device::wait_for_predecessor();
  for (std::uint32_t task = blockIdx.x; task < args.num_tasks; task += gridDim.x) {
    ColumnFit<Word>(args, task, shared).fit();
    clear_counts(args.counts[task]);
    __syncthreads();  // what the block shares has been used
  }
}

}  // namespace

template <class Word>
cudaError_t launch_fit_ans(const AnsEncodeArgs<Word>& args, cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  if (auto error = device::raise_shared_limit(fit_ans_kernel<Word>)) return error;
  return device::launch_after_with<fit_ans_kernel<Word>>(args.fit_blocks, kFitThreads,
                                                         sizeof(FitShared<Word>), stream, args);
}

template cudaError_t launch_fit_ans(const AnsEncodeArgs<std::uint32_t>&, cudaStream_t);
template cudaError_t launch_fit_ans(const AnsEncodeArgs<std::uint64_t>&, cudaStream_t);

}  // namespace gdelta::cuda
