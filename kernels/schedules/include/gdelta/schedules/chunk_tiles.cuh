// The tiles of a stretch of atoms, searched in shared memory.
#pragma once

#include "gdelta/schedules/tile_sets.cuh"

namespace gdelta {
namespace schedules {

/// Where tiles first_tile ... last_tile begin, counted from atom `origin` of the first; in shared
/// memory if they are not too many: empty ones take room, too. `Begin` can count the atoms between.
template <int kRoom, class Begin, class Tiles>
struct ChunkTiles {
  const Tiles& tiles;
  const Begin* begins;  ///< in shared memory; [count] if that is at most kRoom
  std::uint64_t first;
  std::uint64_t count;
  std::uint64_t origin;

  /// For all threads of a block; ends with a barrier.
  __device__ ChunkTiles(const Tiles& all, std::uint64_t first_tile, std::uint64_t last_tile,
                        std::uint64_t from_atom, Begin* room)
      : tiles(all),
        begins(room),
        first(first_tile),
        count(last_tile - first_tile + 1),
        origin(from_atom) {
    __syncthreads();  // the chunk before is done with the room
    if (count <= kRoom) {
      for (unsigned t = threadIdx.x; t < count; t += blockDim.x) room[t] = in_memory(t);
    }
    __syncthreads();  // the beginnings are there
  }
  __device__ Begin begin(std::uint64_t t) const {
    return count <= kRoom ? begins[t] : in_memory(t);
  }
  /// The last of the tiles that begins at or before `atom`.
  __device__ std::uint64_t find(std::uint64_t atom) const {
    if (count <= kRoom) return last_not_above(*this, atom, 0u, static_cast<unsigned>(count));
    return last_not_above(*this, atom, std::uint64_t{0}, count);
  }
  /// Calls f(tile, from, to) for the tiles of atoms [from, to), which count from the origin, too.
  template <class F>
  __device__ void walk(std::uint64_t from, std::uint64_t to, const F& f) const {
    if (from >= to) return;
    for (std::uint64_t t = find(from); from < to; ++t) {
      const std::uint64_t next = t + 1 < count ? begin(t + 1) : to;
      const std::uint64_t end = next < to ? next : to;
      if (from < end) f(first + t, origin + from, origin + end);
      from = end > from ? end : from;
    }
  }

 private:
  /// The first tile may begin before the stretch does.
  __device__ Begin in_memory(std::uint64_t t) const {
    const std::uint64_t place = tiles.begin(first + t);
    return static_cast<Begin>(place > origin ? place - origin : 0);
  }
};

}  // namespace schedules
}  // namespace gdelta
