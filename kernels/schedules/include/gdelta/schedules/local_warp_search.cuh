// Local warp search: a warp holds the ends of 32 tiles in registers; every thread finds there, by
// exchanges in its warp, the tile of the atom that it takes in turn. Tiles follow each other, so the
// warp's atoms do. Balanced inside a warp.
#pragma once

#include "gdelta/schedules/tile_sets.cuh"

namespace gdelta {

struct LocalWarpSearch {
  static constexpr int kThreads = 256;

  template <class Tiles>
  std::uint64_t blocks(const Tiles& tiles) const {
    return schedules::some_blocks(schedules::divide_up(tiles.count, kThreads));
  }
  template <class Tiles, class Work>
  __device__ void operator()(const Tiles& tiles, const Work& work) const {
    const unsigned id = threadIdx.x & 31;
    for (std::uint64_t first = schedules::thread_of_grid() - id; first < tiles.count;
         first += schedules::threads_of_grid()) {
      const std::uint64_t end = first + id < tiles.count ? tiles.end(first + id) : tiles.atoms;
      const std::uint64_t last = __shfl_sync(~0u, end, 31);
      for (std::uint64_t from = tiles.begin(first); from < last; from += 32) {
        const std::uint64_t atom = from + id;
        const unsigned tile = find(end, atom);
        if (atom < last)
          work(Piece{
              .tile = first + tile, .begin = atom, .end = atom + 1, .step = 1, .whole = false});
      }
    }
  }

 private:
  /// How many of the ends that the warp holds are not above `atom`, 31 at most.
  __device__ static unsigned find(std::uint64_t end, std::uint64_t atom) {
    int tile = 0;
#pragma unroll
    for (int half = 16; half > 0; half /= 2)
      if (__shfl_sync(~0u, end, tile + half - 1) <= atom) tile += half;
    return static_cast<unsigned>(tile);
  }
};

}  // namespace gdelta
