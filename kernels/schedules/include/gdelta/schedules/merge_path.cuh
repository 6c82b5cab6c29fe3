// Merge path (Merrill, Garland): the list of the tiles' ends is merged with the atoms; every thread
// takes as many steps of that path, whatever tiles look like, finds where it begins by a search
// along a diagonal, and gets the rest of a tile, complete tiles, and the beginning of one.
#pragma once

#include "gdelta/schedules/tile_sets.cuh"

namespace gdelta {

struct MergePath {
  static constexpr int kThreads = 128;
  static constexpr int kSteps = 8;  ///< tiles and atoms of a thread

  template <class Tiles>
  std::uint64_t blocks(const Tiles& tiles) const {
    return schedules::some_blocks(
        schedules::divide_up(tiles.count + tiles.atoms, kThreads * kSteps));
  }
  template <class Tiles, class Work>
  __device__ void operator()(const Tiles& tiles, const Work& work) const {
    const std::uint64_t length = tiles.count + tiles.atoms;
    for (std::uint64_t from = schedules::thread_of_grid() * kSteps; from < length;
         from += schedules::threads_of_grid() * kSteps) {
      const std::uint64_t to = from + kSteps < length ? from + kSteps : length;
      std::uint64_t tile = tiles_before(tiles, from);
      std::uint64_t atom = from - tile;
      for (std::uint64_t step = from; step < to;) {
        const std::uint64_t end = tile < tiles.count ? tiles.end(tile) : atom;
        const std::uint64_t stop = end - atom < to - step ? end : atom + (to - step);
        const bool complete = stop == end && step + (end - atom) < to;  // its end is a step of ours
        const bool whole = complete && atom == tiles.begin(tile);
        if (atom < stop || whole)
          work(Piece{.tile = tile, .begin = atom, .end = stop, .step = 1, .whole = whole});
        step += stop - atom;
        atom = stop;
        if (complete) ++tile, ++step;
      }
    }
  }

 private:
  /// Tiles whose end the path has passed after `steps` steps.
  template <class Tiles>
  __device__ static std::uint64_t tiles_before(const Tiles& tiles, std::uint64_t steps) {
    std::uint64_t low = steps > tiles.atoms ? steps - tiles.atoms : 0;
    std::uint64_t high = steps < tiles.count ? steps : tiles.count;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (tiles.end(middle) + middle < steps) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

}  // namespace gdelta
