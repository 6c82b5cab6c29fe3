// Work in the words of the load-balancing abstraction of Osama, Porumbescu and Owens: atoms are units
// of work of equal cost, tiles are sets of them, a tile set is all. For nvcc; nothing to link.
//
// A schedule says which thread handles which atoms of which tile, and knows nothing of the work: it
// is a small type with
//
//   static constexpr int kThreads                  of a block
//   std::uint64_t blocks(tiles) const              on the host: as many as it likes to have
//   void operator()(tiles, work) const             on the device: calls work(piece)
//
// and, if it needs one, a plan: scratch_bytes(tiles) and plan(tiles, scratch, stream), enqueued
// before. A kernel is written once, as `work`, and takes any schedule (launch_schedule). A schedule is
// one file. Work may be called in any order, by threads of a warp that have gone different ways, so it
// synchronises nobody.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gdelta/start_kernel.cuh"

namespace gdelta {

/// Atoms begin, begin + step, ... below `end`, all of one tile.
struct Piece {
  std::uint64_t tile;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t step;
  bool whole;  ///< these are all atoms of the tile; if not, other threads have pieces of it
};

namespace schedules {

/// The last tile of [low, high) that begins at or before `atom`; that of `low` does. A read a step.
template <class Begins, class Index>
__device__ Index last_not_above(const Begins& begins, std::uint64_t atom, Index low, Index high) {
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    if (begins.begin(middle) <= atom) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace schedules

/// Tiles by offsets: rows of CSR, columns of CSC. Tile t has atoms offsets[t] ... offsets[t + 1] - 1,
/// perhaps none. Offsets rise from 0: whoever got them from outside has checked that.
template <class Offset>
struct CsrTiles {
  const Offset* offsets;  ///< [count + 1]
  std::uint64_t count;    ///< tiles
  std::uint64_t atoms;

  __device__ std::uint64_t begin(std::uint64_t tile) const { return offsets[tile]; }
  __device__ std::uint64_t end(std::uint64_t tile) const { return offsets[tile + 1]; }
  /// One read a step: only the lower bound is looked at.
  __device__ std::uint64_t get_tile(std::uint64_t atom) const {
    return last_not_above(atom, 0, count);
  }
  __device__ std::uint64_t last_not_above(std::uint64_t atom, std::uint64_t low,
                                          std::uint64_t high) const {
    return schedules::last_not_above(*this, atom, low, high);
  }
};

/// Tiles by a tile for each atom, which rise: COO, ordered by rows.
template <class Index>
struct CooTiles {
  const Index* tile_of_atom;  ///< [atoms]
  std::uint64_t count;        ///< tiles
  std::uint64_t atoms;

  __device__ std::uint64_t begin(std::uint64_t tile) const {
    std::uint64_t low = 0, high = atoms;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (tile_of_atom[middle] < tile) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  __device__ std::uint64_t end(std::uint64_t tile) const { return begin(tile + 1); }
  __device__ std::uint64_t get_tile(std::uint64_t atom) const { return tile_of_atom[atom]; }
};

namespace schedules {

constexpr std::uint64_t kMostBlocks = 1 << 20;  ///< threads stride over what is left

inline std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }
inline std::uint64_t some_blocks(std::uint64_t blocks) {
  return std::min(std::max<std::uint64_t>(blocks, 1), kMostBlocks);
}

__device__ inline std::uint64_t thread_of_grid() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline std::uint64_t threads_of_grid() { return std::uint64_t{gridDim.x} * blockDim.x; }

/// The first of `count` rising ends that lies above `value`.
template <class End>
__device__ int first_above(const End* ends, int count, std::uint64_t value) {
  int low = 0;
  while (low < count) {
    const int middle = (low + count) / 2;
    if (ends[middle] <= value) {
      low = middle + 1;
    } else {
      count = middle;
    }
  }
  return low;
}

template <class Schedule, class Tiles, class Work>
__global__ void __launch_bounds__(Schedule::kThreads)
    schedule_kernel(Schedule schedule, Tiles tiles, Work work) {
  schedule(tiles, work);
}

}  // namespace schedules

/// Enqueues `work(piece)` for pieces that are every atom once. Tiles without atoms may come as whole
/// pieces, or not at all. Schedule, tiles and work go to the kernel as copies; what they point to (offsets, arrays, a
/// plan's scratch) is device memory, and stays until the kernel is done.
/// Errors      the launch's own
/// Threads     any; work is ordered by `stream`; nothing waits for the device
template <class Schedule, class Tiles, class Work>
cudaError_t launch_schedule(const Schedule& schedule, const Tiles& tiles, const Work& work,
                            cudaStream_t stream) {
  return device::start_kernel(schedules::schedule_kernel<Schedule, Tiles, Work>,
                              schedule.blocks(tiles), Schedule::kThreads, stream, schedule, tiles,
                              work);
}

}  // namespace gdelta
