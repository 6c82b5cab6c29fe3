// Two-phase search (Davidson et al., Green et al., Baxter): atoms are cut into chunks of equal size; a
// thread a chunk finds, among all tiles, the one where it begins (the plan). Then a block takes a
// chunk, holds the beginnings of its tiles in shared memory, and every thread finds there where its
// own `Atoms` consecutive atoms begin.
#pragma once

#include "gdelta/schedules/tile_sets.cuh"

namespace gdelta {
namespace schedules {

/// The tile where every chunk begins, and where the last one ends. `Find`: how a tile is searched.
template <class Tiles, class Find>
__global__ void __launch_bounds__(256)
    partition_kernel(Tiles tiles, Find find, std::uint64_t chunk, std::uint64_t chunks,
                     std::uint64_t* first_tiles) {
  for (std::uint64_t c = thread_of_grid(); c <= chunks; c += threads_of_grid()) {
    const std::uint64_t atom = c * chunk;
    first_tiles[c] = find(tiles, atom < tiles.atoms ? atom : tiles.atoms - 1);
  }
}

struct FindByHalves {
  template <class Tiles>
  __device__ std::uint64_t operator()(const Tiles& tiles, std::uint64_t atom) const {
    return tiles.get_tile(atom);
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
  return start(partition_kernel<Tiles, Find>, some_blocks(divide_up(chunks + 1, 256)), 256, stream,
               tiles, find, chunk, chunks, first_tiles);
}

/// The tiles of a chunk, in shared memory if they are not too many: empty ones take room, too.
template <int kRoom, class Tiles>
struct ChunkTiles {
  const Tiles& tiles;
  const std::uint64_t* begins;  ///< in shared memory; [count] if that is at most kRoom
  std::uint64_t first;
  std::uint64_t count;

  /// For all threads of a block; ends with a barrier.
  __device__ ChunkTiles(const Tiles& all, std::uint64_t first_tile, std::uint64_t last_tile,
                        std::uint64_t* room)
      : tiles(all), begins(room), first(first_tile), count(last_tile - first_tile + 1) {
    __syncthreads();  // the chunk before is done with the room
    if (count <= kRoom) {
      for (std::uint64_t t = threadIdx.x; t < count; t += blockDim.x)
        room[t] = tiles.begin(first + t);
    }
    __syncthreads();  // the beginnings are there
  }
  __device__ std::uint64_t begin(std::uint64_t t) const {
    return count <= kRoom ? begins[t] : tiles.begin(first + t);
  }
  /// The last of the tiles that begins at or before `atom`.
  __device__ std::uint64_t find(std::uint64_t atom) const {
    return last_not_above(*this, atom, 0, count);
  }
  /// Calls f(tile, from, to) for the tiles of atoms [from, to).
  template <class F>
  __device__ void walk(std::uint64_t from, std::uint64_t to, const F& f) const {
    if (from >= to) return;
    for (std::uint64_t t = find(from); from < to; ++t) {
      const std::uint64_t next = t + 1 < count ? begin(t + 1) : to;
      const std::uint64_t end = next < to ? next : to;
      if (from < end) f(first + t, from, end);
      from = end > from ? end : from;
    }
  }
};

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
    return schedules::partition(tiles, schedules::FindByHalves{}, kChunk, first, stream);
  }
  template <class Tiles>
  std::uint64_t blocks(const Tiles& tiles) const {
    return schedules::some_blocks(schedules::divide_up(tiles.atoms, kChunk));
  }
  template <class Tiles, class Work>
  __device__ void operator()(const Tiles& tiles, const Work& work) const {
    __shared__ std::uint64_t room[kChunk + 1];
    for (std::uint64_t chunk = blockIdx.x; chunk * kChunk < tiles.atoms; chunk += gridDim.x) {
      const schedules::ChunkTiles<kChunk + 1, Tiles> own(tiles, first_tiles[chunk],
                                                         first_tiles[chunk + 1], room);
      const std::uint64_t from = chunk * kChunk + threadIdx.x * Atoms;
      const std::uint64_t to = from + Atoms < tiles.atoms ? from + Atoms : tiles.atoms;
      own.walk(from, to, [&](std::uint64_t tile, std::uint64_t begin, std::uint64_t end) {
        work(Piece{tile, begin, end, 1, false});
      });
    }
  }
};

}  // namespace gdelta
