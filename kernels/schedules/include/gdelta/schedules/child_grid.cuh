// Grids that a kernel starts (dynamic parallelism): a child for one tile, compiled for the work. Needs
// relocatable device code: nvcc -rdc=true, and cudadevrt to link.
#pragma once

#include "gdelta/schedules/tile_sets.cuh"

#if defined(__CUDACC__) && !defined(__CUDACC_RDC__)
#error "a kernel that starts grids wants nvcc -rdc=true"
#endif

namespace gdelta {
namespace schedules {

constexpr int kChildThreads = 256;
constexpr std::uint64_t kChildAtoms = 8;  ///< of a thread, or more

template <class Work>
__global__ void __launch_bounds__(kChildThreads)
    child_kernel(Work work, std::uint64_t tile, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t own = begin + thread_of_grid();
  if (own < end)
    work(Piece{.tile = tile, .begin = own, .end = end, .step = threads_of_grid(), .whole = false});
}

/// Starts a grid for all atoms of a tile, and waits for nobody: the grid that calls is not done
/// before its children are. False if there is no room for one more.
template <class Work>
__device__ bool start_child(const Work& work, std::uint64_t tile, std::uint64_t begin,
                            std::uint64_t end) {
  const std::uint64_t blocks = (end - begin) / (kChildThreads * kChildAtoms) + 1;
  const auto some = static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
  child_kernel<Work><<<some, kChildThreads, 0, cudaStreamFireAndForget>>>(work, tile, begin, end);
  return cudaGetLastError() == cudaSuccess;
}

}  // namespace schedules
}  // namespace gdelta
