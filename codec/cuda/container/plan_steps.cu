// A block a chunk, as in plan_chunks.cu: its warps weigh sampled groups of lanes, and of lanes less earlier ones; first as few
// groups as there may be, which refuse most steps.
#include <cstdint>

#include "codec/cuda/container/order_costs.cuh"
#include "codec/cuda/container/plan_steps_cuda.h"
#include "codec/plan/levels.h"
#include "codec/plan/quick_steps.h"
#include "formats/gdelta/maps/lane_step_fields.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/deltas/lane_residuals.cuh"
#include "kernels/device/field_sink.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {
namespace {

// Chunks of a GiB all have a block at once.
constexpr int kPlanStepsThreads = 128;
constexpr int kPlanStepsWarps = kPlanStepsThreads / 32;
constexpr std::uint32_t kPlanStepsMostBlocks = 1 << 16;
constexpr std::uint64_t kPlanStepsGainPermille = level_policy(kDeviceLevel).strides.gain_permille;

/// What is weighed of a lane: itself, and itself less each of its sources.
constexpr int kWays = kMostSteppedLanes;
constexpr int kMostItems = kWays * kMostSteppedLanes;
static_assert(kMostSteppedLanes == kWarpPathTuple);

/// Way w of a lane, and its number among all.
struct Item {
  int lane, way;

  __device__ Item(int of_lane, int of_way) : lane(of_lane), way(of_way) {}
  __device__ explicit Item(int number) : lane(number / kWays), way(number % kWays) {}
  __device__ int number() const { return lane * kWays + way; }
  __device__ int source() const { return lane - kWays + way; }  // rises with the way
  __device__ bool exists() const { return way == 0 || source() >= 0; }
};

template <class Word>
struct StepsShared {
  CostRows<Word> rows[kPlanStepsWarps];
  std::uint32_t sums[kMostItems * kWeighedOrders];
  std::uint64_t bits[kMostItems];
  std::uint8_t orders[kMostItems];
  bool is_weighed[kMostItems];
  unsigned long long before, saved;         // bits of all lanes, and what steps save of them
  std::uint8_t sources[kMostSteppedLanes];  // as PackTask has them
  PackTask task;
};

/// The block calls it.
template <class Word>
__device__ void clear_sums(const CutShape& shape, StepsShared<Word>& shared) {
  for (int i = threadIdx.x; i < kWays * shape.tuple * kWeighedOrders; i += kPlanStepsThreads)
    shared.sums[i] = 0;
  __syncthreads();  // all sums are zero
}

/// The sum of an item for the lowest order that is weighed; those for others come behind it.
__device__ int first_sum(const Item& item) { return item.number() * kWeighedOrders; }

template <class Word>
__device__ GroupValues<Word> load_lane(const PackTask& task, int lane, std::uint32_t first,
                                       int history) {
  bool differs = false;
  const LaneView<Word> values(task, lane, task.map);
  return load_group<false>(task, values, first, history, Word{0}, differs);
}

/// `lane` becomes what it is less another. Differences may have been taken of both.
template <class Word>
__device__ void subtract(GroupValues<Word>& lane, const GroupValues<Word>& other, int value_bits) {
#pragma unroll
  for (int j = 0; j <= kGroupRegisters; ++j)
    lane.words[j] = MinusStep::apply(lane.words[j], other.words[j], value_bits);
}

/// The least of the sums of an item.
template <class Word>
__device__ std::uint32_t least_sum(const CutShape& shape, const Item& item,
                                   const StepsShared<Word>& shared) {
  const std::uint32_t* const sums = shared.sums + first_sum(item);
  std::uint32_t least = sums[0];
  for (int order = 1; order <= shape.highest_order() - shape.lowest_order(); ++order)
    least = min(least, sums[order]);
  return least;
}

/// Adds up how many bits the residuals of a group have by themselves, of every lane with a source and of each way of it.
template <class Word>
__device__ void glance_at(const CutShape& shape, std::uint32_t first, StepsShared<Word>& shared) {
  const int value_bits = 8 * shape.value_bytes;
  const int lowest = shape.lowest_order(), highest = shape.highest_order();
  GroupValues<Word> lanes[kMostSteppedLanes];
#pragma unroll
  for (int lane = 0; lane < kMostSteppedLanes; ++lane)
    if (lane < shape.tuple) lanes[lane] = load_lane<Word>(shared.task, lane, first, highest);
#pragma unroll 1
  for (int order = 0; order <= highest; ++order) {
#pragma unroll
    for (int lane = 0; lane < kMostSteppedLanes; ++lane)
      if (order > 0 && lane < shape.tuple) lanes[lane].difference();
    if (order < lowest) continue;
#pragma unroll
    for (int number = kWays; number < kMostItems; ++number) {
      const Item item(number);
      if (!item.exists() || item.lane >= shape.tuple) continue;
      GroupValues<Word> group = lanes[item.lane];
      if (item.way > 0) subtract(group, lanes[item.source()], value_bits);
      Word residuals[kGroupRegisters];
      group.residuals(first, shared.task.records, value_bits, residuals);
      std::uint32_t bits = 0;
#pragma unroll
      for (const Word residual : residuals) bits += bit_length(residual);
      bits = device::warp_sum(bits);
      if ((threadIdx.x & 31) == 0) atomicAdd(&shared.sums[first_sum(item) + order - lowest], bits);
    }
  }
}

/// Whether few groups say of any lane that a step may pay. Leaves which items are to be weighed by all groups. The block calls it.
template <class Word>
__device__ bool may_pay(const CutShape& shape, StepsShared<Word>& shared) {
  clear_sums(shape, shared);
  const DeviceSample sample = glance_groups(shared.task.records);
  const std::uint32_t count = device::warp_uniform(sample.count);
  for (std::uint32_t at = device::warp_number(); at < count; at += kPlanStepsWarps)
    glance_at(shape, sample.first_tuple(at), shared);
  __syncthreads();  // all groups are counted
  bool any = false;
  for (int i = threadIdx.x; i < kWays * shape.tuple; i += kPlanStepsThreads) {
    const Item item(i), plain(item.lane, 0);
    const bool pays = item.way > 0 && item.exists() &&
                      may_save(least_sum(shape, item, shared), least_sum(shape, plain, shared),
                               kPlanStepsGainPermille);
    shared.is_weighed[i] = item.way == 0 || pays;
    any |= pays;
  }
  return __syncthreads_or(any) != 0;
}

/// Costs of all groups of items that are to be weighed; a warp takes a group of a lane. The block calls it.
template <class Word>
__device__ void weigh(const CutShape& shape, StepsShared<Word>& shared) {
  clear_sums(shape, shared);
  const DeviceSample sample = sample_groups(shared.task.records, shape.tuple, shape.column_groups);
  const int warp = device::warp_number();
  const std::uint32_t count = device::warp_uniform(sample.count);
  const std::uint32_t work = device::warp_uniform(shape.tuple * count);
  GroupCosts<Word> costs(shape, shared.rows[warp], shared.sums);
  for (std::uint32_t at = warp; at < work; at += kPlanStepsWarps) {
    const int lane = static_cast<int>(at / count);
    const std::uint32_t first = sample.first_tuple(at - lane * count);
    const GroupValues<Word> plain = load_lane<Word>(shared.task, lane, first, costs.history());
#pragma unroll 1
    for (int way = 0; way < kWays; ++way) {
      const Item item(lane, way);
      if (!device::warp_uniform(shared.is_weighed[item.number()])) continue;
      GroupValues<Word> group = plain;
      if (way > 0)
        subtract(group, load_lane<Word>(shared.task, item.source(), first, costs.history()),
                 8 * shape.value_bytes);
      costs.add(group, first, shared.task.records, first_sum(item));
    }
  }
  costs.finish();
  __syncthreads();  // all groups are weighed
  for (int item = threadIdx.x; item < kWays * shape.tuple; item += kPlanStepsThreads) {
    if (!shared.is_weighed[item]) continue;
    const auto [order, bits] =
        cheapest_order(shape, shared.sums + first_sum(Item(item)), sample, shared.task.records);
    shared.orders[item] = static_cast<std::uint8_t>(order);
    shared.bits[item] = bits;
  }
  __syncthreads();  // all costs are there
}

/// The step of a lane that saves most, if that is enough; a thread a lane.
template <class Word>
__device__ void choose_step(int lane, StepsShared<Word>& shared) {
  const int plain = Item(lane, 0).number();
  int best = plain;
  std::uint64_t least = ~std::uint64_t{0};
  for (int item = plain + 1; item < plain + kWays; ++item) {
    if (!shared.is_weighed[item] || shared.bits[item] >= least) continue;
    least = shared.bits[item];
    best = item;
  }
  const std::uint64_t without = shared.bits[plain];
  if (best != plain && !saves_a_pass(least, without, kPlanStepsGainPermille)) best = plain;
  shared.sources[lane] =
      best == plain ? std::uint8_t{0} : static_cast<std::uint8_t>(Item(best).source() + 1);
  shared.orders[plain] = shared.orders[best];
  atomicAdd(&shared.before, 0ull + without);
  if (best != plain) atomicAdd(&shared.saved, 0ull + without - least);
}

/// What the head says behind the number of the lane map (formats/gdelta/spec.md, section 4, and maps/differences.md).
/// Returns how many bytes that is.
__device__ std::uint32_t write_fields(const PackTask& task, unsigned char* to) {
  std::uint32_t steps = 0;
  for (int lane = 0; lane < task.tuple; ++lane) steps += task.sources[lane] > 0 ? 1 : 0;
  device::FieldSink fields{to};
  fields.le(1, steps);
  for (int lane = task.tuple - 1; lane > 0; --lane) {
    if (task.sources[lane] == 0) continue;
    fields.le(1, static_cast<std::uint64_t>(lane));
    fields.le(1, task.sources[lane] - 1u);
    fields.le(1, static_cast<std::uint64_t>(LaneStepKind::minus));
  }
  return static_cast<std::uint32_t>(fields.at - to);
}

/// The chunk's task becomes that of lanes less others if all of them together save enough.
template <class Word>
__device__ void finish_task(const PlanStepsArgs& args, std::uint32_t chunk,
                            StepsShared<Word>& shared) {
  PackTask& task = shared.task;
  const std::uint64_t bits = shared.before - shared.saved;
  if (!saves_a_pass(bits, shared.before, kPlanStepsGainPermille)) return;
  // Behind a stride it may be worth packing yet.
  if (!args.shape.asked_coder && args.shape.asked_stride == 0 &&
      !looks_worth_packing(bits, task.tuple, task.raw_bytes()))
    return;
  task.planned_raw = false;
  task.state_bytes = 0;
  for (int lane = 0; lane < task.tuple; ++lane) {
    task.sources[lane] = shared.sources[lane];
    task.orders[lane] = shared.orders[Item(lane, 0).number()];
    task.state_bytes += static_cast<std::uint32_t>(task.orders[lane]) * task.value_bytes;
  }
  task.step_bytes = write_fields(task, args.steps.of(chunk));
  args.tasks[chunk] = task;
  args.stepped.numbers[atomicAdd(args.stepped.count, 1u)] = chunk;
}

/// The block copies it.
__device__ void copy_task(const PackTask& from, PackTask& to) {
  static_assert(sizeof from % sizeof(std::uint32_t) == 0);
  for (int i = threadIdx.x; i < static_cast<int>(sizeof from / sizeof(std::uint32_t));
       i += kPlanStepsThreads)
    reinterpret_cast<std::uint32_t*>(&to)[i] = reinterpret_cast<const std::uint32_t*>(&from)[i];
}

template <class Word>
inline constexpr int kPlanStepsBlocks = sizeof(Word) == 8 ? 4 : 8;  // of a multiprocessor

template <class Word>
__global__ void __launch_bounds__(kPlanStepsThreads, kPlanStepsBlocks<Word>)
    plan_steps_kernel(const __grid_constant__ PlanStepsArgs args) {
  __shared__ StepsShared<Word> shared;
  const CutShape& shape = args.shape;
  shared.rows[threadIdx.x / 32].clear();
  device::wait_for_predecessor();
  device::start_successor();
  for (std::uint32_t chunk = blockIdx.x; chunk < shape.num_chunks; chunk += gridDim.x) {
    copy_task(args.tasks[chunk], shared.task);
    if (threadIdx.x == 0) shared.before = shared.saved = 0;
    __syncthreads();  // the task is there
    if (device::warp_uniform(shared.task.records) >= kGroupValues && may_pay(shape, shared)) {
      weigh(shape, shared);
      for (int lane = threadIdx.x; lane < shape.tuple; lane += kPlanStepsThreads)
        choose_step(lane, shared);
      __syncthreads();  // every lane has its step
      if (threadIdx.x == 0 && shared.saved > 0) finish_task(args, chunk, shared);
    }
    __syncthreads();  // the task has been read before the next one takes its place
  }
}

}  // namespace

cudaError_t launch_plan_steps(const PlanStepsArgs& args, cudaStream_t stream) {
  const std::uint32_t chunks = args.shape.num_chunks;
  if (chunks == 0) return cudaSuccess;
  const std::uint32_t grid = chunks < kPlanStepsMostBlocks ? chunks : kPlanStepsMostBlocks;
  return args.shape.value_bytes == 8 ? device::launch_after<plan_steps_kernel<std::uint64_t>>(
                                           grid, kPlanStepsThreads, stream, args)
                                     : device::launch_after<plan_steps_kernel<std::uint32_t>>(
                                           grid, kPlanStepsThreads, stream, args);
}

}  // namespace gdelta::cuda
