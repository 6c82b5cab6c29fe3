// An atom a thread, which finds its tile by a search among all: perfect balance, many scattered reads.
#pragma once

#include "gdelta/schedules/tile_sets.cuh"

namespace gdelta {

struct DirectSearch {
  static constexpr int kThreads = 256;

  template <class Tiles>
  std::uint64_t blocks(const Tiles& tiles) const {
    return schedules::some_blocks(schedules::divide_up(tiles.atoms, kThreads));
  }
  template <class Tiles, class Work>
  __device__ void operator()(const Tiles& tiles, const Work& work) const {
    for (std::uint64_t atom = schedules::thread_of_grid(); atom < tiles.atoms;
         atom += schedules::threads_of_grid())
      work(Piece{
          .tile = tiles.get_tile(atom), .begin = atom, .end = atom + 1, .step = 1, .whole = false});
  }
};

}  // namespace gdelta
