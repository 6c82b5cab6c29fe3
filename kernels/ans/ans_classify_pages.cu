// Which table each span of residuals has, and in which of its bins each residual is; and how many are in each
// bin. A warp takes a page, a thread eight consecutive residuals of a lane's tile.
#include "kernels/ans/ans_encode_pages.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 32 * kAnsPageWarps;
constexpr int kClusters = kMostFitTables;
constexpr int kUnknown = 255;  // offset bits of bins that the sample did not have

template <class Word>
struct ClassifyShared {
  alignas(16) std::uint16_t costs[kCoarseClasses][kClusters];
  Word lasts[kAnsNames];
  std::uint32_t counts[kAnsNames];
  std::uint8_t offset_bits[kAnsNames];
};

/// Costs of a thread's residuals in each cluster, two and two in a word: 32 residuals add up in 16 bits.
struct PairedCosts {
  std::uint32_t pairs[kClusters / 2] = {};

  __device__ void add(uint4 row) {
    pairs[0] += row.x, pairs[1] += row.y, pairs[2] += row.z, pairs[3] += row.w;
  }
  __device__ void add_neighbour(int distance) {
#pragma unroll
    for (std::uint32_t& pair : pairs) pair += __shfl_xor_sync(device::kWholeWarp, pair, distance);
  }
};

/// The cluster that suits a span best, of equals the first; `threads` have it.
__device__ int cheapest_cluster(PairedCosts costs, int clusters, int threads) {
  if (clusters == 1) return 0;
  constexpr int kPairedThreads = 4;
  for (int distance = 1; distance < threads && distance < kPairedThreads; distance *= 2)
    costs.add_neighbour(distance);
  int best = 0;
  std::uint32_t least = ~0u;
#pragma unroll
  for (int c = 0; c < kClusters; ++c) {
    std::uint32_t sum = costs.pairs[c / 2] >> (16 * (c & 1)) & 0xffff;
    for (int distance = kPairedThreads; distance < threads; distance *= 2)
      sum += __shfl_xor_sync(device::kWholeWarp, sum, distance);
    if (c < clusters && sum < least) {
      least = sum;
      best = c;
    }
  }
  return best;
}

/// The first bin of each residual whose last residual is not below it; `highest_step` as for the table with the
/// most bins.
template <class Word>
__device__ void find_bins(const Word* lasts, int highest_step, const Word (&residuals)[kAnsRun],
                          int (&bins)[kAnsRun]) {
  using Signed = std::make_signed_t<Word>;
#pragma unroll
  for (int& bin : bins) bin = 0;
#pragma unroll 1
  for (int step = highest_step; step > 0; step /= 2) {
#pragma unroll
    for (int i = 0; i < kAnsRun; ++i)
      bins[i] += static_cast<Signed>(residuals[i]) > static_cast<Signed>(lasts[bins[i] + step - 1])
                     ? step
                     : 0;
  }
}

template <class Word>
__device__ void note_reach(AnsBinCounts<Word>& counts, int name, Word residual) {
  using Atomic = std::conditional_t<sizeof(Word) == 8, long long, int>;
  atomicMin(reinterpret_cast<Atomic*>(&counts.first[name]), static_cast<Atomic>(residual));
  atomicMax(reinterpret_cast<Atomic*>(&counts.last[name]), static_cast<Atomic>(residual));
}

template <class Word>
__device__ void classify_page(const AnsEncodeArgs<Word>& args, std::uint32_t task_number,
                              std::uint32_t page_number, ClassifyShared<Word>& shared) {
  const PackTask& task = args.tasks[task_number];
  const AnsCutTables<Word>& cuts = args.cuts[task_number];
  const AnsPageView page(task, page_number);
  const AnsPageShape shape = ans_page_shape(page.tuples, task.tuple, cuts.span_bits, cuts.tables);
  const int thread = threadIdx.x & 31;
  int most_bins = 1;
  for (int table = 0; table < cuts.tables; ++table)
    most_bins = max(most_bins, static_cast<int>(cuts.bins[table]));
  const int highest_step = 1 << device::highest_bit(static_cast<std::uint32_t>(most_bins));
  const int span_threads = (1 << shape.span_bits) / kAnsRun;
  std::uint8_t* selectors = args.selectors + page.at;
  for (std::uint64_t tile = 0; tile < shape.tiles; ++tile) {
    const auto first = static_cast<std::uint32_t>(tile * shape.tile_tuples());
    const std::uint32_t left =
        min(page.tuples - first, static_cast<std::uint32_t>(shape.tile_tuples()));
    const int mine = min(max(static_cast<int>(left) - kAnsRun * thread, 0), kAnsRun);
    for (int lane = 0; lane < shape.tuple; ++lane, selectors += shape.spans) {
      const std::uint64_t at =
          page.at + static_cast<std::uint64_t>(lane) * page.tuples + first + kAnsRun * thread;
      Word residuals[kAnsRun];
      load_run(args.residuals + at, mine, residuals);
      PairedCosts costs;
      if (cuts.tables > 1) {
#pragma unroll
        for (int i = 0; i < kAnsRun; ++i)
          if (i < mine)
            costs.add(*reinterpret_cast<const uint4*>(shared.costs[coarse_class(residuals[i])]));
      }
      const int table = cheapest_cluster(costs, cuts.tables, span_threads);
      if (thread < shape.states && thread % span_threads == 0)
        selectors[thread / span_threads] = static_cast<std::uint8_t>(mine > 0 ? table : 0);
      int bins[kAnsRun];
      find_bins(shared.lasts + table * kMaxTableBins, highest_step, residuals, bins);
      std::uint64_t packed = 0;
#pragma unroll
      for (int i = 0; i < kAnsRun; ++i) packed |= static_cast<std::uint64_t>(bins[i]) << (8 * i);
      store_byte_run(args.bins + at, mine, packed);
#pragma unroll
      for (int i = 0; i < kAnsRun; ++i) {
        if (i >= mine) break;
        const int name = table * kMaxTableBins + bins[i];
        atomicAdd(&shared.counts[name], 1u);
        if (shared.offset_bits[name] == kUnknown)
          note_reach(args.counts[task_number], name, residuals[i]);
      }
    }
  }
}

template <class Word>
__global__ void __launch_bounds__(kThreads) classify_ans_kernel(AnsEncodeArgs<Word> args) {
  __shared__ ClassifyShared<Word> shared;
  for (int name = threadIdx.x; name < kAnsNames; name += kThreads) shared.counts[name] = 0;
  const auto enter = [&](std::uint32_t task) {
    const AnsCutTables<Word>& cuts = args.cuts[task];
    for (int i = threadIdx.x; i < kCoarseClasses; i += kThreads)
      *reinterpret_cast<uint4*>(shared.costs[i]) = *reinterpret_cast<const uint4*>(cuts.costs[i]);
    for (int i = threadIdx.x; i < kAnsNames; i += kThreads) {
      shared.lasts[i] = cuts.lasts[i];
      shared.offset_bits[i] = cuts.offset_bits[i];
    }
  };
  const auto visit_page = [&](std::uint32_t task, std::uint32_t page) {
    classify_page(args, task, page, shared);
  };
  const auto leave = [&](std::uint32_t task) {
    for (int name = threadIdx.x; name < kAnsNames; name += kThreads) {
      if (shared.counts[name] == 0) continue;
      atomicAdd(&args.counts[task].counts[name], shared.counts[name]);
      shared.counts[name] = 0;
    }
  };
  for_each_bundle(args, enter, visit_page, leave);
}

}  // namespace

template <class Word>
cudaError_t launch_classify_ans(const AnsEncodeArgs<Word>& args, cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  return device::launch_kernel(classify_ans_kernel<Word>, bundle_grid(args), kThreads, stream,
                               args);
}

template cudaError_t launch_classify_ans(const AnsEncodeArgs<std::uint32_t>&, cudaStream_t);
template cudaError_t launch_classify_ans(const AnsEncodeArgs<std::uint64_t>&, cudaStream_t);

}  // namespace gdelta::cuda
