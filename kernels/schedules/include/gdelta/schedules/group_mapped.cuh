// Gives a group as many tiles as it has threads, whose threads take the atoms of all of them in turn: a
// prefix sum of the tiles' sizes says which tile an atom belongs to. Balanced inside a group. A group
// is any power of two of threads up to a block: WarpMapped, BlockMapped.
#pragma once

#include "gdelta/schedules/tile_sets.cuh"

namespace gdelta {
namespace schedules {

/// Sums of `mine` over the threads of a group up to this one, in shared memory. Groups wider than a
/// warp are summed by the block at one time.
template <int Width>
__device__ void sum_sizes(std::uint64_t* ends, std::uint64_t mine) {
  const auto meet = [] {
    if constexpr (Width <= 32) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  };
  const int place = threadIdx.x % Width;
  meet();  // whoever read the sums of the tiles before has done so
  ends[threadIdx.x] = mine;
  for (int distance = 1; distance < Width; distance *= 2) {
    meet();  // written by all
    const std::uint64_t earlier = place >= distance ? ends[threadIdx.x - distance] : 0;
    meet();  // and read
    ends[threadIdx.x] += earlier;
  }
  meet();  // the sums are there
}

/// The atoms of a group's tiles, in turn: those of tile first_tile + t end at ends[t], counted
/// through the group.
template <int Width, class Tiles, class Work>
__device__ void take_in_turn(const std::uint64_t* ends, const Tiles& tiles,
                             std::uint64_t first_tile, const Work& work) {
  for (std::uint64_t i = threadIdx.x % Width; i < ends[Width - 1]; i += Width) {
    const int t = first_above(ends, Width, i);
    const std::uint64_t tile = first_tile + static_cast<unsigned>(t);
    const std::uint64_t atom = tiles.begin(tile) + (t == 0 ? i : i - ends[t - 1]);
    work(Piece{.tile = tile, .begin = atom, .end = atom + 1, .step = 1, .whole = false});
  }
}

}  // namespace schedules

template <int Width>
struct GroupMapped {
  static constexpr int kThreads = 256;
  static_assert(Width >= 1 && Width <= kThreads && (Width & (Width - 1)) == 0);

  template <class Tiles>
  std::uint64_t blocks(const Tiles& tiles) const {
    return schedules::some_blocks(schedules::divide_up(tiles.count, kThreads));
  }
  template <class Tiles, class Work>
  __device__ void operator()(const Tiles& tiles, const Work& work) const {
    __shared__ std::uint64_t ends[kThreads];
    const int group = threadIdx.x / Width * Width;
    for (std::uint64_t first = std::uint64_t{blockIdx.x} * kThreads; first < tiles.count;
         first += schedules::threads_of_grid()) {
      const std::uint64_t tile = first + threadIdx.x;
      schedules::sum_sizes<Width>(ends,
                                  tile < tiles.count ? tiles.end(tile) - tiles.begin(tile) : 0);
      schedules::take_in_turn<Width>(ends + group, tiles, first + group, work);
    }
  }
};

using WarpMapped = GroupMapped<32>;
using BlockMapped = GroupMapped<GroupMapped<32>::kThreads>;

}  // namespace gdelta
