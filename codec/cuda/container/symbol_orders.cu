// A block a chunk: its warps count the classes of sampled groups at each order, lane after lane; of wide tuples, which have
// few groups a lane, a warp a lane.
#include "codec/cuda/container/symbol_orders_cuda.h"
#include "codec/plan/levels.h"
#include "kernels/ans/ans_encode_pages.cuh"
#include "kernels/ans/ans_fit_rules.h"
#include "kernels/ans/log2_table.cuh"
#include "kernels/bitpack/order_cost.h"
#include "kernels/deltas/lane_residuals.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kSymbolOrdersThreads = 256;
constexpr int kSymbolOrdersWarps = kSymbolOrdersThreads / 32;
constexpr std::uint32_t kSymbolOrdersMostBlocks = 1 << 16;
constexpr int kTriedOrders = level_policy(kDeviceLevel).orders.highest + 1;

/// How many residuals of a lane have each class, at each order, in shared memory.
struct BlockCounts {
  std::uint32_t counts[kTriedOrders][kCoarseClasses];

  __device__ void add(int order, int coarse) { atomicAdd(&counts[order][coarse], 1u); }
  __device__ std::uint32_t of(int order, int coarse) const { return counts[order][coarse]; }
};
/// Two in a word, of samples of fewer than 2^16 residuals.
struct WarpCounts {
  std::uint32_t pairs[kTriedOrders][kCoarseClasses / 2];

  __device__ void add(int order, int coarse) {
    atomicAdd(&pairs[order][coarse / 2], 1u << (coarse % 2 * 16));
  }
  __device__ std::uint32_t of(int order, int coarse) const {
    return pairs[order][coarse / 2] >> (coarse % 2 * 16) & 0xffff;
  }
};
static_assert(level_policy(kDeviceLevel).orders.groups * kGroupValues < 1 << 16);

struct OrdersShared {
  union {
    BlockCounts all;
    WarpCounts of_warps[kSymbolOrdersWarps];
  };
  std::uint64_t bits[kTriedOrders];
  Log2Table log2;
  PackTask task;
};

/// Counts groups `begin`, `begin` + `step` and so on of a lane.
template <bool kSteps, class Word, class Counts>
__device__ void count_lane(const PackTask& task, const DeviceSample& sample, int lane, int highest,
                           std::uint32_t begin, std::uint32_t step, Counts& counts) {
  using Signed = std::make_signed_t<Word>;
  const int thread = threadIdx.x & 31;
  const int spare = 8 * static_cast<int>(sizeof(Word)) - 8 * task.value_bytes;
  const LaneView<Word, kSteps> values(task, lane, task.map);
  for (std::uint32_t k = begin; k < sample.count; k += step) {
    const std::uint32_t first = sample.first_tuple(k);
    bool differs = false;
    GroupValues<Word> group = load_group<false>(task, values, first, highest, Word{0}, differs);
    for (int order = 0; order <= highest; ++order) {
      if (order > 0) group.difference();
#pragma unroll
      for (int j = 0; j < kGroupRegisters; ++j) {
        if (first + 32 * j + thread >= task.records) continue;
        const auto residual =
            static_cast<Word>(static_cast<Signed>(group.words[j + 1] << spare) >> spare);
        counts.add(order, coarse_class(residual));
      }
    }
  }
}

/// Bits that tell the residuals of a class apart.
__device__ std::uint64_t offset_bits_of(int coarse) {
  constexpr int kHalf = kCoarseClasses / 2;
  const int number = coarse < kHalf ? kHalf - 1 - coarse : coarse - kHalf;
  return number < 8 ? 0 : number / 4 - 1;
}

/// The bits of a lane, if the sample is like the rest of it; by a warp.
template <class Counts>
__device__ std::uint64_t bits_of(const OrdersShared& shared, const Counts& counts, int order) {
  const int thread = threadIdx.x & 31;
  std::uint64_t sampled = 0, bits = 0, bins = 0;
  for (int number = thread; number < kCoarseClasses; number += 32)
    sampled += counts.of(order, number);
  sampled = device::warp_sum(sampled);
  const std::uint64_t all = shared.log2.of(sampled);
  for (int number = thread; number < kCoarseClasses; number += 32) {
    const std::uint32_t count = counts.of(order, number);
    if (count == 0) continue;
    bits += count * (all - shared.log2.of(count) + (offset_bits_of(number) << kFixedLog2Bits));
    ++bins;
  }
  bits = device::warp_sum(bits);
  bins = device::warp_sum(bins);
  return (bits >> kFixedLog2Bits) * shared.task.records / sampled + bins * kTableClassBits;
}

/// The order of a lane: the least cost, ties to the lower. By the block.
template <class Word>
__device__ int choose_order(const DeviceSample& sample, int lane, int highest,
                            OrdersShared& shared) {
  for (int i = threadIdx.x; i < kTriedOrders * kCoarseClasses; i += kSymbolOrdersThreads)
    shared.all.counts[i / kCoarseClasses][i % kCoarseClasses] = 0;
  __syncthreads();  // counts are zero
  const PackTask& task = shared.task;
  if (device::warp_uniform(task.has_steps())) {
    count_lane<true, Word>(task, sample, lane, highest, threadIdx.x / 32, kSymbolOrdersWarps,
                           shared.all);
  } else {
    count_lane<false, Word>(task, sample, lane, highest, threadIdx.x / 32, kSymbolOrdersWarps,
                            shared.all);
  }
  __syncthreads();  // all are counted
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (warp <= highest) {
    const std::uint64_t bits = bits_of(shared, shared.all, warp);
    if (threadIdx.x % 32 == 0) shared.bits[warp] = bits;
  }
  __syncthreads();  // all orders have their cost
  int best = 0;
  for (int order = 1; order <= highest; ++order)
    if (shared.bits[order] < shared.bits[best]) best = order;
  return best;
}

/// The same by a warp; wide tuples have no steps.
template <class Word>
__device__ int choose_order_of_wide(const DeviceSample& sample, int lane, int highest,
                                    const OrdersShared& shared, WarpCounts& counts) {
  const int thread = threadIdx.x & 31;
  for (int i = thread; i < kTriedOrders * kCoarseClasses / 2; i += 32)
    counts.pairs[i / (kCoarseClasses / 2)][i % (kCoarseClasses / 2)] = 0;
  __syncwarp();  // counts are zero
  count_lane<false, Word>(shared.task, sample, lane, highest, 0, 1, counts);
  __syncwarp();  // all are counted
  int best = 0;
  std::uint64_t least = 0;
  for (int order = 0; order <= highest; ++order) {
    const std::uint64_t bits = bits_of(shared, counts, order);
    if (order > 0 && bits >= least) continue;
    best = order;
    least = bits;
  }
  __syncwarp();  // counts have been read
  return best;
}

/// A trial's task has values, pages and units of its own behind those of all others.
__device__ PackTask trial_task(const SymbolOrdersArgs& args, std::uint32_t trial, PackTask task) {
  const CutShape& shape = args.shape;
  const std::uint64_t last = shape.num_chunks - 1, first = args.trials.first_chunk;
  task.first_page = static_cast<std::uint32_t>(last * shape.parts_of(0) + shape.parts_of(last) +
                                               trial * shape.parts_of(first));
  task.first_value = (shape.records + std::uint64_t{trial} * shape.records_of(first)) *
                     static_cast<std::uint64_t>(shape.tuple);
  return task;
}

__device__ void add_trial(const SymbolOrdersArgs& args, std::uint32_t chunk, const PackTask& task) {
  const CutShape& shape = args.shape;
  const std::uint32_t trial = chunk - args.trials.first_chunk, number = shape.num_chunks + trial;
  const std::uint64_t last = shape.num_chunks - 1;
  const std::uint64_t of_chunks = last * shape.units_of(0) + shape.units_of(last);
  const std::uint64_t at = of_chunks + trial * shape.units_of(args.trials.first_chunk);
  args.tasks[number] = trial_task(args, trial, task);
  args.differs[number] = 0;
  args.unit_starts[number] = at;
  if (trial + 1 == args.trials.count) args.unit_starts[number + 1] = at + shape.units_of(chunk);
}

template <class Word>
__global__ void __launch_bounds__(kSymbolOrdersThreads)
    symbol_orders_kernel(SymbolOrdersArgs args) {
  __shared__ OrdersShared shared;
  const CutShape& shape = args.shape;
  shared.log2.fill(kSymbolOrdersThreads);
  for (std::uint32_t chunk = blockIdx.x; chunk < shape.num_chunks; chunk += gridDim.x) {
    if (threadIdx.x == 0) {
      shared.task = args.tasks[chunk];
      if (chunk >= args.trials.first_chunk) add_trial(args, chunk, shared.task);
    }
    __syncthreads();  // the task is there
    PackTask& task = shared.task;
    const DeviceSample sample = sample_groups(task.records, task.tuple, shape.column_groups);
    // Sizes of groups and of symbols hardly differ by more than an order.
    const auto highest_of = [&](int lane) {
      return min(task.orders[lane] + 1, static_cast<int>(shape.max_order));
    };
    if (is_wide(shape.tuple)) {
      const int warp = device::warp_number();
      for (int lane = warp; lane < shape.tuple; lane += kSymbolOrdersWarps) {
        const int order = choose_order_of_wide<Word>(sample, lane, highest_of(lane), shared,
                                                     shared.of_warps[warp]);
        if (threadIdx.x % 32 == 0) task.orders[lane] = static_cast<std::uint8_t>(order);
      }
      __syncthreads();  // all lanes have their order
    } else {
      for (int lane = 0; lane < shape.tuple; ++lane) {
        const int order = choose_order<Word>(sample, lane, highest_of(lane), shared);
        if (threadIdx.x == 0) task.orders[lane] = static_cast<std::uint8_t>(order);
      }
    }
    if (threadIdx.x == 0) {
      task.state_bytes = 0;
      for (int lane = 0; lane < shape.tuple; ++lane)
        task.state_bytes += static_cast<std::uint32_t>(task.orders[lane]) * task.value_bytes;
      args.tasks[chunk] = task;
    }
    __syncthreads();  // the task has been copied before the next one takes its place
  }
}

/// What a chunk's section and its fields take, as far as trials differ.
template <class Word>
__device__ std::uint64_t section_size(const AnsEncodeArgs<Word>& ans, std::uint32_t task_number) {
  const PackTask& task = ans.tasks[task_number];
  return std::uint64_t{ans.page_ends[task.first_page + task.num_pages - 1]} +
         ans.tables[task_number].field_bytes;
}

template <class Word>
__global__ void __launch_bounds__(kSymbolOrdersThreads)
    pick_trials_kernel(SymbolOrdersArgs args, AnsEncodeArgs<Word> ans) {
  for (std::uint32_t trial = blockIdx.x; trial < args.trials.count; trial += gridDim.x) {
    const std::uint32_t chunk = args.trials.first_chunk + trial;
    const std::uint32_t number = args.shape.num_chunks + trial;
    const bool picked = section_size(ans, number) < section_size(ans, chunk);
    __syncthreads();  // sizes have been read
    if (!picked) continue;
    static_assert(sizeof *ans.tables % sizeof(std::uint32_t) == 0);
    const auto* const from = reinterpret_cast<const std::uint32_t*>(&ans.tables[number]);
    auto* const to = reinterpret_cast<std::uint32_t*>(&ans.tables[chunk]);
    for (std::size_t i = threadIdx.x; i < sizeof *ans.tables / sizeof *to;
         i += kSymbolOrdersThreads)
      to[i] = from[i];
    if (threadIdx.x > 0) continue;
    ans.tasks[chunk] = ans.tasks[number];
    ans.results[chunk] = ans.results[number];
  }
}

}  // namespace

template <class Word>
cudaError_t launch_pick_trials(const SymbolOrdersArgs& args, const AnsEncodeArgs<Word>& ans,
                               cudaStream_t stream) {
  if (args.trials.count == 0) return cudaSuccess;
  return device::launch_kernel(pick_trials_kernel<Word>,
                               min(args.trials.count, kSymbolOrdersMostBlocks),
                               kSymbolOrdersThreads, stream, args, ans);
}

template cudaError_t launch_pick_trials(const SymbolOrdersArgs&,
                                        const AnsEncodeArgs<std::uint32_t>&, cudaStream_t);
template cudaError_t launch_pick_trials(const SymbolOrdersArgs&,
                                        const AnsEncodeArgs<std::uint64_t>&, cudaStream_t);

cudaError_t launch_symbol_orders(const SymbolOrdersArgs& args, cudaStream_t stream) {
  const std::uint32_t chunks = args.shape.num_chunks;
  if (chunks == 0 || args.shape.asked_order >= 0) return cudaSuccess;
  const auto kernel = args.shape.value_bytes == 8 ? symbol_orders_kernel<std::uint64_t>
                                                  : symbol_orders_kernel<std::uint32_t>;
  return device::launch_kernel(kernel,
                               chunks < kSymbolOrdersMostBlocks ? chunks : kSymbolOrdersMostBlocks,
                               kSymbolOrdersThreads, stream, args);
}

}  // namespace gdelta::cuda
