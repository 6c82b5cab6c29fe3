// The first look at pages of wide tuples, a warp a strip: the widths of its groups, and from them its sizes.
#pragma once

#include "kernels/bitpack/lane_strip.cuh"
#include "kernels/bitpack/size_pages_warp.cuh"

namespace gdelta::cuda {

template <class Shape>
__global__ void __launch_bounds__(32 * kSizeWarps, kSizeBlocks<Shape>)
    size_pages_wide_kernel(PackArgs args, PackRange range) {
  __shared__ SizePageShared<Shape> shared[kSizeWarps];
  device::start_successor();
  device::wait_for_predecessor();
  for_each_unit<kSizeWarps>(args, range, [&](std::uint32_t task, std::uint64_t unit) {
    if (args.tasks[task].planned_raw) return;
    size_page_unit(args, task, unit, shared[threadIdx.x / 32]);
    __syncwarp();  // counts have been read before the next strip clears them
  });
}

}  // namespace gdelta::cuda
