// Finds the bins of columns that have cells, a block a column and a warp a table: the second half of what ans_fit.h does
// before all residuals are counted.
#include "kernels/ans/ans_fit_bins.cuh"
#include "kernels/ans/ans_fit_cuts_cuda.h"
#include "kernels/device/launch.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kAnsFitCutsThreads = 32 * kMostFitTables;

/// What a bin costs of a table's sample, of which `values` are left.
template <class Word>
__device__ std::uint32_t bin_bits(const AnsFitCells<Word>& cells,
                                  const typename AnsFitCells<Word>::Table& table,
                                  const PackTask& task) {
  const std::uint64_t all = std::uint64_t{task.records} * task.tuple;
  const std::uint64_t represented = all * table.size / cells.residuals;
  return represented == 0 ? 0
                          : static_cast<std::uint32_t>((kAnsBinBits << kFixedLog2Bits) *
                                                       table.values / represented);
}

template <class Word>
__device__ void write_table(AnsCutTables<Word>& cuts, int table, const TableBins<Word>& bins) {
  Word* const lasts = cuts.lasts + table * kMaxTableBins;
  for (int i = threadIdx.x % 32; i < kMaxTableBins; i += 32)
    lasts[i] = static_cast<Word>(~Word{0} >> 1);
  __syncwarp();  // there is no bin yet
  bins.write_cuts(lasts, cuts.names + table * kMaxTableBins, cuts.bins[table]);
}

/// The tables' bins become the column's, or those of the single table, if the sample takes no more bits with it.
template <class Word>
__device__ void choose_bins(const AnsFitCells<Word>& cells, const PackTask& task,
                            int most_to_single, AnsCutTables<Word>& cuts, CutShared<Word>& shared) {
  const int tables = device::warp_uniform(cells.num_tables), number = device::warp_number();
  const bool has_single = tables > 1 && tables <= most_to_single;
  const bool is_single = has_single && number == tables, mine = number < tables || is_single;
  if (threadIdx.x == 0) {
    shared.bits[0] = static_cast<unsigned long long>(cells.selectors * selector_bits(tables))
                     << kFixedLog2Bits;
    shared.bits[1] = 0;
  }
  __syncthreads();  // sums begin
  const typename AnsFitCells<Word>::Table& table = cells.tables[mine ? number : 0];
  TableBins<Word> bins(table, shared, number);
  if (mine && bins.values() > 0) {
    const int most = min(kMaxTableBins / 2, kMaxAnsBins / (is_single ? 1 : tables)) - 1;
    const std::uint64_t bits = bins.choose(bin_bits(cells, table, task) + 1, most);
    if (threadIdx.x % 32 == 0)
      atomicAdd(&shared.bits[is_single ? 1 : 0], 0ull + bits * table.size / table.values);
  }
  __syncthreads();  // all bins are found
  const bool takes_single = has_single && shared.bits[1] <= shared.bits[0];
  if (threadIdx.x == 0) {
    cuts.tables = takes_single ? 1 : tables;
    cuts.span_bits = takes_single ? kMaxSpanBits : cells.span_bits;
  }
  if (mine && is_single == takes_single) write_table(cuts, is_single ? 0 : number, bins);
}

template <class Word>
__global__ void __launch_bounds__(kAnsFitCutsThreads, 5)
    cut_ans_kernel(AnsEncodeArgs<Word> args, std::uint32_t first) {
  __shared__ CutShared<Word> shared;
  shared.log2.fill(kAnsFitCutsThreads);
  __syncthreads();  // fractions are there
  for (std::uint32_t count = threadIdx.x; count <= kMostTableSample; count += kAnsFitCutsThreads)
    shared.count_logs[count] = static_cast<std::uint16_t>(count == 0 ? 0 : shared.log2.of(count));
  device::wait_for_predecessor();
  const std::uint32_t task = first + blockIdx.x;
  choose_bins(args.cells[blockIdx.x], args.tasks[task], args.effort.most_to_single, args.cuts[task],
              shared);
}

}  // namespace

template <class Word>
cudaError_t launch_cut_ans(const AnsEncodeArgs<Word>& args, std::uint32_t first,
                           cudaStream_t stream) {
  return device::launch_after<cut_ans_kernel<Word>>(min(args.fit_columns, args.num_tasks - first),
                                                    kAnsFitCutsThreads, stream, args, first);
}

template cudaError_t launch_cut_ans(const AnsEncodeArgs<std::uint32_t>&, std::uint32_t,
                                    cudaStream_t);
template cudaError_t launch_cut_ans(const AnsEncodeArgs<std::uint64_t>&, std::uint32_t,
                                    cudaStream_t);

}  // namespace gdelta::cuda
