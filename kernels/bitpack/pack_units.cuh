// What both looks at the values share: which warp takes which unit.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/bitpack/pack_pages_cuda.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {

inline constexpr int kPackThreads = 256;
inline constexpr int kPackWarps = kPackThreads / 32;

/// Calls visit(task, unit) for every unit of the range that is this warp's, in blocks of kWarps.
template <int kWarps, class Visit>
__device__ void for_each_unit(const PackArgs& args, const PackRange& range, Visit visit) {
  const std::uint64_t end = args.unit_starts[range.end_task];
  const std::uint64_t step = gridDim.x * static_cast<std::uint64_t>(kWarps);
  for (std::uint64_t unit = args.unit_starts[range.first_task] +
                            blockIdx.x * static_cast<std::uint64_t>(kWarps) + device::warp_number();
       unit < end; unit += step) {
    visit(device::warp_uniform(
              device::find_start(args.unit_starts, range.first_task, range.end_task, unit)),
          unit);
  }
}

/// The same for the units of stepped tasks.
template <int kWarps, class Visit>
__device__ void for_each_stepped_unit(const PackArgs& args, const PackRange& range, Visit visit) {
  const std::uint32_t end = *args.stepped.count * range.even_units;
  for (std::uint32_t at = blockIdx.x * kWarps + device::warp_number(); at < end;
       at += gridDim.x * kWarps) {
    const std::uint32_t task = device::warp_uniform(args.stepped.numbers[at / range.even_units]);
    const std::uint64_t unit = args.unit_starts[task] + at % range.even_units;
    if (unit < args.unit_starts[task + 1]) visit(task, unit);
  }
}

/// Those that a kernel of this shape takes: of all tasks if there are strides, or strips, else of stepped ones, or of others.
template <class Shape, int kWarps, class Visit>
__device__ void for_each_unit_of(const PackArgs& args, const PackRange& range, Visit visit) {
  if constexpr (Shape::kSteps && !Shape::kStrides) {
    for_each_stepped_unit<kWarps>(args, range, visit);
  } else if constexpr (Shape::kStrides || Shape::kStrip || Shape::kTuple == 1) {
    for_each_unit<kWarps>(args, range, visit);
  } else {
    if (args.stepped.count != nullptr && *args.stepped.count == args.num_tasks) return;
    for_each_unit<kWarps>(args, range, [&](std::uint32_t task, std::uint64_t unit) {
      if (!device::warp_uniform(args.tasks[task].has_steps())) visit(task, unit);
    });
  }
}

/// A grid for so many blocks, which take turns if there are more.
inline unsigned pack_grid(std::uint64_t blocks) {
  constexpr std::uint64_t kMostBlocks = 1 << 16;
  return static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

/// A warp for every unit of the range, in `most_blocks` at most, which take turns if there are more.
template <auto kKernel, int kWarps>
cudaError_t launch_pages(const PackArgs& args, const PackRange& range, std::uint64_t most_blocks,
                         cudaStream_t stream) {
  if (range.num_units == 0) return cudaSuccess;
  const unsigned grid = pack_grid(std::min((range.num_units + kWarps - 1) / kWarps, most_blocks));
  return device::launch_after<kKernel>(grid, 32 * kWarps, stream, args, range);
}

/// A warp for every unit of the range, by the kernel for values of 8 bytes or that for others.
inline cudaError_t launch_units(void (*wide)(PackArgs, PackRange),
                                void (*narrow)(PackArgs, PackRange), const PackArgs& args,
                                const PackRange& range, cudaStream_t stream) {
  if (range.num_units == 0) return cudaSuccess;
  const unsigned grid = pack_grid((range.num_units + kPackWarps - 1) / kPackWarps);
  return device::launch_kernel(range.wide ? wide : narrow, grid, kPackThreads, stream, args, range);
}

}  // namespace gdelta::cuda
