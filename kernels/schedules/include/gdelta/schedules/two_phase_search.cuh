// Two-phase search (Davidson et al., Green et al., Baxter): atoms are cut into chunks of equal size;
// some threads a chunk find, among all tiles, the one where it begins (the plan). Then a block takes
// a chunk, holds the beginnings of its tiles in shared memory, and every thread finds there where
// its own `Atoms` consecutive atoms begin.
#pragma once

#include "gdelta/schedules/chunk_tiles.cuh"

namespace gdelta {
namespace schedules {

/// The tile where every chunk begins, and where the last one ends. `Find`: how so many neighbouring
/// threads of a warp search a tile.
template <class Tiles, class Find>
__global__ void __launch_bounds__(256)
    partition_kernel(Tiles tiles, Find find, std::uint64_t chunk, std::uint64_t chunks,
                     std::uint64_t* first_tiles) {
  const unsigned in_warp = threadIdx.x % 32 / Find::kSeekers;
  const std::uint64_t step = threads_of_grid() / Find::kSeekers;
  for (std::uint64_t c = thread_of_grid() / Find::kSeekers; c - in_warp <= chunks; c += step) {
    const std::uint64_t atom = c < chunks ? c * chunk : tiles.atoms - 1;
    const std::uint64_t tile = find(tiles, atom);
    if (c <= chunks && threadIdx.x % Find::kSeekers == 0) first_tiles[c] = tile;
  }
}

/// Every seeker reads one of eight places: a ninth of the tiles is left in the time of a read. All
/// threads of a warp call it.
struct FindTogether {
  static constexpr unsigned kSeekers = 8;

  template <class Tiles>
  __device__ std::uint64_t operator()(const Tiles& tiles, std::uint64_t atom) const {
    if constexpr (requires { &Tiles::last_not_above; }) {
      return narrow(tiles, atom);
    } else {
      return tiles.get_tile(atom);
    }
  }

 private:
  template <class Tiles>
  __device__ static std::uint64_t narrow(const Tiles& tiles, std::uint64_t atom) {
    const unsigned seeker = threadIdx.x % kSeekers;
    const unsigned group = threadIdx.x % 32 - seeker;
    std::uint64_t low = 0, high = tiles.count;  // begin(low) <= atom < begin(high)
    while (__any_sync(~0u, high - low > 1)) {
      const std::uint64_t size = high - low;
      const auto place = [&](unsigned part) { return low + size * part / (kSeekers + 1); };
      const unsigned votes = __ballot_sync(~0u, tiles.begin(place(seeker + 1)) <= atom);
      const auto passed = static_cast<unsigned>(__popc(votes >> group & ((1u << kSeekers) - 1)));
      if (passed < kSeekers) high = place(passed + 1);
      low = place(passed);
    }
    return low;
  }
};

/// Room for the tiles where chunks of so many atoms begin.  Units: bytes
template <class Tiles>
std::size_t partition_bytes(const Tiles& tiles, std::uint64_t chunk) {
  return (divide_up(tiles.atoms, chunk) + 1) * sizeof(std::uint64_t);
}
/// Enqueues the search for them.
template <class Tiles, class Find>
cudaError_t partition(const Tiles& tiles, Find find, std::uint64_t chunk,
                      std::uint64_t* first_tiles, cudaStream_t stream) {
  if (tiles.atoms == 0) return cudaSuccess;
  const std::uint64_t chunks = divide_up(tiles.atoms, chunk);
  return device::start_kernel(partition_kernel<Tiles, Find>,
                              some_blocks(divide_up((chunks + 1) * Find::kSeekers, 256)), 256,
                              stream, tiles, find, chunk, chunks, first_tiles);
}

}  // namespace schedules

template <int Atoms = 8>
struct TwoPhaseSearch {
  static constexpr int kThreads = 128;
  static constexpr int kChunk = kThreads * Atoms;
  const std::uint64_t* first_tiles = nullptr;  ///< of the plan

  template <class Tiles>
  std::size_t scratch_bytes(const Tiles& tiles) const {
    return schedules::partition_bytes(tiles, kChunk);
  }
  /// Enqueues the partition; the schedule may run behind it.
  template <class Tiles>
  cudaError_t plan(const Tiles& tiles, void* scratch, cudaStream_t stream) {
    auto* const first = static_cast<std::uint64_t*>(scratch);
    first_tiles = first;
    return schedules::partition(tiles, schedules::FindTogether{}, kChunk, first, stream);
  }
  template <class Tiles>
  std::uint64_t blocks(const Tiles& tiles) const {
    return schedules::some_blocks(schedules::divide_up(tiles.atoms, kChunk));
  }
  template <class Tiles, class Work>
  __device__ void operator()(const Tiles& tiles, const Work& work) const {
    __shared__ unsigned room[kChunk + 1];
    for (std::uint64_t chunk = blockIdx.x; chunk * kChunk < tiles.atoms; chunk += gridDim.x) {
      const std::uint64_t origin = chunk * kChunk;
      const schedules::ChunkTiles<kChunk + 1, unsigned, Tiles> own(
          tiles, first_tiles[chunk], first_tiles[chunk + 1], origin, room);
      const std::uint64_t from = threadIdx.x * Atoms;
      const std::uint64_t rest = tiles.atoms - origin;
      own.walk(from, from + Atoms < rest ? from + Atoms : rest,
               [&](std::uint64_t tile, std::uint64_t begin, std::uint64_t end) {
                 work(Piece{.tile = tile, .begin = begin, .end = end, .step = 1, .whole = false});
               });
    }
  }
};

}  // namespace gdelta
