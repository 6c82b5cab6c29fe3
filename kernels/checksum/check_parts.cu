// A warp takes a part (part_words.cuh).
#include <algorithm>

#include "kernels/checksum/check_parts_cuda.h"
#include "kernels/checksum/part_words.cuh"
#include "kernels/deltas/segment_pages.h"
#include "kernels/device/find_alone.cuh"
#include "kernels/device/kernel_facts.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/words/load_anywhere.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr std::uint64_t kMostBlocks = 1 << 14;

// ---- Of decoded columns

__device__ PartView part_of(const ColumnTask& task, std::uint32_t part) {
  const std::uint32_t part_tuples =
      task.page_groups == 0 ? task.records : kGroupValues * task.page_groups;
  const std::uint32_t first = task.path == ColumnPath::fill ? 0 : part * part_tuples;
  const std::uint32_t counted = min(part_tuples, task.records - first);
  const std::uint32_t tuples = task.path == ColumnPath::fill ? 1 : counted;
  return {task.out + static_cast<std::uint64_t>(first) * task.record_bytes, tuples,
          task.tuple_bytes(), task.record_bytes, counted};
}

/// Where a part begins in its section.
__device__ std::uint64_t part_at(const ColumnTask& task, std::uint32_t part) {
  if (part == 0) return 0;
  if (task.path == ColumnPath::copy)
    return static_cast<std::uint64_t>(part) * kGroupValues * task.page_groups * task.tuple_bytes();
  return load_u32_anywhere(task.directory + 4 * (part - 1));
}

__device__ void compare_check(const CompareChecksArgs& args, const ColumnTask& task,
                              std::uint32_t part, std::uint32_t check) {
  if (check != load_u32_anywhere(task.part_checks() + 4 * part))
    atomicMin(args.differs_at + task.chunk, task.section_at + part_at(task, part));
}

/// The warp takes a part.
__device__ void check_values(const CompareChecksArgs& args, const ColumnTask& task,
                             std::uint32_t part, std::uint64_t power) {
  const std::uint32_t check = check_part(part_of(task, part), power);
  if ((threadIdx.x & 31) == 0) compare_check(args, task, part, check);
}

__global__ void __launch_bounds__(kThreads) compare_checks_kernel(CompareChecksArgs args) {
  device::start_successor();
  device::wait_for_predecessor();
  const std::uint64_t power = check_power(threadIdx.x & 31);
  const std::uint64_t parts = args.part_starts[args.num_tasks];
  const std::uint64_t warps = gridDim.x * static_cast<std::uint64_t>(kWarps);
  for (std::uint64_t item = (blockIdx.x * static_cast<std::uint64_t>(kThreads) + threadIdx.x) / 32;
       item < parts; item += warps) {
    const std::uint32_t t = device::find_start(args.part_starts, 0, args.num_tasks, item);
    check_values(args, args.tasks[t], static_cast<std::uint32_t>(item - args.part_starts[t]),
                 power);
  }
}

/// The same if pages have left polynomials of some parts: each thread looks for a part and compares it, if it is such a
/// one. Of others the warp takes the values, part by part.
__global__ void __launch_bounds__(kThreads) compare_segment_checks_kernel(CompareChecksArgs args) {
  device::start_successor();
  device::wait_for_predecessor();
  const std::uint64_t power = check_power(threadIdx.x & 31);
  const std::uint64_t parts = args.part_starts[args.num_tasks];
  const std::uint64_t warps = gridDim.x * static_cast<std::uint64_t>(kWarps);
  for (std::uint64_t first = (blockIdx.x * static_cast<std::uint64_t>(kThreads) + threadIdx.x) / 32;
       first < parts; first += 32 * warps) {
    const std::uint64_t item = first + (threadIdx.x & 31) * warps;
    std::uint32_t t = 0, part = 0;
    bool has_values = false;
    if (item < parts) {
      t = device::find_start_alone(args.part_starts, 0u, args.num_tasks, item);
      part = static_cast<std::uint32_t>(item - args.part_starts[t]);
      const ColumnTask& task = args.tasks[t];
      has_values = task.path != ColumnPath::page_segments;
      if (!has_values)
        compare_check(args, task, part,
                      finish_check(part_of(task, part).counted_tuples,
                                   segment_pages(task, task.segments.residuals)[part].check));
    }
    for (std::uint32_t left = __ballot_sync(device::kWholeWarp, has_values); left != 0;
         left &= left - 1) {
      const int thread = 31 - __clz(static_cast<int>(left & (0u - left)));
      const ColumnTask& task = args.tasks[__shfl_sync(device::kWholeWarp, t, thread)];
      check_values(args, task, __shfl_sync(device::kWholeWarp, part, thread), power);
    }
  }
}

// ---- Of columns that are encoded

/// The task that has page `page`; the whole warp calls it.
__device__ std::uint32_t find_task(const PackTask* tasks, std::uint32_t num_tasks,
                                   std::uint64_t page) {
  const std::uint32_t thread = threadIdx.x & 31;
  std::uint32_t begin = 0, end = num_tasks;
  while (end - begin > 1) {
    const std::uint32_t step = (end - begin + 31) / 32;
    const std::uint64_t probe = begin + static_cast<std::uint64_t>(thread) * step;
    const unsigned at_or_before =
        __ballot_sync(device::kWholeWarp, probe < end && tasks[probe].first_page <= page);
    begin += (31 - __clz(at_or_before)) * step;
    end = min(begin + step, end);
  }
  return begin;
}

__global__ void __launch_bounds__(kThreads) make_checks_kernel(MakeChecksArgs args) {
  const std::uint64_t power = check_power(threadIdx.x & 31);
  const PackTask& last = args.tasks[args.num_tasks - 1];
  const std::uint64_t pages = static_cast<std::uint64_t>(last.first_page) + last.num_pages;
  const std::uint64_t warps = gridDim.x * static_cast<std::uint64_t>(kWarps);
  for (std::uint64_t page = (blockIdx.x * static_cast<std::uint64_t>(kThreads) + threadIdx.x) / 32;
       page < pages; page += warps) {
    const std::uint32_t t = find_task(args.tasks, args.num_tasks, page);
    const PackTask& task = args.tasks[t];
    const auto part = static_cast<std::uint32_t>(page - task.first_page);
    const std::uint32_t first = part * kGroupValues * task.page_groups;
    const std::uint32_t tuples = min(kGroupValues * task.page_groups, task.records - first);
    const PartView view{
        .first = task.decoded() + static_cast<std::uint64_t>(first) * task.record_bytes,
        .tuples = tuples,
        .tuple_bytes = static_cast<std::uint32_t>(task.value_bytes) * task.tuple,
        .record_bytes = task.record_bytes,
        .counted_tuples = tuples};
    const std::uint32_t check = check_part(view, power);
    if ((threadIdx.x & 31) == 0) args.part_checks[page] = check;
  }
}

unsigned grid_of(std::uint64_t parts) {
  const std::uint64_t blocks = (parts + kWarps - 1) / kWarps;
  return static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

}  // namespace

cudaError_t launch_compare_checks(const CompareChecksArgs& args, cudaStream_t stream) {
  if (args.num_tasks == 0 || args.max_parts == 0) return cudaSuccess;
  const unsigned grid = grid_of(args.max_parts);
  if (!args.in_segments)
    return device::launch_after<compare_checks_kernel>(grid, kThreads, stream, args);
  // A warp has few parts of its own, and all are looked for together.
  int resident = 0;
  if (auto error = device::resident_blocks<compare_segment_checks_kernel>(kThreads, resident))
    return error;
  return device::launch_after<compare_segment_checks_kernel>(
      std::min(grid, static_cast<unsigned>(resident)), kThreads, stream, args);
}

cudaError_t launch_make_checks(const MakeChecksArgs& args, cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  return device::launch_kernel(make_checks_kernel, grid_of(args.max_parts), kThreads, stream, args);
}

}  // namespace gdelta::cuda
