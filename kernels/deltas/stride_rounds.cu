#include <algorithm>

#include "kernels/checksum/part_words.cuh"
#include "kernels/deltas/stride_rounds.cuh"
#include "kernels/deltas/stride_rounds_cuda.h"
#include "kernels/device/kernel_facts.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/pages/page_limits.h"
#include "kernels/pages/page_view.cuh"

namespace gdelta::cuda {
namespace {

// ---- Policy: changes speed, never bytes

constexpr int kThreads = 512;
constexpr int kBlocksPerSm = 2;
constexpr std::uint32_t kRoundBytes = 1 << 17;  // of values

using Rounds = StrideRounds<kThreads, false>;

struct RoundsShared {
  Rounds::Shared rounds;
  std::uint64_t warp_sums[kThreads / 32];
  std::uint64_t polynomial;  // over the words of the part that a round has ended in
};

/// Tuples of a round: whole groups if parts are checked, else whole tiles of the link that is undone first, if its columns
/// go together.
template <int ValueBytes>
__device__ std::uint32_t round_tuples(const ColumnTask& task, bool checked) {
  const std::uint32_t most = kRoundBytes / task.tuple_bytes();
  const std::uint32_t tile =
      checked ? 0 : Rounds::tile_tuples<ValueBytes>(task, task.num_strides - 1);
  return tile > 0 && tile <= most ? most / tile * tile : most / kGroupValues * kGroupValues;
}

/// Holds the parts that end in a round against their checks, and keeps what it has of the next one. `power`: kCheckBase
/// to that of the thread's number.
__device__ void check_round(RoundsShared& shared, const ColumnTask& task, const TupleRange& round,
                            std::uint64_t power, unsigned long long* differs_at) {
  const std::uint32_t part_tuples = kGroupValues * task.page_groups;
#pragma unroll 1
  for (std::uint32_t first = round.first; first < round.end;) {
    const std::uint32_t part = first / part_tuples, part_first = part * part_tuples;
    const std::uint32_t part_end = min(part_first + part_tuples, task.records);
    const std::uint32_t end = min(round.end, part_end);
    const PartView stretch{task.out + static_cast<std::uint64_t>(first) * task.record_bytes,
                           end - first, task.tuple_bytes(), task.record_bytes, end - first};
    const std::uint64_t sum = device::warp_sum(sum_words<AlignedWords, kThreads>(stretch, power));
    if (threadIdx.x % 32 == 0) shared.warp_sums[threadIdx.x / 32] = sum;
    __syncthreads();  // the sums of all warps are there
    if (threadIdx.x == 0) {
      std::uint64_t polynomial = 0;
      for (const std::uint64_t of_warp : shared.warp_sums) polynomial += of_warp;
      if (first > part_first)
        polynomial = shared.polynomial +
                     polynomial * check_power((first - part_first) * task.tuple_bytes() / 4);
      shared.polynomial = polynomial;
      if (end == part_end && finish_check(part_end - part_first, polynomial) !=
                                 load_u32_anywhere(task.part_checks() + 4 * part))
        report_page(task, page_view(task, part), differs_at);
    }
    __syncthreads();  // the sums have been read
    first = end;
  }
}

template <int ValueBytes>
__device__ void undo_column(RoundsShared& shared, const ColumnTask& task, const LaneMaps* lane_maps,
                            std::uint64_t power, unsigned long long* differs_at) {
  __syncthreads();  // the sums of the task before have been read
  Rounds::open(shared.rounds);
  __syncthreads();  // all sums are zero
  const bool checked = task.path == ColumnPath::strides_verified;
  const std::uint32_t tuples = round_tuples<ValueBytes>(task, checked);
#pragma unroll 1
  for (std::uint32_t first = 0; first < task.records; first += tuples) {
    const TupleRange round{first, min(first + tuples, task.records)};
    Rounds::undo<ValueBytes>(shared.rounds, task, lane_maps, round, !checked);
    if (checked) check_round(shared, task, round, power, differs_at);
  }
}

__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    stride_rounds_kernel(const StrideUndoArgs args) {
  device::start_successor();
  __shared__ RoundsShared shared;
  const std::uint64_t power = check_power(threadIdx.x);
  device::wait_for_predecessor();
  for (std::uint32_t i = blockIdx.x; i < args.num_tasks; i += gridDim.x) {
    const ColumnTask& task = args.tasks[i];
    if (!is_undone_in_rounds(task)) continue;
    const LaneMaps* const maps = task.map == kMapsOfLanes ? args.lane_maps + i : nullptr;
    switch (task.value_bytes) {
      case 1:
        undo_column<1>(shared, task, maps, power, args.differs_at);
        break;
      case 2:
        undo_column<2>(shared, task, maps, power, args.differs_at);
        break;
      case 3:
        undo_column<3>(shared, task, maps, power, args.differs_at);
        break;
      case 4:
        undo_column<4>(shared, task, maps, power, args.differs_at);
        break;
      default:
        undo_column<8>(shared, task, maps, power, args.differs_at);
    }
  }
}

}  // namespace

cudaError_t has_stride_rounds(std::uint32_t num_tasks, bool& has_rounds) {
  int processors = 0;
  if (auto error = device::device_attribute<cudaDevAttrMultiProcessorCount>(processors))
    return error;
  has_rounds = num_tasks >= static_cast<std::uint32_t>(processors);
  return cudaSuccess;
}

cudaError_t launch_stride_rounds(const StrideUndoArgs& args, cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  constexpr std::uint32_t kMostBlocks = 1 << 14;
  return device::launch_after<stride_rounds_kernel>(std::min(args.num_tasks, kMostBlocks), kThreads,
                                                    stream, args);
}

}  // namespace gdelta::cuda
