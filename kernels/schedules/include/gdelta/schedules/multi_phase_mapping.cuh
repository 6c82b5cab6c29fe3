// Multi-phase mapping (Busato, Bombieri): two-phase search with a hybrid partition and an iterated
// coalesced expansion.
//
// Partition: a search that looks at lower bounds only, a read a step; or by interpolation, if tiles
// are of nearly one size. Expansion: a thread finds the tiles of `Iterations` runs of `Atoms` consecutive
// atoms, keeps them in registers and hands them over in its warp's part of shared memory, so that
// neighbouring threads handle neighbouring atoms. Warps wait for nobody else between; the lock-step that
// the paper relies on is a __syncwarp here.
#pragma once

#include "gdelta/schedules/two_phase_search.cuh"

namespace gdelta {
namespace schedules {

/// Interpolation, and halves once that has not helped for some steps: a search among n tiles of any
/// sizes takes log n more reads at most.
struct FindByInterpolation {
  static constexpr unsigned kSeekers = 1;
  static constexpr int kSteps = 8;

  template <class Tiles>
  __device__ std::uint64_t operator()(const Tiles& tiles, std::uint64_t atom) const {
    std::uint64_t low = 0, high = tiles.count;  // begin(low) <= atom < begin(high)
    std::uint64_t low_begin = 0, high_begin = tiles.atoms;
    for (int step = 0; step < kSteps && high - low > 1; ++step) {
      const double part =
          static_cast<double>(atom - low_begin) / static_cast<double>(high_begin - low_begin);
      std::uint64_t guess =
          low + static_cast<std::uint64_t>(static_cast<double>(high - low) * part);
      guess = guess <= low ? low + 1 : guess >= high ? high - 1 : guess;
      const std::uint64_t begin = tiles.begin(guess);
      if (begin <= atom) {
        low = guess;
        low_begin = begin;
      } else {
        high = guess;
        high_begin = begin;
      }
    }
    return tiles.last_not_above(atom, low, high);
  }
};

}  // namespace schedules

template <int Atoms = 8, int Iterations = 2>
struct MultiPhaseMapping {
  static constexpr int kThreads = 128;
  static constexpr int kRound = kThreads * Atoms;  ///< atoms that a block hands over at once
  static constexpr int kChunk = kRound * Iterations;
  bool interpolates = false;
  const std::uint64_t* first_tiles = nullptr;  ///< of the plan

  /// When interpolation pays, by the average size of tiles and its deviation. The paper has 9 and 8; on
  /// an H200 rows that deviate by 7.5 take 13 % longer, by .5 or less 2 to 4 % shorter
  /// (bench/results/h200/mappings.csv).
  static constexpr bool is_regular(double average, double deviation) {
    return average <= 9 && deviation <= 1;
  }
  template <class Tiles>
  std::size_t scratch_bytes(const Tiles& tiles) const {
    return schedules::partition_bytes(tiles, kChunk);
  }
  /// Enqueues the partition; the schedule may run behind it.
  template <class Tiles>
  cudaError_t plan(const Tiles& tiles, void* scratch, cudaStream_t stream) {
    auto* const first = static_cast<std::uint64_t*>(scratch);
    first_tiles = first;
    if constexpr (requires { &Tiles::last_not_above; }) {
      if (interpolates)
        return schedules::partition(tiles, schedules::FindByInterpolation{}, kChunk, first, stream);
    }
    return schedules::partition(tiles, schedules::FindTogether{}, kChunk, first, stream);
  }
  template <class Tiles>
  std::uint64_t blocks(const Tiles& tiles) const {
    return schedules::some_blocks(schedules::divide_up(tiles.atoms, kChunk));
  }
  template <class Tiles, class Work>
  __device__ void operator()(const Tiles& tiles, const Work& work) const {
    static_assert(Atoms % 4 == 0);
    __shared__ unsigned room[kChunk + 1];
    __shared__ uint4 handed[kRound / 4];  // tiles of atoms, counted from the chunk's first
    const unsigned id = threadIdx.x & 31;
    const unsigned warp_atoms = (threadIdx.x - id) * Atoms;  // before the warp's, in a round
    for (std::uint64_t chunk = blockIdx.x; chunk * kChunk < tiles.atoms; chunk += gridDim.x) {
      const std::uint64_t origin = chunk * kChunk;
      const std::uint64_t rest = tiles.atoms - origin;
      const schedules::ChunkTiles<kChunk + 1, unsigned, Tiles> own(
          tiles, first_tiles[chunk], first_tiles[chunk + 1], origin, room);
      uint4 found[Iterations][Atoms / 4];
#pragma unroll
      for (int i = 0; i < Iterations; ++i) {
        const unsigned from = i * kRound + threadIdx.x * Atoms;
        if (from < rest) find_run(own, from, found[i]);
      }
#pragma unroll
      for (int i = 0; i < Iterations; ++i) {
        __syncwarp();  // the warp has read what it handed over before
#pragma unroll
        for (int k = 0; k < Atoms / 4; ++k) handed[threadIdx.x * (Atoms / 4) + k] = found[i][k];
        __syncwarp();  // tiles of the warp's atoms are there
#pragma unroll
        for (int k = 0; k < Atoms; ++k) {
          const unsigned place = warp_atoms + k * 32 + id;
          const unsigned own_tile = reinterpret_cast<const unsigned*>(handed)[place];
          const std::uint64_t atom = origin + i * kRound + place;
          if (i * kRound + place < rest)
            work(Piece{.tile = own.first + own_tile,
                       .begin = atom,
                       .end = atom + 1,
                       .step = 1,
                       .whole = false});
        }
      }
    }
  }

 private:
  /// The tiles of `Atoms` atoms that follow each other.
  template <class Chunk>
  __device__ static void find_run(const Chunk& own, unsigned from, uint4* found) {
    auto tile = static_cast<unsigned>(own.find(from));
    const auto tile_of = [&](unsigned atom) {
      while (tile + 1 < own.count && own.begin(tile + 1) <= atom) ++tile;
      return tile;
    };
#pragma unroll
    for (int k = 0; k < Atoms / 4; ++k) {
      found[k].x = tile_of(from + 4 * k);
      found[k].y = tile_of(from + 4 * k + 1);
      found[k].z = tile_of(from + 4 * k + 2);
      found[k].w = tile_of(from + 4 * k + 3);
    }
  }
};

}  // namespace gdelta
