#include "kernels/deltas/stride_pairs_cuda.h"
#include "kernels/deltas/stride_rounds.cuh"
#include "kernels/device/kernel_facts.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/pages/page_limits.h"
#include "kernels/pages/value_widths.h"

namespace gdelta::cuda {
namespace {

// ---- Policy: changes speed, never bytes

constexpr int kStridePairsThreads = 512;
constexpr int kStridePairsBlocksPerSm = 2;
constexpr std::uint32_t kRoundBytes = 1 << 17;  // of values

using Rounds = StrideRounds<kStridePairsThreads>;

/// Tuples of a round: whole tiles of the link that is undone first, if its columns go together.
template <int ValueBytes>
__device__ std::uint32_t round_tuples(const ColumnTask& task) {
  const std::uint32_t most = kRoundBytes / task.tuple_bytes();
  const std::uint32_t tile = Rounds::tile_tuples<ValueBytes>(task, 1);
  return tile > 0 && tile <= most ? most / tile * tile : most / kGroupValues * kGroupValues;
}

template <int ValueBytes>
__device__ void undo_pair(Rounds::Shared& shared, const ColumnTask& task,
                          const LaneMaps* lane_maps) {
  __syncthreads();  // the sums of the task before have been read
  Rounds::open(shared);
  __syncthreads();  // all sums are zero
  const std::uint32_t tuples = round_tuples<ValueBytes>(task);
#pragma unroll 1
  for (std::uint32_t first = 0; first < task.records; first += tuples) {
    const TupleRange round{first, min(first + tuples, task.records)};
    Rounds::undo<ValueBytes>(shared, task, lane_maps, round, true);
  }
}

__global__ void __launch_bounds__(kStridePairsThreads, kStridePairsBlocksPerSm)
    stride_pairs_kernel(const ColumnTask* tasks, const LaneMaps* all_maps,
                        std::uint32_t num_tasks) {
  device::start_successor();
  __shared__ Rounds::Shared shared;
  device::wait_for_predecessor();
  for (std::uint32_t i = blockIdx.x; i < num_tasks; i += gridDim.x) {
    const ColumnTask& task = tasks[i];
    if (task.path < ColumnPath::page_warp || task.is_summed_by_block() || !is_stride_pair(task))
      continue;
    const LaneMaps* const maps = task.map == kMapsOfLanes ? all_maps + i : nullptr;
    switch (task.value_bytes) {
#define GDELTA_CASE(width)                \
  case width:                             \
    undo_pair<width>(shared, task, maps); \
    break;
      GDELTA_VALUE_WIDTHS(GDELTA_CASE)
#undef GDELTA_CASE
    }
  }
}

}  // namespace

cudaError_t launch_stride_pairs(const ColumnTask* tasks, const LaneMaps* lane_maps,
                                std::uint32_t num_tasks, cudaStream_t stream) {
  if (num_tasks == 0) return cudaSuccess;
  constexpr std::uint32_t kMostBlocks = 1 << 14;
  return device::launch_after<stride_pairs_kernel>(
      num_tasks < kMostBlocks ? num_tasks : kMostBlocks, kStridePairsThreads, stream, tasks,
      lane_maps, num_tasks);
}

}  // namespace gdelta::cuda
