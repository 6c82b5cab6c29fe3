// The first look at pages of wide tuples, a warp a strip: the widths of its groups, and from them its sizes.
#pragma once

#include "kernels/bitpack/lane_strip.cuh"
#include "kernels/bitpack/size_pages_warp.cuh"

namespace gdelta::cuda {

template <class Shape>
__device__ void size_strip(const PackArgs& args, std::uint32_t task_number, std::uint64_t unit,
                           SizePageShared<Shape>& shared) {
  using Word = typename Shape::Word;
  const PackTask& task = args.tasks[task_number];
  const int thread = threadIdx.x & 31;
  const UnitView view =
      unit_view(task, static_cast<std::uint32_t>(unit - args.unit_starts[task_number]));
  const std::uint32_t tuples =
      device::warp_uniform(min(kGroupValues * task.page_groups, task.records - view.first));
  const LaneStrip strip(task, view);
  const PackFront<Shape> front(strip);
  shared.lengths.clear(thread);
  shared.residuals.load(strip, front, view.first, thread);
  Word origins[Shape::kTuple];
#pragma unroll
  for (int lane = 0; lane < Shape::kTuple; ++lane)
    origins[lane] = zigzag_encode(read_value<Shape>(strip, 0, min(lane, strip.lanes - 1)),
                                  8 * Shape::kValueBytes);

  const EarlierRuns<Shape> earlier(strip);
  Word unequal = 0;  // of lanes of order 0
  for_each_tile<Shape>(
      strip, view.first, tuples, thread,
      [&](std::uint32_t tile, std::uint32_t left, const std::uint32_t(&words)[Shape::kRunWords]) {
        Word residuals[Shape::kTuple][Shape::kRun];
        shared.residuals.take(front, earlier, words, view.first + Shape::kTile * tile, left, thread,
                              residuals);
        const std::uint32_t group = Shape::kTileGroups * tile + thread / Shape::kGroupThreads;
#pragma unroll
        for (int lane = 0; lane < Shape::kTuple; ++lane) {
          if (lane >= strip.lanes) break;
          // Residuals of order 0 are the values.
          if (front.orders[lane] == 0)
            unequal |= unequal_bits(residuals[lane], origins[lane], left, thread);
          shared.lengths.add(shared.lengths.row(lane * view.groups + group), residuals[lane]);
        }
      });
  __syncwarp();  // all residuals are counted
  size_groups<Shape>(args, strip, view, task_number, unit, unequal != 0, shared, thread);
}

template <class Shape>
__global__ void __launch_bounds__(32 * kSizeWarps, kSizeBlocks<Shape>)
    size_pages_wide_kernel(PackArgs args, PackRange range) {
  __shared__ SizePageShared<Shape> shared[kSizeWarps];
  device::start_successor();
  device::wait_for_predecessor();
  for_each_unit<kSizeWarps>(args, range, [&](std::uint32_t task, std::uint64_t unit) {
    if (args.tasks[task].planned_raw) return;
    size_strip(args, task, unit, shared[threadIdx.x / 32]);
    __syncwarp();  // counts have been read before the next strip clears them
  });
}

}  // namespace gdelta::cuda
