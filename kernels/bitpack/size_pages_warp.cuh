// The first look at pages that a warp takes: the check of each, the widths of its groups, and from them
// its sizes.
#pragma once

#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/pack_units.cuh"
#include "kernels/bitpack/page_runs.cuh"
#include "kernels/bitpack/run_residuals.cuh"
#include "kernels/checksum/page_check.cuh"
#include "kernels/deltas/lane_residuals.cuh"
#include "kernels/device/highest_bit.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {

inline constexpr int kSizeWarps = 4;

/// Blocks that a multiprocessor should have room for, where registers allow for more than they come to by themselves.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
template <class Shape>
inline constexpr int kSizeBlocks = 0;  // multiprocessors hold too few threads for that
#else
template <class Shape>
inline constexpr int kSizeBlocks = Shape::kRegisters <= 16                     ? 12
                                   : Shape::kRegisters <= 24                   ? 10
                                   : Shape::kStrides&& Shape::kRegisters <= 32 ? 8
                                                                               : 0;
#endif

/// How many residuals of each group have how many bits; so many groups of a lane are counted side by side.
template <class Word, int kTogether>
struct PageLengths {
  // Odd, so that threads with a group each never meet in a bank.
  static constexpr int kRow = 8 * sizeof(Word) + 1;
  alignas(16) std::uint32_t counts[kUnitGroups * kRow];

  /// Groups that are counted side by side lie a quarter or half the banks apart.
  __device__ std::uint32_t* row(std::uint32_t group) {
    // Counted in bytes, so that an address is a row's and a length's sum, not a product for each length.
    const std::uint32_t row = group % kTogether * (kUnitGroups / kTogether) + group / kTogether;
    return reinterpret_cast<std::uint32_t*>(
        reinterpret_cast<unsigned char*>(counts) +
        device::forget(static_cast<int>(row * kRow * sizeof *counts)));
  }
  __device__ void clear(int thread) {
    static_assert(kUnitGroups * kRow % 4 == 0);
    constexpr int kVectors = kUnitGroups * kRow / 4;
#pragma unroll
    for (int i = 0; i < kVectors; i += 32) {
      if (i + 32 <= kVectors || i + thread < kVectors)
        reinterpret_cast<uint4*>(counts)[i + thread] = make_uint4(0, 0, 0, 0);
    }
    __syncwarp();  // counts are zero before anyone adds to them
  }
  /// Adds a run of zigzagged residuals. Zeros are counted too, of groups that do not exist as well:
  /// no choice of a width asks for them.
  template <int kRun>
  __device__ static void add(std::uint32_t* row, const Word (&run)[kRun]) {
#pragma unroll
    for (const Word residual : run) atomicAdd(row + 1 + device::highest_bit(residual), 1u);
  }
};

/// Zero if all values of a run that are there equal `origin`.
template <class Word, int kRun>
__device__ inline Word unequal_bits(const Word (&run)[kRun], Word origin, std::uint32_t left,
                                    int thread) {
  Word unequal = 0;
#pragma unroll
  for (int i = 0; i < kRun; ++i) {
    if (static_cast<std::uint32_t>(kRun * thread + i) < left) unequal |= run[i] ^ origin;
  }
  return unequal;
}

template <class Shape>
struct SizePageShared {
  PageLengths<typename Shape::Word, Shape::kTileGroups> lengths;
  RunResiduals<Shape> residuals;
};

/// The widths and sizes of a unit's groups, a page's or a strip's, and of a page its check.
template <class Shape>
__device__ void size_page_unit(const PackArgs& args, std::uint32_t task_number, std::uint64_t unit,
                               SizePageShared<Shape>& shared) {
  using Word = typename Shape::Word;
  const PackTask& column = args.tasks[task_number];
  const int thread = threadIdx.x & 31;
  const UnitView view = unit_view<!Shape::kStrip>(
      column, static_cast<std::uint32_t>(unit - args.unit_starts[task_number]));
  const std::uint32_t tuples =
      device::warp_uniform(min(kGroupValues * column.page_groups, column.records - view.first));
  const typename Shape::Task& task = Shape::task_of(column, view);
  const PackFront<Shape> front(task);
  const bool packs = device::warp_uniform<int>(column.planned_raw) == 0;
  if (Shape::kStrip && !packs) return;  // nor is there a check to be made
  shared.lengths.clear(thread);
  if (packs) shared.residuals.load(task, front, view.first, thread);
  Word origins[Shape::kTuple];
#pragma unroll
  for (int lane = 0; lane < Shape::kTuple; ++lane)
    if (Shape::has_lane(task, lane))
      origins[lane] = zigzag_encode(read_value<Shape>(task, 0, lane), 8 * Shape::kValueBytes);

  const EarlierRuns<Shape> earlier(task);
  const FirstTuple<Shape> first_tuple(task);
  [[maybe_unused]] PageCheck<Shape::kRunWords> check;
  Word unequal = 0;  // of lanes of order 0, or less strides
  [[maybe_unused]] const std::uint32_t tiles = for_each_tile<Shape>(
      task, view.first, tuples, thread,
      [&](std::uint32_t tile, std::uint32_t left, const std::uint32_t(&words)[Shape::kRunWords]) {
        if constexpr (!Shape::kStrip) add_run<Shape>(check, words, left, thread);
        if (!packs) return;
        Word residuals[Shape::kTuple][Shape::kRun];
        shared.residuals.take(front, earlier, words, view.first + Shape::kTile * tile, left, thread,
                              residuals);
        if constexpr (Shape::kStrides) unequal |= first_tuple.unequal(words, left, thread);
        const std::uint32_t group = Shape::kTileGroups * tile + thread / Shape::kGroupThreads;
#pragma unroll
        for (int lane = 0; lane < Shape::kTuple; ++lane) {
          if (!Shape::has_lane(task, lane)) break;
          // Residuals of order 0 are the values.
          if (!Shape::kStrides && front.orders[lane] == 0)
            unequal |= unequal_bits(residuals[lane], origins[lane], left, thread);
          shared.lengths.add(shared.lengths.row(lane * view.groups + group), residuals[lane]);
        }
      });
  if constexpr (!Shape::kStrip) {
    const std::uint32_t value = check.value(tiles, tuples, thread);
    if (thread == 0) args.part_checks[column.first_page + view.page] = value;
  }
  if (!packs) return;
  __syncwarp();  // all residuals are counted
  UnitBytes bytes{0, 0};
  bool differs = unequal != 0;
  if (thread < static_cast<int>(view.count)) {
    const GroupDescriptor descriptor =
        choose_width(shared.lengths.row(thread), 8 * Shape::kValueBytes).descriptor;
    args.descriptors[unit * kUnitGroups + thread] = static_cast<std::uint16_t>(descriptor.bits);
    bytes.groups = descriptor.group_bytes();
    bytes.exceptions = descriptor.exception_bytes();
    // Of a constant all differences are zero, from the first tuple on.
    if constexpr (!Shape::kStrides)
      differs |= descriptor.bits != 0 && task.order_of(thread / view.groups) > 0;
  }
  bytes.groups = device::warp_sum(bytes.groups);
  bytes.exceptions = device::warp_sum(bytes.exceptions);
  if (thread == 0) args.unit_bytes[unit] = bytes;
  if (__any_sync(device::kWholeWarp, differs) && thread == 0) args.differs[task_number] = 1;
}

template <class Shape>
__global__ void __launch_bounds__(32 * kSizeWarps, kSizeBlocks<Shape>)
    size_pages_warp_kernel(PackArgs args, PackRange range) {
  __shared__ SizePageShared<Shape> shared[kSizeWarps];
  device::start_successor();
  device::wait_for_predecessor();
  for_each_unit_of<Shape, kSizeWarps>(args, range, [&](std::uint32_t task, std::uint64_t unit) {
    size_page_unit(args, task, unit, shared[threadIdx.x / 32]);
    __syncwarp();  // counts have been read before the next page clears them
  });
}

}  // namespace gdelta::cuda
