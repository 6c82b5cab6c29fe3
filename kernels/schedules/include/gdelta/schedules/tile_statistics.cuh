// What a look at all tiles says of them: how many steps the warps of a static mapping would take. One
// read of the beginnings; exact, not a model of how sizes are distributed.
#pragma once

#include "gdelta/schedules/tile_sets.cuh"

namespace gdelta {

struct TileStatistics {
  static constexpr int kWidths = 6;  ///< virtual warps of 1, 2, 4, ... 32 threads
  /// Steps of all warps with such virtual warps: a warp takes as many as its largest tile needs.
  unsigned long long warp_steps[kWidths];
  unsigned long long longest;  ///< atoms of a tile
};

namespace schedules {

constexpr int kStatisticsThreads = 1024;

/// A warp looks at 32 tiles: at each, at the larger of two, ... at the largest of all.
template <class Tiles>
__global__ void __launch_bounds__(kStatisticsThreads)
    statistics_kernel(Tiles tiles, TileStatistics* statistics) {
  __shared__ TileStatistics of_block;
  if (threadIdx.x == 0) of_block = {};
  __syncthreads();  // nothing has been counted
  const unsigned id = threadIdx.x & 31;
  unsigned long long steps[TileStatistics::kWidths] = {};
  unsigned long long longest = 0;
  for (std::uint64_t first = thread_of_grid() - id; first < tiles.count;
       first += threads_of_grid()) {
    const std::uint64_t tile = first + id;
    const unsigned long long size = tile < tiles.count ? tiles.end(tile) - tiles.begin(tile) : 0;
    longest = size > longest ? size : longest;
    unsigned largest = size < ~0u ? static_cast<unsigned>(size) : ~0u;  // beyond, nobody is faster
#pragma unroll
    for (int w = TileStatistics::kWidths - 1; w >= 0; --w) {
      const unsigned together = 32u >> w;  // tiles of a warp whose virtual warps have 2^w threads
      if (together > 1) largest = max(largest, __shfl_xor_sync(~0u, largest, together / 2));
      if (id % together == 0) steps[w] += (largest >> w) + ((largest & ((1u << w) - 1)) != 0);
    }
  }
#pragma unroll
  for (int w = 0; w < TileStatistics::kWidths; ++w) {
    for (int d = 16; d > 0; d /= 2) steps[w] += __shfl_xor_sync(~0u, steps[w], d);
    if (id == 0) atomicAdd(&of_block.warp_steps[w], steps[w]);
  }
  for (int d = 16; d > 0; d /= 2) {
    const unsigned long long other = __shfl_xor_sync(~0u, longest, d);
    longest = other > longest ? other : longest;
  }
  if (id == 0) atomicMax(&of_block.longest, longest);
  __syncthreads();  // every warp has added its own
  if (threadIdx.x < TileStatistics::kWidths)
    atomicAdd(&statistics->warp_steps[threadIdx.x], of_block.warp_steps[threadIdx.x]);
  if (threadIdx.x == 0) atomicMax(&statistics->longest, of_block.longest);
}

}  // namespace schedules

/// Enqueues a look at every tile.
/// Shapes      statistics [1], device memory
/// Errors      the launch's own
/// Complexity  one read of the beginnings
/// Threads     any; work is ordered by `stream`; nothing waits for the device
template <class Tiles>
cudaError_t measure_tiles(const Tiles& tiles, TileStatistics* statistics, cudaStream_t stream) {
  constexpr std::uint64_t kBlocks =
      264;  // each adds its sums once: 1024 took .05 ms (gdelta.bench.mappings)
  if (const cudaError_t error = cudaMemsetAsync(statistics, 0, sizeof(*statistics), stream))
    return error;
  using namespace schedules;
  const std::uint64_t blocks = some_blocks(divide_up(tiles.count, kStatisticsThreads));
  return device::start_kernel(statistics_kernel<Tiles>, std::min(blocks, kBlocks),
                              kStatisticsThreads, stream, tiles, statistics);
}

}  // namespace gdelta
