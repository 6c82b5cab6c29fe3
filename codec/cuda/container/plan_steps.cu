// A block a chunk, as in plan_chunks.cu: its warps weigh sampled groups of lanes, and of lanes less earlier ones; first as few
// groups as there may be, which refuse most steps.
#include <cstdint>

#include "codec/cuda/container/plan_steps_cuda.h"
#include "codec/cuda/container/planned_lengths.cuh"
#include "codec/plan/levels.h"
#include "codec/plan/quick_steps.h"
#include "formats/gdelta/maps/lane_step_fields.h"
#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/deltas/lane_residuals.cuh"
#include "kernels/device/field_sink.cuh"
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

/// What is weighed of a lane: itself, and itself less each of its sources.
constexpr int kWays = 1 + kQuickSources;
constexpr int kMostItems = kWays * kMaxLanes;
static_assert(kMostItems <= kThreads);

/// Way w of a lane.
struct Item {
  int lane, way;

  __device__ explicit Item(int number) : lane(number / kWays), way(number % kWays) {}
  __device__ int source() const { return lane - kWays + way; }  // rises with the way
  __device__ bool exists() const { return way == 0 || source() >= 0; }
};

struct Cost {
  std::uint64_t bits;
  int order;
};

template <class Word>
struct StepsShared {
  PlannedLengths<Word> counts[kWarps];
  std::uint16_t row_sums[kWarps][kUnitGroups];  // which sum a row's cost goes to
  std::uint32_t sums[kMostItems * kTriedOrders];
  std::uint64_t bits[kMostItems];
  std::uint8_t orders[kMostItems];
  bool is_weighed[kMostItems];
  unsigned long long before, saved;  // bits of all lanes, and what steps save of them
  std::uint8_t sources[kMaxLanes];   // as PackTask has them
  PackTask task;
};

/// The costs of the rows that a warp has filled.
template <class Word>
__device__ void add_costs(StepsShared<Word>& shared, int warp, int rows, int value_bits) {
  const int thread = threadIdx.x & 31;
  __syncwarp();  // all groups are counted
  if (thread < rows) {
    atomicAdd(&shared.sums[shared.row_sums[warp][thread]],
              choose_width(shared.counts[warp].row(thread), value_bits).bits);
    shared.counts[warp].clear_row(thread);
  }
  __syncwarp();  // rows may be filled again
}

/// What a lane, or a lane less another, costs by these groups at the order that suits it, ties to the lower; the thread's own.
template <class Word>
__device__ Cost cost_of(const CutShape& shape, const DeviceSample& sample, int item,
                        const StepsShared<Word>& shared) {
  const std::uint32_t pages = shape.pages_of(shared.task.records);
  const bool asked = shape.asked_order >= 0;
  Cost least{~std::uint64_t{0}, 0};
  for (int tried = 0; tried <= (asked ? 0 : shape.max_order); ++tried) {
    const int order = asked ? shape.asked_order : tried;
    const std::uint64_t bits = lane_cost_bits(shared.sums[item * kTriedOrders + tried], sample,
                                              pages, order, 8 * shape.value_bytes);
    if (bits < least.bits) least = {bits, order};
  }
  return least;
}

/// Costs of the sampled groups of all items that are to be weighed. The block calls it.
template <class Word>
__device__ void weigh(const CutShape& shape, const DeviceSample& sample,
                      StepsShared<Word>& shared) {
  for (int i = threadIdx.x; i < kMostItems * kTriedOrders; i += kThreads) shared.sums[i] = 0;
  __syncthreads();  // all sums are zero, and it is known what is weighed
  const int thread = threadIdx.x & 31, warp = device::warp_number();
  const int value_bits = 8 * shape.value_bytes;
  const int last = shape.asked_order >= 0 ? shape.asked_order : shape.max_order;
  const std::uint32_t work = device::warp_uniform(kWays * shape.tuple * sample.count);
  int rows = 0;
  for (std::uint32_t at = warp; at < work; at += kWarps) {
    const Item item(static_cast<int>(at / sample.count));
    const int number = item.lane * kWays + item.way;
    if (!device::warp_uniform(shared.is_weighed[number])) continue;
    const std::uint32_t first = sample.first_tuple(at % sample.count);
    bool differs = false;
    const auto load = [&](int lane) {
      const LaneView<Word> values(shared.task, lane, shared.task.map);
      return load_group<false>(shared.task, values, first, last, Word{0}, differs);
    };
    GroupValues<Word> group = load(item.lane);
    if (item.way > 0) {
      const GroupValues<Word> others = load(item.source());
#pragma unroll
      for (int j = 0; j <= kGroupRegisters; ++j)
        group.words[j] = MinusStep::apply(group.words[j], others.words[j], value_bits);
    }
    for (int order = 0; order <= last; ++order) {
      if (order > 0) group.difference();
      if (shape.asked_order >= 0 && order < last) continue;
      Word residuals[kGroupRegisters];
      group.residuals(first, shared.task.records, value_bits, residuals);
      const int tried = shape.asked_order >= 0 ? 0 : order;
      if (thread == 0)
        shared.row_sums[warp][rows] = static_cast<std::uint16_t>(number * kTriedOrders + tried);
      shared.counts[warp].add_group(residuals, rows);
      ++rows;
    }
    if (rows + kTriedOrders > kUnitGroups) {
      add_costs(shared, warp, rows, value_bits);
      rows = 0;
    }
  }
  add_costs(shared, warp, rows, value_bits);
  __syncthreads();  // all groups are weighed
  const int item = static_cast<int>(threadIdx.x);
  if (item < kWays * shape.tuple && shared.is_weighed[item]) {
    const Cost cost = cost_of(shape, sample, item, shared);
    shared.bits[item] = cost.bits;
    shared.orders[item] = static_cast<std::uint8_t>(cost.order);
  }
  __syncthreads();  // all costs are there
}

/// Whether few groups say of any lane that a step may pay. Leaves which are to be weighed by all groups. The block calls it.
template <class Word>
__device__ bool may_pay(const CutShape& shape, StepsShared<Word>& shared) {
  const int thread = static_cast<int>(threadIdx.x);
  const Item item(thread);
  const bool exists = item.lane < shape.tuple && item.exists();
  if (thread < kMostItems) shared.is_weighed[thread] = exists;
  weigh(shape, sample_groups(shared.task.records, shape.tuple, 0u), shared);
  const bool pays = exists && item.way > 0 && shared.bits[thread] < shared.bits[item.lane * kWays];
  if (exists && item.way > 0) shared.is_weighed[thread] = pays;
  return __syncthreads_or(pays) != 0;
}

/// The step of a lane that saves most, if that is enough; a thread a lane.
template <class Word>
__device__ void choose_step(int lane, StepsShared<Word>& shared) {
  const int plain = lane * kWays;
  int best = plain;
  std::uint64_t least = ~std::uint64_t{0};
  for (int item = plain + 1; item < plain + kWays; ++item) {
    if (!shared.is_weighed[item] || shared.bits[item] >= least) continue;
    least = shared.bits[item];
    best = item;
  }
  const std::uint64_t without = shared.bits[plain];
  if (best != plain && !saves_a_pass(least, without, kGainPermille)) best = plain;
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
  if (!saves_a_pass(bits, shared.before, kGainPermille)) return;
  if (!args.shape.asked_coder && !looks_worth_packing(bits, task.tuple, task.raw_bytes())) return;
  task.planned_raw = false;
  task.state_bytes = 0;
  for (int lane = 0; lane < task.tuple; ++lane) {
    task.sources[lane] = shared.sources[lane];
    task.orders[lane] = shared.orders[lane * kWays];
    task.state_bytes += static_cast<std::uint32_t>(task.orders[lane]) * task.value_bytes;
  }
  task.step_bytes = write_fields(task, args.steps.of(chunk));
  args.tasks[chunk] = task;
}

template <class Word>
__global__ void __launch_bounds__(kThreads) plan_steps_kernel(PlanStepsArgs args) {
  __shared__ StepsShared<Word> shared;
  const CutShape& shape = args.shape;
  shared.counts[threadIdx.x / 32].clear();
  device::wait_for_predecessor();
  device::start_successor();
  for (std::uint32_t chunk = blockIdx.x; chunk < shape.num_chunks; chunk += gridDim.x) {
    if (threadIdx.x == 0) {
      shared.task = args.tasks[chunk];
      shared.before = shared.saved = 0;
    }
    __syncthreads();  // the task is there
    if (shared.task.records >= kGroupValues && may_pay(shape, shared)) {
      weigh(shape, sample_groups(shared.task.records, shape.tuple, shape.column_groups), shared);
      const int lane = static_cast<int>(threadIdx.x);
      if (lane < shape.tuple) choose_step(lane, shared);
      __syncthreads();  // every lane has its step
      if (lane == 0 && shared.saved > 0) finish_task(args, chunk, shared);
    }
    __syncthreads();  // the task has been read before the next one takes its place
  }
}

}  // namespace

cudaError_t launch_plan_steps(const PlanStepsArgs& args, cudaStream_t stream) {
  const std::uint32_t chunks = args.shape.num_chunks;
  if (chunks == 0) return cudaSuccess;
  const std::uint32_t grid = chunks < kMostBlocks ? chunks : kMostBlocks;
  return args.shape.value_bytes == 8
             ? device::launch_after<plan_steps_kernel<std::uint64_t>>(grid, kThreads, stream, args)
             : device::launch_after<plan_steps_kernel<std::uint32_t>>(grid, kThreads, stream, args);
}

}  // namespace gdelta::cuda
