// A tile to `Width` neighbouring threads of a warp, which take its atoms in turn: neighbours read
// neighbouring atoms, and threads of a virtual warp have as many. No balance between them.
#pragma once

#include "gdelta/schedules/tile_sets.cuh"

namespace gdelta {

template <int Width>
struct VirtualWarps {
  static_assert(Width >= 1 && Width <= 32 && (Width & (Width - 1)) == 0);
  static constexpr int kThreads = 256;

  template <class Tiles>
  std::uint64_t blocks(const Tiles& tiles) const {
    return schedules::some_blocks(schedules::divide_up(tiles.count, kThreads / Width));
  }
  template <class Tiles, class Work>
  __device__ void operator()(const Tiles& tiles, const Work& work) const {
    const std::uint64_t first = schedules::thread_of_grid();
    for (std::uint64_t tile = first / Width; tile < tiles.count;
         tile += schedules::threads_of_grid() / Width) {
      const std::uint64_t begin = tiles.begin(tile) + first % Width;
      const std::uint64_t end = tiles.end(tile);
      if (begin < end)
        work(Piece{.tile = tile, .begin = begin, .end = end, .step = Width, .whole = Width == 1});
    }
  }
};

}  // namespace gdelta
