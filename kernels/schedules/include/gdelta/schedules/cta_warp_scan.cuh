// CTA+Warp+Scan (Merrill, Garland, Grimshaw): a block takes as many tiles as it has threads. Large ones
// are handled by the block, one at a time; then smaller ones by warps; what is left in turn, by a
// prefix sum. Threads offer their tile in shared memory and whichever wins is taken, so the order is
// any.
#pragma once

#include "gdelta/schedules/group_mapped.cuh"

namespace gdelta {

struct CtaWarpScan {
  static constexpr int kThreads = 256;
  std::uint64_t block_from = 2 * kThreads;  ///< atoms of a tile that the block handles
  std::uint64_t warp_from = 64;             ///< atoms of a tile that a warp handles

  template <class Tiles>
  std::uint64_t blocks(const Tiles& tiles) const {
    return schedules::some_blocks(schedules::divide_up(tiles.count, kThreads));
  }
  template <class Tiles, class Work>
  __device__ void operator()(const Tiles& tiles, const Work& work) const {
    __shared__ std::uint64_t ends[kThreads];
    __shared__ unsigned long long winner;
    const int id = threadIdx.x & 31;
    for (std::uint64_t first = std::uint64_t{blockIdx.x} * kThreads; first < tiles.count;
         first += schedules::threads_of_grid()) {
      const std::uint64_t own = first + threadIdx.x;
      const auto size_of = [&](std::uint64_t tile) { return tiles.end(tile) - tiles.begin(tile); };
      std::uint64_t mine = own < tiles.count ? size_of(own) : 0;
      while (__syncthreads_or(mine >= block_from)) {
        if (threadIdx.x == 0) winner = kThreads;
        __syncthreads();  // nobody has won
        if (mine >= block_from) atomicMin(&winner, 0ull + threadIdx.x);
        __syncthreads();  // the winner is known
        const std::uint64_t tile = first + winner;
        if (tile == own) mine = 0;
        const std::uint64_t begin = tiles.begin(tile) + threadIdx.x;
        if (begin < tiles.end(tile))
          work(Piece{.tile = tile,
                     .begin = begin,
                     .end = tiles.end(tile),
                     .step = kThreads,
                     .whole = false});
      }
      while (const unsigned waiting = __ballot_sync(~0u, mine >= warp_from)) {
        const int chosen = 31 - __clz(static_cast<int>(waiting));
        const std::uint64_t tile = first + (threadIdx.x & ~31u) + static_cast<unsigned>(chosen);
        if (id == chosen) mine = 0;
        const std::uint64_t begin = tiles.begin(tile) + static_cast<unsigned>(id);
        if (begin < tiles.end(tile))
          work(Piece{
              .tile = tile, .begin = begin, .end = tiles.end(tile), .step = 32, .whole = false});
        __syncwarp();
      }
      schedules::sum_sizes<kThreads>(ends, mine);
      schedules::take_in_turn<kThreads>(ends, tiles, first, work);
    }
  }
};

}  // namespace gdelta
