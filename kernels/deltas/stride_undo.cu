#include "kernels/deltas/stride_pairs_cuda.h"
#include "kernels/deltas/stride_rounds.cuh"
#include "kernels/deltas/stride_undo_cuda.h"
#include "kernels/deltas/stride_walk.cuh"
#include "kernels/device/kernel_facts.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/pages/page_limits.h"

namespace gdelta::cuda {
namespace {

constexpr int kStrideUndoThreads = 512;
constexpr int kStrideUndoBlocksPerSm = 2;
constexpr std::uint32_t kMostRows = 1 << 14;  // blocks side by side; each takes a task at a time
constexpr int kTeam = 8;  // blocks, a cluster, that share a task where there are few tasks

template <class Values, int kBlocks>
__device__ void undo_link(const ColumnTask& task, const LaneMaps* lane_maps, int link,
                          const TeamPlace<kBlocks>& place,
                          Sums<typename Values::Word, kStrideUndoThreads, kBlocks>& sums) {
  const std::uint32_t stride = task.strides[link].stride;
  const int order = static_cast<int>(task.strides[link].order);
  Walk<Values> walk{.task = task,
                    .lane_maps = lane_maps,
                    .in_memory = Values(task.value_bytes),
                    .stride = stride,
                    .columns = stride * task.tuple / Walk<Values>::kAcross,
                    .step_bytes = static_cast<std::uint64_t>(stride) * task.record_bytes,
                    .last = false,
                    .range = {},
                    .carried = nullptr};
  // Orders of strides are seldom more than one, so each is a walk of its own.
  for (int k = 1; k <= order; ++k) {
    walk.last = link == 0 && k == order;
    if (walk.columns > most_together(kStrideUndoThreads) / walk.kAcross) {
      walk_down<kStrideUndoThreads>(walk, place);
    } else if (kBlocks > 1 || place.rank == 0) {
      walk_in_tiles<kStrideUndoThreads>(walk, place, sums);
    }
  }
}

template <int kBlocks>
__global__ void __launch_bounds__(kStrideUndoThreads, kStrideUndoBlocksPerSm)
    stride_undo_kernel(const ColumnTask* tasks, const LaneMaps* all_maps, std::uint32_t num_tasks,
                       int link, bool pairs_are_undone) {
  device::start_successor();
  __shared__ union {
    Sums<std::uint32_t, kStrideUndoThreads, kBlocks> of_words;
    Sums<std::uint64_t, kStrideUndoThreads, kBlocks> of_longs;
    Sums<Quad, kStrideUndoThreads, kBlocks> of_quads;
  } sums;
  if constexpr (kBlocks > 1) device::cluster_arrive();  // this block runs and can be written to
  const TeamPlace<kBlocks> place = kBlocks > 1 ? TeamPlace<kBlocks>{blockIdx.x % kBlocks, kBlocks}
                                               : TeamPlace<kBlocks>{blockIdx.y, gridDim.y};
  device::wait_for_predecessor();
  if constexpr (kBlocks > 1) device::cluster_wait();  // every block of the team runs
  for (std::uint32_t i = blockIdx.x / kBlocks; i < num_tasks; i += gridDim.x / kBlocks) {
    const ColumnTask& task = tasks[i];
    if (task.path < ColumnPath::page_warp || task.is_summed_by_block() || !task.has_link(link) ||
        (pairs_are_undone && is_stride_pair(task)))
      continue;
    const LaneMaps* const maps = task.map == kMapsOfLanes ? all_maps + i : nullptr;
    const int width = task.value_bytes;
    const bool aligned = is_value_aligned(task.out, task.record_bytes, width);
    if (width == 8) {
      if (aligned)
        undo_link<AlignedValues<std::uint64_t>>(task, maps, link, place, sums.of_longs);
      else
        undo_link<OddValues<std::uint64_t>>(task, maps, link, place, sums.of_longs);
    } else if (width == 3 && has_quads<3>(task, task.strides[link].stride)) {
      undo_link<QuadValues<3, 4>>(task, maps, link, place, sums.of_quads);
    } else if (!aligned) {
      undo_link<OddValues<std::uint32_t>>(task, maps, link, place, sums.of_words);
    } else if (width == 4) {
      undo_link<AlignedValues<std::uint32_t>>(task, maps, link, place, sums.of_words);
    } else if (width == 2) {
      undo_link<AlignedValues<std::uint16_t>>(task, maps, link, place, sums.of_words);
    } else {
      undo_link<AlignedValues<std::uint8_t>>(task, maps, link, place, sums.of_words);
    }
  }
}

cudaError_t launch_by_teams(const ColumnTask* tasks, const LaneMaps* lane_maps,
                            std::uint32_t num_tasks, int link, cudaStream_t stream) {
  return device::launch_clusters_after<stride_undo_kernel<kTeam>>(
      num_tasks, kTeam, kStrideUndoThreads, stream, tasks, lane_maps, num_tasks, link, false);
}

// Columns of a stride that threads walk down alone are shared by as many blocks as there is room for.
cudaError_t launch_by_blocks(const ColumnTask* tasks, const LaneMaps* lane_maps,
                             std::uint32_t num_tasks, std::uint32_t most_blocks, int link,
                             cudaStream_t stream) {
  const dim3 grid(num_tasks < kMostRows ? num_tasks : kMostRows,
                  num_tasks < most_blocks ? most_blocks / num_tasks : 1);
  return device::launch_after<stride_undo_kernel<1>>(grid, kStrideUndoThreads, stream, tasks,
                                                     lane_maps, num_tasks, link, true);
}

}  // namespace

cudaError_t launch_stride_undo(const ColumnTask* tasks, const LaneMaps* lane_maps,
                               std::uint32_t num_tasks, bool pairs, cudaStream_t stream) {
  if (num_tasks == 0) return cudaSuccess;
  int count = 0, capability = 0;
  if (auto error = device::device_attribute<cudaDevAttrMultiProcessorCount>(count)) return error;
  if (auto error = device::compiled_for<stride_undo_kernel<kTeam>>(capability)) return error;
  const auto processors = static_cast<std::uint32_t>(count);
  // A tile of a team waits for its blocks, so if there are enough tasks for all processors, each is a block's.
  const bool by_teams = capability >= 90 && num_tasks < processors;
  if (pairs && !by_teams) {
    if (auto error = launch_stride_pairs(tasks, lane_maps, num_tasks, stream)) return error;
  }
  for (int link = pairs ? 1 : 0; link >= 0; --link) {
    if (auto error = by_teams ? launch_by_teams(tasks, lane_maps, num_tasks, link, stream)
                              : launch_by_blocks(tasks, lane_maps, num_tasks,
                                                 kStrideUndoBlocksPerSm * processors, link, stream))
      return error;
  }
  return cudaSuccess;
}

}  // namespace gdelta::cuda
