// What a warp that decodes pages of up to four lanes has: tiles, registers, shared memory.
#pragma once

#include <cstdint>

#include "kernels/bitpack/group_layout.h"
#include "kernels/pages/column_task.h"
#include "kernels/pages/page_limits.h"
#include "kernels/pages/page_tile.cuh"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {

// ---- Policy: changes speed, never bytes

struct UnpackWarpPolicy {
  int warps_per_block;
  int blocks_per_sm;  // registers are kept low enough for so many
  int run_tuples;     // consecutive tuples of a thread: 8 or 16
  int patch_lanes;    // lanes whose exceptions are scattered at once: one or all
};
/// As many blocks as neither spill nor lack shared memory, and runs of 16 if they leave room for
/// more than 14 warps; docs/history/pages.md has what was tried.
constexpr UnpackWarpPolicy unpack_warp_policy(int value_bytes, int tuple) {
  if (value_bytes == 8) {
    constexpr int kBlocks[] = {10, 9, 6, 5};
    return {2, kBlocks[tuple - 1], 8, 1};
  }
  switch (tuple) {
    case 1:
      return {4, 7, 16, 1};
    case 2:
      return value_bytes >= 3 ? UnpackWarpPolicy{.warps_per_block = 4,
                                                 .blocks_per_sm = 4,
                                                 .run_tuples = 16,
                                                 .patch_lanes = 1}
                              : UnpackWarpPolicy{.warps_per_block = 4,
                                                 .blocks_per_sm = 5,
                                                 .run_tuples = 16,
                                                 .patch_lanes = 2};
    case 3:
      return {4, 5, 8, 3};
    default:
      return {2, 8, 8, 4};
  }
}

// ---- Shared memory

inline constexpr int kStagedBytes = 512;  // of exceptions: one copy of 16 bytes a thread

template <int ValueBytes, int Tuple>
struct UnpackWarpShape
    : TileShape<ValueBytes, Tuple, unpack_warp_policy(ValueBytes, Tuple).run_tuples> {
  static constexpr UnpackWarpPolicy kPolicy = unpack_warp_policy(ValueBytes, Tuple);
  static constexpr int kRunTuples = kPolicy.run_tuples;
  static constexpr int kTileTuples = 32 * kRunTuples;
  static constexpr int kGroupThreads = kGroupValues / kRunTuples;  // that unpack a group
  static constexpr int kStripGroups = kTileTuples / kGroupValues;
  static constexpr int kTileGroups = kStripGroups * Tuple;
  static constexpr int kFetchThreads = 32 / kTileGroups;  // that fetch a group
  static constexpr int kPatchLanes = kPolicy.patch_lanes;
  static constexpr int kPatchGroups = kStripGroups * kPatchLanes;
  static constexpr int kPatchThreads = 32 / kPatchGroups;  // that scatter a group's exceptions
  // Units of 16 bytes between the groups of a tile: full width and the misalignment, and some more
  // so that the groups of a strip, which lie `Tuple` of them apart, start at banks spread evenly.
  static constexpr int group_units() {
    int units = 8 * ValueBytes + 1;
    while (Tuple * units % 8 != 8 / kStripGroups) ++units;
    return units;
  }
  static constexpr int kGroupUnits = group_units();
  // Three zero words behind the groups stand for the fields of a group of width 0.
  static constexpr int kZeroWord = 4 * kGroupUnits * kTileGroups;
  static constexpr int kBitWords = kZeroWord + 4;
};

/// States and descriptors of a page with their misalignment, in whole copies of 16 bytes.
template <int ValueBytes, int Tuple>
inline constexpr int kPageHeadBytes = (Tuple * 8 * ValueBytes + 2 * kWarpPathGroups + 15 + 15) /
                                      16 * 16;

/// Pages that a warp has fetched something of, and tiles: those that are decoded and those behind them. If it does not keep
/// their groups, they wait where the page's sink says.
struct WarpStages {
  static constexpr int kPages = 3, kTiles = 2;
  static constexpr bool kKeepsGroups = true;
};

/// What exceptions add to a strip, each value where its thread finds it; else zero.
template <int ValueBytes, int Tuple, class Stages = WarpStages>
struct WarpPatches : Stages {
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  static constexpr bool kKeepsPatches = true;
  alignas(16) WordOf<ValueBytes> patch[Shape::kPatchLanes][Shape::kTileTuples];
};

/// `Room` has patches, too; if it does not keep them, others use their place between tiles.
template <int ValueBytes, int Tuple, class Room = WarpPatches<ValueBytes, Tuple>>
struct UnpackWarpShared {
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  static constexpr bool kKeepsPatches = Room::kKeepsPatches;
  Room room;
  alignas(16) unsigned char tasks[Room::kPages][sizeof(ColumnTask)];
  std::uint32_t ends[Room::kPages]
                    [4];  // words of the directory that hold a page's end and the one before
  alignas(16) unsigned char head[Room::kPages][kPageHeadBytes<ValueBytes, Tuple>];
  // Groups of a tile and of the one behind it, if they are kept; the decoded tile takes their place.
  static constexpr bool kKeepsGroups = Room::kKeepsGroups;
  alignas(
      16) std::uint32_t bits[kKeepsGroups ? Room::kTiles : 1][kKeepsGroups ? Shape::kBitWords : 4];
  alignas(16) unsigned char exceptions[kStagedBytes];  // of the page, if they are no more
  static_assert(32 * Shape::kRunBytes <= 4 * Shape::kZeroWord);
};

}  // namespace gdelta::cuda
