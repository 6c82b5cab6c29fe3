// A block a chunk: it weighs lanes as they are and less those a stride before.
#include <cstdint>

#include "codec/cuda/container/lane_weigher.cuh"
#include "codec/cuda/container/plan_strides_cuda.h"
#include "codec/plan/levels.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kPlanStridesWarps = 8;
constexpr std::uint32_t kPlanStridesMostBlocks = 1 << 16;
constexpr std::uint64_t kPlanStridesGainPermille = level_policy(kDeviceLevel).strides.gain_permille;

template <class Word>
struct StridesShared {
  LaneWeigher<Word, kPlanStridesWarps> weigher;
  PackTask task;  // with the stride
};

/// The task gets the stride that has been weighed, with the orders that suit it.
template <class Word>
__device__ void take_stride(const StridesShared<Word>& shared, PackTask& task) {
  task.num_strides = 1;
  task.strides[0] = shared.task.strides[0];
  task.state_bytes = 0;
  for (int lane = 0; lane < task.tuple; ++lane) {
    task.orders[lane] = shared.weigher.order(lane);
    task.state_bytes += static_cast<std::uint32_t>(task.orders[lane]) * task.value_bytes;
  }
}

template <class Word>
__global__ void __launch_bounds__(32 * kPlanStridesWarps)
    plan_strides_kernel(const __grid_constant__ PlanStridesArgs args) {
  __shared__ StridesShared<Word> shared;
  const CutShape& shape = args.shape;
  shared.weigher.open();
  device::wait_for_predecessor();
  device::start_successor();
  for (std::uint32_t chunk = blockIdx.x; chunk < shape.num_chunks; chunk += gridDim.x) {
    const std::uint32_t strides[] = {args.found == nullptr ? shape.asked_stride : args.found[chunk],
                                     args.other_stride};
    if (threadIdx.x == 0) {
      shared.task = args.tasks[chunk];
      shared.task.num_strides = 1;
    }
    __syncthreads();  // the task is there
    const DeviceSample sample =
        sample_groups(shared.task.records, shape.tuple, shape.column_groups);
    shared.weigher.weigh(shape, shared.task, false, sample);
    const std::uint64_t without = shared.weigher.bits();
    std::uint64_t least = without;
#pragma unroll 1
    for (const std::uint32_t stride : strides) {
      // Chunks that have none, or are too short for it.
      if (stride == 0 || stride > longest_stride(shared.task.records)) continue;
      __syncthreads();  // every thread has read the bits, and thread 0 the orders of the stride before
      if (threadIdx.x == 0) shared.task.strides[0] = {stride, 1};
      __syncthreads();  // the stride is there
      shared.weigher.weigh(shape, shared.task, true, sample);
      const std::uint64_t bits = shared.weigher.bits();
      if (bits >= least || !saves_a_pass(bits, without, kPlanStridesGainPermille)) continue;
      least = bits;
      if (threadIdx.x == 0) take_stride(shared, args.tasks[chunk]);
    }
    if (threadIdx.x == 0) {
      PackTask& task = args.tasks[chunk];
      task.planned_raw =
          !shape.asked_coder && !looks_worth_packing(least, task.tuple, task.raw_bytes());
    }
    __syncthreads();  // the task has been read before the next one takes its place
  }
}

}  // namespace

cudaError_t launch_plan_strides(const PlanStridesArgs& args, cudaStream_t stream) {
  const std::uint32_t chunks = args.shape.num_chunks;
  if (chunks == 0 || args.shape.asked_stride == 0) return cudaSuccess;
  const std::uint32_t grid = chunks < kPlanStridesMostBlocks ? chunks : kPlanStridesMostBlocks;
  const auto launch =
      args.shape.value_bytes == 8
          ? device::launch_after<plan_strides_kernel<std::uint64_t>, PlanStridesArgs>
          : device::launch_after<plan_strides_kernel<std::uint32_t>, PlanStridesArgs>;
  return launch(grid, 32 * kPlanStridesWarps, stream, args);
}

}  // namespace gdelta::cuda
