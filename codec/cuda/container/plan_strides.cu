// A block a chunk, as in plan_chunks.cu: its warps weigh sampled groups of lanes as they are and less those a stride before.
#include <cstdint>

#include "codec/cuda/container/plan_strides_cuda.h"
#include "codec/cuda/container/planned_lengths.cuh"
#include "codec/plan/levels.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/deltas/lane_residuals.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr std::uint32_t kMostBlocks = 1 << 16;
constexpr std::uint64_t kGainPermille = level_policy(kDeviceLevel).strides.gain_permille;
constexpr int kTriedOrders = level_policy(kDeviceLevel).orders.highest + 1;
constexpr int kWays = 2;  // without the stride, and with it
static_assert(kThreads >= kWays * kMaxLanes);

template <class Word>
struct StridesShared {
  PlannedLengths<Word> counts[kWarps];
  std::uint16_t row_sums[kWarps][kUnitGroups];  // which sum a row's cost goes to
  std::uint32_t sums[kWays * kMaxLanes * kTriedOrders];
  unsigned long long bits[kWays];
  std::uint8_t orders[kWays][kMaxLanes];
  PackTask task;  // with the stride
};

/// The orders that are weighed.
struct OrderRange {
  int lowest, highest;

  __device__ explicit OrderRange(const CutShape& shape)
      : lowest(shape.asked_order >= 0 ? shape.asked_order : 0),
        highest(shape.asked_order >= 0 ? shape.asked_order : shape.max_order) {}
  /// Which sum a lane has for one of them.
  __device__ std::uint32_t sum_of(int way, std::uint32_t lane, int order) const {
    return (way * kMaxLanes + lane) * kTriedOrders + order - lowest;
  }
};

/// Costs of all sampled groups of all lanes, either way.
template <bool kSteps, class Word>
__device__ void weigh_groups(const CutShape& shape, const DeviceSample& sample,
                             StridesShared<Word>& shared) {
  const int thread = threadIdx.x & 31, warp = device::warp_number();
  const int value_bits = 8 * shape.value_bytes;
  const OrderRange orders(shape);
  const std::uint32_t items = device::warp_uniform(shape.tuple * sample.count);
  int rows = 0;
  const auto add_rows = [&] {
    add_costs(shared.counts[warp], shared.row_sums[warp], rows, value_bits, shared.sums);
    rows = 0;
  };
  for (std::uint32_t item = warp; item < items; item += kWarps) {
    const std::uint32_t lane = item / sample.count;
    const std::uint32_t first = sample.first_tuple(item - lane * sample.count);
#pragma unroll 1
    for (int way = 0; way < kWays; ++way) {
      LaneView<Word, kSteps> values(shared.task, lane, shared.task.map);
      values.has_strides = way > 0;
      bool differs = false;
      GroupValues<Word> group =
          load_group<false>(shared.task, values, first, orders.highest, Word{0}, differs);
#pragma unroll 1
      for (int order = 0; order <= orders.highest; ++order) {
        if (order > 0) group.difference();
        if (order < orders.lowest) continue;
        Word residuals[kGroupRegisters];
        group.residuals(first, shared.task.records, value_bits, residuals);
        if (thread == 0)
          shared.row_sums[warp][rows] = static_cast<std::uint16_t>(orders.sum_of(way, lane, order));
        shared.counts[warp].add_group(residuals, rows);
        if (++rows == kUnitGroups) add_rows();
      }
    }
  }
  add_rows();
}

/// The order of one lane either way: the least cost, ties to the lower.
template <class Word>
__device__ void choose_order(const CutShape& shape, const DeviceSample& sample, int way, int lane,
                             StridesShared<Word>& shared) {
  const std::uint32_t pages = shape.pages_of(shared.task.records);
  const OrderRange orders(shape);
  int best = orders.lowest;
  std::uint64_t least = ~std::uint64_t{0};
  for (int order = orders.lowest; order <= orders.highest; ++order) {
    const std::uint64_t bits = lane_cost_bits(shared.sums[orders.sum_of(way, lane, order)], sample,
                                              pages, order, 8 * shape.value_bytes);
    if (bits >= least) continue;
    least = bits;
    best = order;
  }
  shared.orders[way][lane] = static_cast<std::uint8_t>(best);
  atomicAdd(&shared.bits[way], 0ull + least);
}

/// The task gets the stride if that saves enough, and if the chunk is long enough for it.
template <class Word>
__device__ void finish_task(const CutShape& shape, const StridesShared<Word>& shared,
                            PackTask& task) {
  const bool fits = shape.asked_stride <= longest_stride(task.records);
  const int way = fits && saves_a_pass(shared.bits[1], shared.bits[0], kGainPermille) ? 1 : 0;
  task.planned_raw =
      !shape.asked_coder && !looks_worth_packing(shared.bits[way], task.tuple, task.raw_bytes());
  if (way == 0) return;
  task.num_strides = 1;
  task.strides[0] = shared.task.strides[0];
  task.state_bytes = 0;
  for (int lane = 0; lane < task.tuple; ++lane) {
    task.orders[lane] = shared.orders[way][lane];
    task.state_bytes += static_cast<std::uint32_t>(task.orders[lane]) * task.value_bytes;
  }
}

template <class Word>
__global__ void __launch_bounds__(kThreads)
    plan_strides_kernel(const __grid_constant__ PlanStridesArgs args) {
  __shared__ StridesShared<Word> shared;
  const CutShape& shape = args.shape;
  const int thread = threadIdx.x;
  shared.counts[thread / 32].clear();
  device::wait_for_predecessor();
  device::start_successor();
  for (std::uint32_t chunk = blockIdx.x; chunk < shape.num_chunks; chunk += gridDim.x) {
    for (int i = thread; i < kWays * kMaxLanes * kTriedOrders; i += kThreads) shared.sums[i] = 0;
    if (thread < kWays) shared.bits[thread] = 0;
    if (thread == 0) {
      shared.task = args.tasks[chunk];
      shared.task.num_strides = 1;
      shared.task.strides[0] = {shape.asked_stride, 1};
    }
    __syncthreads();  // the task is there and all sums are zero
    const DeviceSample sample =
        sample_groups(shared.task.records, shape.tuple, shape.column_groups);
    if (device::warp_uniform(shared.task.has_steps())) {
      weigh_groups<true>(shape, sample, shared);
    } else {
      weigh_groups<false>(shape, sample, shared);
    }
    __syncthreads();  // all groups are weighed
    const int way = thread / kMaxLanes, lane = thread % kMaxLanes;
    if (way < kWays && lane < shape.tuple) choose_order(shape, sample, way, lane, shared);
    __syncthreads();  // every lane has an order either way
    if (thread == 0) finish_task(shape, shared, args.tasks[chunk]);
    __syncthreads();  // the task has been read before the next one takes its place
  }
}

}  // namespace

cudaError_t launch_plan_strides(const PlanStridesArgs& args, cudaStream_t stream) {
  const std::uint32_t chunks = args.shape.num_chunks;
  if (chunks == 0 || args.shape.asked_stride == 0) return cudaSuccess;
  const std::uint32_t grid = chunks < kMostBlocks ? chunks : kMostBlocks;
  const auto launch =
      args.shape.value_bytes == 8
          ? device::launch_after<plan_strides_kernel<std::uint64_t>, PlanStridesArgs>
          : device::launch_after<plan_strides_kernel<std::uint32_t>, PlanStridesArgs>;
  return launch(grid, kThreads, stream, args);
}

}  // namespace gdelta::cuda
