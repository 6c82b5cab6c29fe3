// Block search (Davidson et al.): a block holds the beginnings of as many tiles as shared memory
// takes, cuts their atoms into as many equal parts as it has threads, and every thread finds where
// its part begins. Balanced inside a block; neighbours read atoms far from each other.
#pragma once

#include "gdelta/schedules/chunk_tiles.cuh"

namespace gdelta {

struct BlockSearch {
  static constexpr int kThreads = 128;
  static constexpr int kTiles = 1024;  ///< of a block

  template <class Tiles>
  std::uint64_t blocks(const Tiles& tiles) const {
    return schedules::some_blocks(schedules::divide_up(tiles.count, kTiles));
  }
  template <class Tiles, class Work>
  __device__ void operator()(const Tiles& tiles, const Work& work) const {
    __shared__ std::uint64_t room[kTiles];
    for (std::uint64_t first = std::uint64_t{blockIdx.x} * kTiles; first < tiles.count;
         first += std::uint64_t{gridDim.x} * kTiles) {
      const std::uint64_t rest = tiles.count - first;
      const std::uint64_t last = first + (rest < kTiles ? rest : kTiles) - 1;
      const std::uint64_t origin = tiles.begin(first);
      const std::uint64_t atoms = tiles.end(last) - origin;
      const schedules::ChunkTiles<kTiles, std::uint64_t, Tiles> own(tiles, first, last, origin,
                                                                    room);
      const std::uint64_t part = atoms / kThreads + (atoms % kThreads != 0);
      const std::uint64_t from = threadIdx.x * part;
      own.walk(from, from + part < atoms ? from + part : atoms,
               [&](std::uint64_t tile, std::uint64_t begin, std::uint64_t end) {
                 work(Piece{.tile = tile, .begin = begin, .end = end, .step = 1, .whole = false});
               });
    }
  }
};

}  // namespace gdelta
