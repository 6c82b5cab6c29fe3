// Arguments of the scan kernels and the launchers that each translation unit defines for its algebras.
#pragma once

#include <cuda_runtime.h>

#include "kernels/scan/scan_cuda.h"
#include "kernels/scan/scan_geometry.h"
#include "kernels/scan/scan_policy.h"

namespace gdelta::scan {

/// Matrices (first columns) for every distance inside a tile and between tiles.
template <class Word, int Q>
struct Tables {
  Word step[5][Q];    ///< 2^d runs
  Word run[32][Q];    ///< g runs
  Word unit[16][Q];   ///< u units
  Word tile[33][Q];   ///< p tiles
  Word group[17][Q];  ///< p groups of tiles (stream kernel)
  Word round[Q];      ///< as many tiles as there are blocks (stream kernel)
};

/// What every kernel gets. `index` runs over values in scan order; a backward scan sees the array reversed.
struct Job {
  const void* in;
  void* out;
  std::uint64_t count;
  Geometry geometry;
  int order;
  bool exclusive;
  bool backward;
};

/// A group launch: tiles in chains, one chain for contiguous tuples, one for each 32 columns of a larger stride.
struct GroupPlan {
  Job job;
  std::uint64_t tiles;
  std::uint64_t chains;
  std::uint64_t pitch;  ///< stride in values where columns are walked, 0 for contiguous tuples
  int rounds;           ///< orders beyond what the state holds: the tile is scanned again and again
  int group_tiles;
  unsigned long long* counter;  ///< nullptr for a single tile
  unsigned long long* sums;  ///< nullptr where every chain is one tile
  unsigned long long* prefixes;
};

/// A stream launch: `blocks` persistent blocks, groups of `group_tiles` tiles, blocks a multiple of it.
struct StreamPlan {
  Job job;
  std::uint64_t tiles;
  int blocks;
  int group_tiles;
  int slots;
  int slot_bytes;
  int exchange_warps;
  int shared_bytes;
  unsigned long long* sums;
  unsigned long long* totals;
};

template <class Algebra, int Q, class Word = typename Algebra::Word>
void fill_tables(Tables<Word, Q>& tables, const Geometry& geometry, int run, std::uint64_t rows_tile, int group_tiles,
                 int blocks) {
  if constexpr (Q > 1) {
    for (int d = 0; d < 5; ++d) Algebra::template coefficients<Q>(std::uint64_t(run) << d, tables.step[d]);
    Algebra::template powers<Q>(run, geometry.groups, tables.run);
    Algebra::template powers<Q>(std::uint64_t(geometry.groups) * run, geometry.units, tables.unit);
    Algebra::template powers<Q>(rows_tile, 33, tables.tile);
    if (blocks > 0) {
      Algebra::template powers<Q>(rows_tile * group_tiles, blocks / group_tiles, tables.group);
      Algebra::template coefficients<Q>(rows_tile * blocks, tables.round);
    }
  }
}

// One per translation unit; each returns cudaErrorNotSupported for what is not its own.
cudaError_t launch_group_sum(const Shape&, const GroupPlan&, cudaStream_t);
cudaError_t launch_group_bits(const Shape&, const GroupPlan&, cudaStream_t);
cudaError_t launch_group_rounds(const Shape&, const GroupPlan&, cudaStream_t);
cudaError_t launch_stream_u32(const Shape&, const StreamPlan&, cudaStream_t);
cudaError_t launch_stream_u64(const Shape&, const StreamPlan&, cudaStream_t);
cudaError_t launch_stream_narrow(const Shape&, const StreamPlan&, cudaStream_t);
cudaError_t launch_stream_other(const Shape&, const StreamPlan&, cudaStream_t);

}  // namespace gdelta::scan
