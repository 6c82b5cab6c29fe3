// Stands in for gdelta/schedules/child_grid.cuh: whoever starts a grid does its work before it goes on.
// Every third call finds no room.
#pragma once

#include <atomic>

#include "gdelta/schedules/tile_sets.cuh"

namespace gdelta::schedules {

template <class Work>
bool start_child(const Work& work, std::uint64_t tile, std::uint64_t begin, std::uint64_t end) {
  static std::atomic<unsigned> calls{0};
  if (calls++ % 3 == 2) return false;
  work(Piece{.tile = tile, .begin = begin, .end = end, .step = 1, .whole = false});
  return true;
}

}  // namespace gdelta::schedules
