// Arguments of the scan kernels and the launchers that each translation unit defines for its
// algebras.
#pragma once

#include <cuda_runtime.h>

#include "kernels/scan/scan_cuda.h"
#include "kernels/scan/scan_policy.h"
#include "kernels/scan/tile/scan_geometry.h"

namespace gdelta::scan {

/// What every kernel gets. `index` runs over values in scan order; a backward scan sees the array
/// reversed.
struct Job {
  const void* in;
  void* out;
  std::uint64_t count;
  Geometry geometry;
  int order;
  bool exclusive;
  bool backward;
};

/// A group launch: tiles in groups of kGroupTiles, groups in chapters of as many.
struct GroupPlan {
  Job job;
  std::uint64_t tiles;
  unsigned groups;
  unsigned chapters;
  int run;            ///< values that a thread scans serially
  int rounds;         ///< orders beyond what the state holds: the tile is scanned again and again
  bool early_start;   ///< the kernel before this one only clears the scratch
  unsigned* counter;  ///< nullptr if blocks are numbered by the hardware
  unsigned long long* sums;  ///< nullptr if there is one tile
  unsigned long long* totals;
  unsigned long long* prefixes;
};

/// Shared memory of the group kernel: what helpers of wide tuples gather, states of units, values.
constexpr std::size_t group_state_bytes(const Geometry& geometry, int state_bytes) {
  const std::size_t partials = geometry.tuple > kWidestNarrowTuple ? 32 * kGroupWarps : 0;
  return ((partials + geometry.units * geometry.tuple) * state_bytes + 15) & ~std::size_t{15};
}
constexpr std::size_t group_shared_bytes(const Geometry& geometry, int state_bytes,
                                         int value_bytes) {
  return group_state_bytes(geometry, state_bytes) + geometry.tile_values * value_bytes + 32;
}

/// A launch along columns (scan_columns.cuh): column c holds values c, c + pitch, c + 2 pitch, ...
struct ColumnPlan {
  Job job;
  std::uint64_t pitch;             ///< columns: the stride, or all values if there are fewer
  std::uint64_t rows;              ///< the last one may be cut
  std::uint64_t last_row_columns;  ///< columns that reach the last row
  bool walk;                       ///< a thread a column; the members below are for tiles
  std::uint64_t blocks;
  unsigned strips;     ///< each has `width` columns
  int width;           ///< columns of a tile
  int stretches;       ///< a tile's rows are cut into so many
  unsigned links;      ///< tiles on top of each other
  int group_links;     ///< links of a group
  int chapter_groups;  ///< groups of a chapter
  unsigned groups;
  unsigned chapters;
  int rounds;
  bool early_start;
  unsigned* counter;         ///< nullptr if blocks are numbered by the hardware
  unsigned long long* sums;  ///< nullptr if there is one link
  unsigned long long* totals;
  unsigned long long* prefixes;
};

/// A stream launch: `blocks` persistent blocks, groups of `group_tiles` tiles, blocks a multiple of
/// it.
struct StreamPlan {
  Job job;
  std::uint64_t tiles;
  int blocks;
  int group_tiles;
  int slots;
  int slot_bytes;
  int shared_bytes;
  int head_bytes;  ///< of a slot, at its end: the heads of segments
  unsigned long long* sums;
  unsigned long long* totals;
};

/// Zeroes `bytes` (a multiple of 256) and lets a scan behind it start early.
cudaError_t launch_clear(void* scratch, std::size_t bytes, cudaStream_t stream);

// One per translation unit; each returns cudaErrorNotSupported for what is not its own.
cudaError_t launch_group_sum(const Shape&, const GroupPlan&, cudaStream_t);
cudaError_t launch_group_bits(const Shape&, const GroupPlan&, cudaStream_t);
cudaError_t launch_group_rounds(const Shape&, const GroupPlan&, cudaStream_t);
cudaError_t launch_columns_sum(const Shape&, const ColumnPlan&, cudaStream_t);
cudaError_t launch_columns_bits(const Shape&, const ColumnPlan&, cudaStream_t);
cudaError_t launch_columns_rounds(const Shape&, const ColumnPlan&, cudaStream_t);
cudaError_t launch_stream_u32(const Shape&, const StreamPlan&, cudaStream_t);
cudaError_t launch_stream_u64(const Shape&, const StreamPlan&, cudaStream_t);
cudaError_t launch_stream_narrow(const Shape&, const StreamPlan&, cudaStream_t);
cudaError_t launch_stream_float(const Shape&, const StreamPlan&, cudaStream_t);
cudaError_t launch_stream_bits(const Shape&, const StreamPlan&, cudaStream_t);

}  // namespace gdelta::scan
