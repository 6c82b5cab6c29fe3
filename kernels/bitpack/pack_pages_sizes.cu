// The first look at the values: the width of every group, and from widths the sizes of units, pages
// and sections.
#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/length_counts.cuh"
#include "kernels/bitpack/order_cost.h"
#include "kernels/bitpack/pack_pages_cuda.h"
#include "kernels/bitpack/pack_pages_warp_cuda.h"
#include "kernels/bitpack/pack_units.cuh"
#include "kernels/checksum/constant_check.cuh"
#include "kernels/device/block.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"

namespace gdelta::cuda {
namespace {

template <class Word>
__device__ void size_unit(const PackArgs& args, std::uint32_t task_number, std::uint64_t unit,
                          LengthCounts<Word>& counts) {
  const PackTask& task = args.tasks[task_number];
  const int thread = threadIdx.x & 31;
  const UnitView view =
      unit_view(task, static_cast<std::uint32_t>(unit - args.unit_starts[task_number]));
  const int value_bits = 8 * task.value_bytes;
  UnitGroups<true, Word> groups(task, view);
  for (std::uint32_t turn = 0; turn <= view.count; ++turn) {
    GroupValues<Word> group = groups.ahead;
    const std::uint32_t first = groups.first();
    const int order = groups.order;
    if (turn < view.count) groups.next();
    if (turn == 0) continue;
    for (int k = 0; k < order; ++k) group.difference();
    Word residuals[kGroupRegisters];
    group.residuals(first, groups.values.records, value_bits, residuals);
    counts.add_group(residuals, turn - 1);
  }
  UnitBytes bytes{0, 0};
  if (thread < static_cast<int>(view.count)) {
    const GroupDescriptor descriptor = choose_width(counts.row(thread), value_bits).descriptor;
    args.descriptors[unit * kUnitGroups + thread] = static_cast<std::uint16_t>(descriptor.bits);
    bytes.groups = descriptor.group_bytes();
    bytes.exceptions = descriptor.exception_bytes();
  }
  bytes.groups = device::warp_sum(bytes.groups);
  bytes.exceptions = device::warp_sum(bytes.exceptions);
  if (thread == 0) args.unit_bytes[unit] = bytes;
  if (__any_sync(device::kWholeWarp, groups.differs) && thread == 0) args.differs[task_number] = 1;
}

template <class Word>
__global__ void __launch_bounds__(kPackThreads) size_units_kernel(PackArgs args, PackRange range) {
  __shared__ LengthCounts<Word> counts[kPackWarps];
  const int warp = threadIdx.x / 32;
  counts[warp].clear();
  for_each_unit<kPackWarps>(args, range, [&](std::uint32_t task, std::uint64_t unit) {
    if (!args.tasks[task].planned_raw) size_unit(args, task, unit, counts[warp]);
    __syncwarp();  // rows have been read before the next unit fills them
  });
}

/// A section's page ends: sums over its pages, by a block.
__device__ std::uint32_t sum_pages(const PackArgs& args, std::uint32_t task_number,
                                   std::uint32_t (&warp_sums)[kPackWarps]) {
  const PackTask& task = args.tasks[task_number];
  const int thread = threadIdx.x;
  std::uint32_t carry = 0;
  for (std::uint32_t first = 0; first < task.num_pages; first += kPackThreads) {
    const std::uint32_t page = first + thread;
    std::uint32_t sum = 0;
    if (page < task.num_pages) {
      const std::uint32_t page_unit = page * task.page_units;
      sum = task.state_bytes + 2 * unit_view(task, page_unit).all_groups;
      for (std::uint32_t part = 0; part < task.page_units; ++part) {
        const UnitBytes bytes = args.unit_bytes[args.unit_starts[task_number] + page_unit + part];
        sum += bytes.groups + bytes.exceptions;
      }
    }
    sum = device::block_prefix(sum, warp_sums, carry);
    if (page < task.num_pages) args.page_ends[task.first_page + page] = sum;
  }
  return carry;
}

__global__ void __launch_bounds__(kPackThreads) choose_sections_kernel(PackArgs args) {
  __shared__ std::uint32_t warp_sums[kPackWarps];
  device::start_successor();
  device::wait_for_predecessor();
  for (std::uint32_t t = blockIdx.x; t < args.num_tasks; t += gridDim.x) {
    const PackTask& task = args.tasks[t];
    const std::uint64_t raw_bytes = task.raw_bytes();
    PackResult result{0, static_cast<std::uint32_t>(raw_bytes), SectionKind::raw};
    if (!task.planned_raw) {
      const std::uint64_t packed_bytes = sum_pages(args, t, warp_sums);
      const std::uint64_t directory_bytes =
          4 * static_cast<std::uint64_t>(task.num_pages) + task.map_bytes + task.step_bytes;
      if (args.differs[t] == 0) {
        result.kind = SectionKind::constant;
        result.section_bytes = static_cast<std::uint32_t>(task.value_bytes) * task.tuple;
      } else if (worth_keeping(packed_bytes + task.table_bytes, directory_bytes, raw_bytes)) {
        result.kind = SectionKind::pack;
        result.section_bytes = static_cast<std::uint32_t>(packed_bytes);
      }
    }
    if (threadIdx.x > 0) continue;
    args.results[t] = result;
    if (result.kind == SectionKind::constant)
      args.part_checks[task.first_page] = check_of_constant(task);
  }
}

__global__ void __launch_bounds__(kPackThreads)
    place_sections_kernel(PackArgs args, std::uint64_t* total_bytes) {
  __shared__ std::uint64_t warp_sums[kPackWarps];
  std::uint64_t carry = 0;
  for (std::uint32_t first = 0; first < args.num_tasks; first += kPackThreads) {
    const std::uint32_t t = first + threadIdx.x;
    const bool packed = t < args.num_tasks && codes_residuals(args.results[t].kind);
    const std::uint64_t mine = packed ? args.results[t].section_bytes : 0;
    const std::uint64_t end = device::block_prefix(mine, warp_sums, carry);
    if (packed) args.results[t].section_at = end - mine;
  }
  if (threadIdx.x == 0) *total_bytes = carry;
}

}  // namespace

cudaError_t launch_size_units(const PackArgs& args, const PackRange& range, cudaStream_t stream) {
  if (range.by_pages()) return launch_size_warp(args, range, stream);
  return launch_units(size_units_kernel<std::uint64_t>, size_units_kernel<std::uint32_t>, args,
                      range, stream);
}

cudaError_t launch_choose_sections(const PackArgs& args, cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  return device::launch_after<choose_sections_kernel>(pack_grid(args.num_tasks), kPackThreads,
                                                      stream, args);
}

cudaError_t launch_place_sections(const PackArgs& args, std::uint64_t* total_bytes,
                                  cudaStream_t stream) {
  return device::launch_kernel(place_sections_kernel, 1, kPackThreads, stream, args, total_bytes);
}

}  // namespace gdelta::cuda
