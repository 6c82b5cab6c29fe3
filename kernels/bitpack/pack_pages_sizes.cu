// The first look at the values: the width of every group, and from widths the sizes of units, pages
// and sections.
#include "formats/gdelta/chunk_head.h"
#include "formats/gdelta/encoder_rules.h"
#include "kernels/bitpack/length_counts.cuh"
#include "kernels/bitpack/pack_pages_cuda.h"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr std::uint64_t kMostBlocks = 1 << 16;

template <class Value>
__device__ Value warp_sum(Value value) {
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_xor_sync(kWholeWarp, value, distance);
  return value;
}

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
    const format::GroupDescriptor descriptor = format::choose_width(counts.row(thread), value_bits);
    args.descriptors[unit * kUnitGroups + thread] = static_cast<std::uint16_t>(descriptor.bits);
    bytes.groups = descriptor.group_bytes();
    bytes.exceptions = descriptor.exception_bytes();
  }
  bytes.groups = warp_sum(bytes.groups);
  bytes.exceptions = warp_sum(bytes.exceptions);
  if (thread == 0) args.unit_bytes[unit] = bytes;
  if (__any_sync(kWholeWarp, groups.differs) && thread == 0) args.differs[task_number] = 1;
}

template <class Word>
__global__ void __launch_bounds__(kThreads) size_units_kernel(PackArgs args, PackRange range) {
  __shared__ LengthCounts<Word> counts[kWarps];
  const int warp = threadIdx.x / 32;
  counts[warp].clear();
  const std::uint64_t end = args.unit_starts[range.end_task];
  const std::uint64_t step = gridDim.x * static_cast<std::uint64_t>(kWarps);
  for (std::uint64_t unit = args.unit_starts[range.first_task] +
                            blockIdx.x * static_cast<std::uint64_t>(kWarps) + warp;
       unit < end; unit += step) {
    const std::uint32_t task = find_start(args.unit_starts, range.first_task, range.end_task, unit);
    if (!args.tasks[task].planned_raw) size_unit(args, task, unit, counts[warp]);
    __syncwarp();  // rows have been read before the next unit fills them
  }
}

/// A section's page ends: sums over its pages, by a block.
__device__ std::uint32_t sum_pages(const PackArgs& args, std::uint32_t task_number,
                                   std::uint32_t* warp_sums) {
  const PackTask& task = args.tasks[task_number];
  const int thread = threadIdx.x, lane = thread & 31, warp = thread / 32;
  std::uint32_t carry = 0;
  for (std::uint32_t first = 0; first < task.num_pages; first += kThreads) {
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
    for (int distance = 1; distance < 32; distance *= 2) {
      const std::uint32_t before = __shfl_up_sync(kWholeWarp, sum, distance);
      if (lane >= distance) sum += before;
    }
    if (lane == 31) warp_sums[warp] = sum;
    __syncthreads();  // the sums of all warps are there
    std::uint32_t all = carry;
    sum += carry;
    for (int w = 0; w < kWarps; ++w) {
      if (w < warp) sum += warp_sums[w];
      all += warp_sums[w];
    }
    if (page < task.num_pages) args.page_ends[task.first_page + page] = sum;
    carry = all;
    __syncthreads();  // and have been read
  }
  return carry;
}

__global__ void __launch_bounds__(kThreads) choose_sections_kernel(PackArgs args) {
  __shared__ std::uint32_t warp_sums[kWarps];
  for (std::uint32_t t = blockIdx.x; t < args.num_tasks; t += gridDim.x) {
    const PackTask& task = args.tasks[t];
    const std::uint64_t raw_bytes = task.raw_bytes();
    PackResult result{0, static_cast<std::uint32_t>(raw_bytes), SectionKind::raw};
    if (!task.planned_raw) {
      const std::uint64_t packed_bytes = sum_pages(args, t, warp_sums);
      const std::uint64_t directory_bytes = 4 * static_cast<std::uint64_t>(task.num_pages);
      if (args.differs[t] == 0) {
        result.kind = SectionKind::constant;
        result.section_bytes = static_cast<std::uint32_t>(task.value_bytes) * task.tuple;
      } else if (worth_keeping(packed_bytes, directory_bytes, raw_bytes)) {
        result.kind = SectionKind::pack;
        result.section_bytes = static_cast<std::uint32_t>(packed_bytes);
      }
    }
    if (threadIdx.x == 0) args.results[t] = result;
  }
}

__global__ void __launch_bounds__(kThreads)
    place_sections_kernel(PackArgs args, std::uint64_t* total_bytes) {
  __shared__ std::uint64_t warp_sums[kWarps];
  const int thread = threadIdx.x, lane = thread & 31, warp = thread / 32;
  std::uint64_t carry = 0;
  for (std::uint32_t first = 0; first < args.num_tasks; first += kThreads) {
    const std::uint32_t t = first + thread;
    const bool packed = t < args.num_tasks && args.results[t].kind == SectionKind::pack;
    const std::uint64_t mine = packed ? args.results[t].section_bytes : 0;
    std::uint64_t sum = mine;
    for (int distance = 1; distance < 32; distance *= 2) {
      const std::uint64_t before = __shfl_up_sync(kWholeWarp, sum, distance);
      if (lane >= distance) sum += before;
    }
    if (lane == 31) warp_sums[warp] = sum;
    __syncthreads();  // the sums of all warps are there
    std::uint64_t all = carry;
    sum += carry;
    for (int w = 0; w < kWarps; ++w) {
      if (w < warp) sum += warp_sums[w];
      all += warp_sums[w];
    }
    if (packed) args.results[t].section_at = sum - mine;
    carry = all;
    __syncthreads();  // and have been read
  }
  if (thread == 0) *total_bytes = carry;
}

}  // namespace

cudaError_t launch_size_units(const PackArgs& args, const PackRange& range, cudaStream_t stream) {
  if (range.num_units == 0) return cudaSuccess;
  const std::uint64_t blocks = (range.num_units + kWarps - 1) / kWarps;
  const auto grid = static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
  if (range.wide) {
    size_units_kernel<std::uint64_t><<<grid, kThreads, 0, stream>>>(args, range);
  } else {
    size_units_kernel<std::uint32_t><<<grid, kThreads, 0, stream>>>(args, range);
  }
  return cudaGetLastError();
}

cudaError_t launch_choose_sections(const PackArgs& args, cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  const auto grid =
      static_cast<unsigned>(args.num_tasks < kMostBlocks ? args.num_tasks : kMostBlocks);
  choose_sections_kernel<<<grid, kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_place_sections(const PackArgs& args, std::uint64_t* total_bytes,
                                  cudaStream_t stream) {
  place_sections_kernel<<<1, kThreads, 0, stream>>>(args, total_bytes);
  return cudaGetLastError();
}

}  // namespace gdelta::cuda
