// A tile a thread (work-item to thread): nothing to find, no balance. Good for short tiles of equal
// length.
#pragma once

#include "gdelta/schedules/tile_sets.cuh"

namespace gdelta {

struct ThreadMapped {
  static constexpr int kThreads = 256;

  template <class Tiles>
  std::uint64_t blocks(const Tiles& tiles) const {
    return schedules::some_blocks(schedules::divide_up(tiles.count, kThreads));
  }
  template <class Tiles, class Work>
  __device__ void operator()(const Tiles& tiles, const Work& work) const {
    for (std::uint64_t tile = schedules::thread_of_grid(); tile < tiles.count;
         tile += schedules::threads_of_grid())
      work(Piece{.tile = tile,
                 .begin = tiles.begin(tile),
                 .end = tiles.end(tile),
                 .step = 1,
                 .whole = true});
  }
};

}  // namespace gdelta
