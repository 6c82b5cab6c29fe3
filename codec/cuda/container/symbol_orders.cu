// A block a chunk: its warps count the classes of sampled groups at each order, lane after lane.
#include "codec/cuda/container/symbol_orders_cuda.h"
#include "codec/plan/levels.h"
#include "kernels/ans/ans_encode_pages.cuh"
#include "kernels/ans/ans_fit_rules.h"
#include "kernels/ans/log2_table.cuh"
#include "kernels/bitpack/order_cost.h"
#include "kernels/deltas/lane_residuals.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr std::uint32_t kMostBlocks = 1 << 16;
constexpr int kTriedOrders = level_policy(kDeviceLevel).orders.highest + 1;

struct OrdersShared {
  std::uint32_t counts[kTriedOrders][kCoarseClasses];
  std::uint64_t bits[kTriedOrders];
  Log2Table log2;
  PackTask task;
};

template <bool kSteps, class Word>
__device__ void count_lane(const DeviceSample& sample, int lane, int highest,
                           OrdersShared& shared) {
  using Signed = std::make_signed_t<Word>;
  const PackTask& task = shared.task;
  const int thread = threadIdx.x & 31;
  const int spare = 8 * static_cast<int>(sizeof(Word)) - 8 * task.value_bytes;
  const LaneView<Word, kSteps> values(task, lane, task.map);
  for (std::uint32_t k = threadIdx.x / 32; k < sample.count; k += kWarps) {
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
        atomicAdd(&shared.counts[order][coarse_class(residual)], 1u);
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
__device__ std::uint64_t bits_of(const OrdersShared& shared, int order) {
  const std::uint32_t* const counts = shared.counts[order];
  const int thread = threadIdx.x & 31;
  std::uint64_t sampled = 0, bits = 0, bins = 0;
  for (int number = thread; number < kCoarseClasses; number += 32) sampled += counts[number];
  sampled = device::warp_sum(sampled);
  const std::uint64_t all = shared.log2.of(sampled);
  for (int number = thread; number < kCoarseClasses; number += 32) {
    if (counts[number] == 0) continue;
    bits += counts[number] *
            (all - shared.log2.of(counts[number]) + (offset_bits_of(number) << kFixedLog2Bits));
    ++bins;
  }
  bits = device::warp_sum(bits);
  bins = device::warp_sum(bins);
  return (bits >> kFixedLog2Bits) * shared.task.records / sampled + bins * kTableClassBits;
}

/// The order of a lane: the least cost, ties to the lower.
template <class Word>
__device__ int choose_order(const DeviceSample& sample, int lane, int highest,
                            OrdersShared& shared) {
  for (int i = threadIdx.x; i < kTriedOrders * kCoarseClasses; i += kThreads)
    shared.counts[i / kCoarseClasses][i % kCoarseClasses] = 0;
  __syncthreads();  // counts are zero
  if (device::warp_uniform(shared.task.has_steps())) {
    count_lane<true, Word>(sample, lane, highest, shared);
  } else {
    count_lane<false, Word>(sample, lane, highest, shared);
  }
  __syncthreads();  // all are counted
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (warp <= highest) {
    const std::uint64_t bits = bits_of(shared, warp);
    if (threadIdx.x % 32 == 0) shared.bits[warp] = bits;
  }
  __syncthreads();  // all orders have their cost
  int best = 0;
  for (int order = 1; order <= highest; ++order)
    if (shared.bits[order] < shared.bits[best]) best = order;
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
__global__ void __launch_bounds__(kThreads) symbol_orders_kernel(SymbolOrdersArgs args) {
  __shared__ OrdersShared shared;
  const CutShape& shape = args.shape;
  shared.log2.fill(kThreads);
  for (std::uint32_t chunk = blockIdx.x; chunk < shape.num_chunks; chunk += gridDim.x) {
    if (threadIdx.x == 0) {
      shared.task = args.tasks[chunk];
      if (chunk >= args.trials.first_chunk) add_trial(args, chunk, shared.task);
    }
    __syncthreads();  // the task is there
    PackTask& task = shared.task;
    const DeviceSample sample = sample_groups(task.records, task.tuple, shape.column_groups);
    std::uint32_t state_bytes = 0;
    for (int lane = 0; lane < task.tuple; ++lane) {
      // Sizes of groups and of symbols hardly differ by more than an order.
      const int highest = min(task.orders[lane] + 1, static_cast<int>(shape.max_order));
      const int order = choose_order<Word>(sample, lane, highest, shared);
      state_bytes += static_cast<std::uint32_t>(order) * task.value_bytes;
      if (threadIdx.x == 0) task.orders[lane] = static_cast<std::uint8_t>(order);
    }
    if (threadIdx.x == 0) {
      task.state_bytes = state_bytes;
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
__global__ void __launch_bounds__(kThreads)
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
    for (std::size_t i = threadIdx.x; i < sizeof *ans.tables / sizeof *to; i += kThreads)
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
  return device::launch_kernel(pick_trials_kernel<Word>, min(args.trials.count, kMostBlocks),
                               kThreads, stream, args, ans);
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
  return device::launch_kernel(kernel, chunks < kMostBlocks ? chunks : kMostBlocks, kThreads,
                               stream, args);
}

}  // namespace gdelta::cuda
