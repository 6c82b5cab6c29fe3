// A block plans a chunk: its warps weigh sampled groups, then a thread for each lane picks an order.
#include "codec/cuda/container/cut_task.cuh"
#include "codec/cuda/container/exact_maps.cuh"
#include "codec/cuda/container/order_costs.cuh"
#include "codec/cuda/container/plan_chunks_cuda.h"
#include "codec/plan/levels.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/deltas/lane_residuals.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kPlanChunksThreads = 256;
constexpr int kPlanChunksWarps = kPlanChunksThreads / 32;
constexpr std::uint32_t kPlanChunksMostBlocks = 1 << 16;
/// Maps that are weighed: those without fields, and behind them the one that a lane may get in a pass of its own.
template <bool kExact>
inline constexpr int kMaps = CutShape::kMostMaps + (kExact ? 1 : 0);
static_assert(kPlanChunksThreads >= kMaps<true> * kMaxLanes);
constexpr std::uint64_t kPlanChunksGainPermille = level_policy(kDeviceLevel).strides.gain_permille;

template <class Word, bool kExact>
struct PlanShared {
  CostRows<Word> rows[kPlanChunksWarps];
  std::uint32_t sums[kMaps<kExact> * kMaxLanes * kWeighedOrders];
  unsigned long long map_bits[kMaps<kExact>];
  std::uint8_t orders[kMaps<kExact>][kMaxLanes];
  // Of maps in a pass of their own:
  std::uint64_t bits[kExact ? kMaps<kExact> : 1][kMaxLanes];
  std::uint8_t own_maps[kMaxLanes];
  PackTask task;
};

/// Numbers maps in the order of CutShape::maps; the lane's own comes behind them.
template <bool kExact>
__device__ int num_tried_maps(const CutShape& shape) {
  return shape.num_maps + (kExact ? 1 : 0);
}

/// What a map makes of a group; of one in a pass of its own any word where a value has none.
template <class Word, bool kExact>
__device__ GroupValues<Word> map_group(GroupValues<Word> group, const CutShape& shape, int map,
                                       const LaneMapping& own) {
  const int value_bits = 8 * shape.value_bytes;
  if (kExact && map == shape.num_maps) {
    with_exact_words<Word>(own, [&](const auto& words) {
#pragma unroll
      for (Word& word : group.words) words.find(word, word);
    });
  } else {
    with_map(shape.maps[map], [&](auto of) {
#pragma unroll
      for (Word& word : group.words)
        word = decltype(of)::apply(word, value_bits) & value_mask<Word>(value_bits);
    });
  }
  return group;
}

/// Costs of all sampled groups of all lanes under each map.
template <class Word, bool kExact>
__device__ void weigh_groups(const CutShape& shape, const DeviceSample& sample,
                             const ExactLane* own_maps, PlanShared<Word, kExact>& shared) {
  const int warp = device::warp_number();
  GroupCosts<Word> costs(shape, shared.rows[warp], shared.sums);
  const auto tuple = device::warp_uniform(std::uint32_t{shape.tuple});
  const std::uint32_t items = device::warp_uniform(tuple * sample.count);
  // Neighbouring lanes side by side, which share sectors of memory.
  for (std::uint32_t item = warp; item < items; item += kPlanChunksWarps) {
    const std::uint32_t number = item / tuple, lane = item - number * tuple;
    const std::uint32_t first = sample.first_tuple(number);
    bool differs = false;
    const LaneView<Word> values(shared.task, lane, 0);
    const GroupValues<Word> plain =
        load_group<false>(shared.task, values, first, costs.history(), Word{0}, differs);
    for (int map = 0; map < num_tried_maps<kExact>(shape); ++map) {
      LaneMapping own;
      if (kExact && map == shape.num_maps) {
        if (device::warp_uniform(shared.own_maps[lane] == 0)) continue;
        own = own_maps[lane].mapping;
      }
      costs.add(map_group<Word, kExact>(plain, shape, map, own), first, shared.task.records,
                (map * kMaxLanes + static_cast<int>(lane)) * kWeighedOrders);
    }
  }
  costs.finish();
}

/// The order of one lane under one map: the least cost, ties to the lower.
template <class Word, bool kExact>
__device__ void choose_order(const CutShape& shape, const DeviceSample& sample, int map, int lane,
                             PlanShared<Word, kExact>& shared) {
  const auto [order, bits] = cheapest_order(
      shape, shared.sums + (map * kMaxLanes + lane) * kWeighedOrders, sample, shared.task.records);
  shared.orders[map][lane] = static_cast<std::uint8_t>(order);
  if constexpr (kExact) shared.bits[map][lane] = bits;
  atomicAdd(&shared.map_bits[map], 0ull + bits);
}

/// Gives the number of the map that the task gets.
template <class Word, bool kExact>
__device__ int finish_task(const CutShape& shape, PlanShared<Word, kExact>& shared) {
  PackTask& task = shared.task;
  int map = 0;
  for (int other = 1; other < shape.num_maps; ++other)
    if (shared.map_bits[other] < shared.map_bits[map]) map = other;
  task.map = shape.maps[map];
  task.planned_raw = !shape.asked_coder &&
                     !looks_worth_packing(shared.map_bits[map], task.tuple, task.raw_bytes());
  for (int lane = 0; lane < shape.tuple; ++lane) {
    task.orders[lane] = shared.orders[map][lane];
    task.state_bytes += static_cast<std::uint32_t>(task.orders[lane]) * shape.value_bytes;
  }
  return map;
}

/// What lanes would be behind their own maps, if some clearly save bits.
template <class Word, bool kExact>
__device__ void tell_maps(const CutShape& shape, int plain, const PlanShared<Word, kExact>& shared,
                          ExactLane* lanes, ExactChunk& chunk) {
  const int own = shape.num_maps;
  chunk = {.plain = shape.maps[plain]};
  bool any = false;
  for (int lane = 0; lane < shape.tuple; ++lane) {
    ExactLane& of_lane = lanes[lane];
    of_lane.order = shared.orders[own][lane];
    of_lane.bits = shared.bits[own][lane];
    of_lane.plain_bits = shared.bits[plain][lane];
    if (has_exact_map(of_lane.mapping) &&
        !saves_a_pass(of_lane.bits, of_lane.plain_bits, kPlanChunksGainPermille))
      of_lane.mapping.map = 0;
    any |= has_exact_map(of_lane.mapping);
  }
  if (any) chunk.lanes = ~std::uint64_t{0} >> (kMaxLanes - shape.tuple);
}

template <class Word>
inline constexpr int kPlanChunksBlocks = sizeof(Word) == 8 ? 3 : 4;  // of a multiprocessor

template <class Word, bool kExact>
__global__ void __launch_bounds__(kPlanChunksThreads, kPlanChunksBlocks<Word>)
    plan_chunks_kernel(const __grid_constant__ PlanArgs args) {
  __shared__ PlanShared<Word, kExact> shared;
  const CutShape& shape = args.shape;
  const int thread = threadIdx.x;
  const std::uint64_t full_units = shape.units_of(0);
  if constexpr (kExact) {
    device::wait_for_predecessor();
    device::start_successor();
  }
  for (std::uint32_t chunk = blockIdx.x; chunk < shape.num_chunks; chunk += gridDim.x) {
    for (int i = thread; i < kMaps<kExact> * kMaxLanes * kWeighedOrders; i += kPlanChunksThreads)
      shared.sums[i] = 0;
    if (thread < kMaps<kExact>) shared.map_bits[thread] = 0;
    if (thread == 0) shared.task = cut_task(shape, chunk);
    if constexpr (kExact)
      if (thread < shape.tuple)
        shared.own_maps[thread] = args.maps.lanes_of(chunk)[thread].mapping.map;
    shared.rows[thread / 32].clear();
    __syncthreads();  // the task is there and all sums are zero
    const DeviceSample sample =
        sample_groups(shared.task.records, shape.tuple, shape.column_groups);
    weigh_groups(shape, sample, kExact ? args.maps.lanes_of(chunk) : nullptr, shared);
    __syncthreads();  // all groups are weighed
    const int map = thread / kMaxLanes, lane = thread % kMaxLanes;
    if (map < num_tried_maps<kExact>(shape) && lane < shape.tuple)
      choose_order(shape, sample, map, lane, shared);
    __syncthreads();  // every lane has an order under every map
    if (thread == 0) {
      const int plain = finish_task(shape, shared);
      if constexpr (kExact)
        tell_maps(shape, plain, shared, args.maps.lanes_of(chunk), args.maps.chunks[chunk]);
      const PackTask& task = shared.task;
      args.tasks[chunk] = task;
      args.differs[chunk] = 0;
      args.unit_starts[chunk] = chunk * full_units;
      if (chunk == 0 && args.num_stepped != nullptr) *args.num_stepped = 0;
      if (chunk + 1 == shape.num_chunks)
        args.unit_starts[chunk + 1] =
            chunk * full_units + static_cast<std::uint64_t>(task.num_pages) * task.page_units;
    }
    __syncthreads();  // the task has been copied before the next one takes its place
  }
}

template <class Word>
cudaError_t launch_exact(const PlanArgs& args, unsigned grid, cudaStream_t stream) {
  constexpr std::uint32_t kMultiple = 1u << kMapNumber<MultipleMap>;
  const auto find =
      (args.shape.exact_maps & kMultiple) != 0 ? launch_find_multiples : launch_find_step_maps;
  if (auto error = find(args, stream)) return error;
  return device::launch_after<plan_chunks_kernel<Word, true>>(grid, kPlanChunksThreads, stream,
                                                              args);
}

}  // namespace

cudaError_t launch_plan_chunks(const PlanArgs& args, cudaStream_t stream) {
  const std::uint32_t chunks = args.shape.num_chunks;
  if (chunks == 0) return cudaSuccess;
  const std::uint32_t grid = chunks < kPlanChunksMostBlocks ? chunks : kPlanChunksMostBlocks;
  const bool wide = args.shape.value_bytes == 8;
  if (args.shape.exact_maps != 0)
    return wide ? launch_exact<std::uint64_t>(args, grid, stream)
                : launch_exact<std::uint32_t>(args, grid, stream);
  const auto kernel =
      wide ? plan_chunks_kernel<std::uint64_t, false> : plan_chunks_kernel<std::uint32_t, false>;
  return device::launch_kernel(kernel, grid, kPlanChunksThreads, stream, args);
}

}  // namespace gdelta::cuda
