// Dynamic virtual warps with dynamic parallelism (Busato, Bombieri): virtual warps whose width is
// chosen when the tiles are known; a tile that is large for one becomes a grid of its own, which its
// first thread starts. Needs relocatable device code (child_grid.cuh).
#pragma once

#include "gdelta/schedules/child_grid.cuh"

namespace gdelta {

struct DynamicVirtualWarps {
  static constexpr int kThreads = 256;
  unsigned width = 8;                  ///< threads of a virtual warp: a power of two up to 32
  std::uint64_t child_from = 1 << 14;  ///< atoms of a tile that becomes a grid

  /// The width in proportion to the average size, as the paper has it: a thread gets two atoms or more.
  template <class Tiles>
  static unsigned width_for(const Tiles& tiles) {
    unsigned width = 2;
    while (width < 32 && 2 * width * tiles.count < tiles.atoms) width *= 2;
    return width;
  }
  template <class Tiles>
  std::uint64_t blocks(const Tiles& tiles) const {
    return schedules::some_blocks(schedules::divide_up(tiles.count, kThreads / width));
  }
  template <class Tiles, class Work>
  __device__ void operator()(const Tiles& tiles, const Work& work) const {
    const unsigned id = threadIdx.x % width;
    const std::uint64_t step = schedules::threads_of_grid() / width;
    const unsigned in_warp = threadIdx.x % 32 / width;
    for (std::uint64_t tile = schedules::thread_of_grid() / width; tile - in_warp < tiles.count;
         tile += step) {
      const bool exists = tile < tiles.count;
      const std::uint64_t begin = exists ? tiles.begin(tile) : 0;
      const std::uint64_t end = exists ? tiles.end(tile) : 0;
      bool started = false;
      if (id == 0 && end - begin >= child_from)
        started = schedules::start_child(work, tile, begin, end);
      started = __shfl_sync(~0u, started, 0, static_cast<int>(width));  // whose it is knows it
      if (!started && begin + id < end)
        work(Piece{
            .tile = tile, .begin = begin + id, .end = end, .step = width, .whole = width == 1});
    }
  }
};

}  // namespace gdelta
