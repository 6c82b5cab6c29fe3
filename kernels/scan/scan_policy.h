// The numbers that change the speed of a scan and never its result, in one place.
// bench/scan_bench.cu measures them; bench/tune_scan.cu tries other rows and prints the best.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/device/host_device.h"
#include "kernels/scan/scan_types.h"

namespace gdelta::scan {

/// One row: which kernel runs, and its shape, for a value size, orders up to `max_order`, `order *
/// tuple` up to `max_state` and at least `min_bytes` of values. The first row that fits wins.
struct Policy {
  int value_bytes;
  int max_order;
  int max_state;
  std::uint64_t min_bytes;
  Path path;
  int worker_warps;  ///< stream: warps that scan; group: warps of a block
};

/// Whether the stream kernel, which needs compute capability 9.0, knows this shape.
bool has_stream_kernel(const Shape& shape);

/// The rows that everybody but a bench uses.
std::span<const Policy> usual_policies();

/// The row for a shape on a device of compute capability 10 * major + minor.
Policy choose_policy(const Shape& shape, int compute_capability,
                     std::span<const Policy> policies = usual_policies());

/// The shape of the stream kernel for a value size and the words of a lane's state.
struct StreamShape {
  int run;  ///< values that a thread scans serially: odd, so that runs of a lane meet no bank twice
  int workers;  ///< warps of a block that scan, at most
  int depth;    ///< tiles between a summary and its use: the longer the exchange may take, the more
                ///< registers it costs
};

/// Many warps with short runs hide latency; wide states want long runs, because a thread multiplies
/// by a matrix twice a tile, and large tiles, because their exchange takes long. Workers and helpers
/// fill whole multiples of four warps. u64 of order 8 and of order 8 x tuple 2, fractions of a copy
/// (H200, 2026-11-21): {17, 8, 3} .68 and .57, {17, 12, 3} .80 and .76, {17, 12, 2} .76 and .66,
/// {25, 8, 3} .81 and .73, {33, 4, 4} .63 and .60.
constexpr StreamShape stream_shape(int value_bytes, int words) {
  switch (value_bytes) {
    case 1:
      return {132, 8, 4};
    case 2:
      return {66, 8, 4};
    case 4:
      return words <= 3 ? StreamShape{17, 16, 4} : StreamShape{33, 8, 4};
    default:
      return words <= 2   ? StreamShape{9, 16, 4}
             : words <= 4 ? StreamShape{13, 11, 4}
                          : StreamShape{17, 12, 3};
  }
}

/// The same with segments, whose states take longer to exchange and to combine. u32 of orders 2, 3, 4
/// and 8, fractions of a copy (segscan_bench, H200, 2026-11-22): as without segments .77, .66, .76 and
/// .50, with two gather warps more .69, .67, .83 and .56, so .87, .83, .83 and .56; {25, 12, 4} with
/// four warps more .77, .74, .81 and .56.
constexpr StreamShape segments_shape(int value_bytes, int words) {
  return value_bytes == 4 && words > 1 ? StreamShape{33, 8, 4} : stream_shape(value_bytes, words);
}

/// States of each level that a thread of a gather warp reads at once: many hide latency, few poll
/// less, and registers are few beside many workers.
GDELTA_HD constexpr int gather_batch(int value_bytes, int words) {
  if (value_bytes == 8) return words <= 2 ? 2 : 3;
  return words <= 3 ? 6 : 4;
}

/// Tiles whose states a block of the stream kernel keeps: a power of two above the depth.
GDELTA_HD constexpr int stream_buffers(int depth) { return depth < 4 ? 4 : 8; }

/// Runs of the group kernel for small inputs, which must start fast. Large inputs, whose exchange
/// takes long, have three times as long ones: u32 xor went from .49 to .70 of a copy.
constexpr int group_run(int value_bytes) {
  switch (value_bytes) {
    case 1:
      return 44;
    case 2:
      return 22;
    case 4:
      return 11;
    default:
      return 5;
  }
}
/// Values of a run that enter registers at once.
constexpr int group_chunk(int value_bytes) { return value_bytes == 8 ? 5 : 11; }
constexpr int kLargeGroupRuns = 3;
constexpr std::uint64_t kLargeGroupBytes = 8u << 20;

constexpr int kGroupWarps = 8;       ///< warps of a block of the group kernel
constexpr int kMaxStreamUnits = 16;  ///< a block of the stream kernel has
constexpr int kMaxGroupTiles = 16;   ///< a group of the stream kernel has
constexpr int kMaxGroups = 16;       ///< a round of the stream kernel has
/// Segments whose states have few words are exchanged without groups: every block reads all others'.
/// u32 of order 1 went from .82 to .90 of a copy, u64 from .91 to .82.
constexpr bool in_one_level(int value_bytes, int words) { return value_bytes == 4 && words <= 8; }
/// Warps of a block that gather carries, a tile at a time each.
constexpr int stream_gather_warps(bool segments, int value_bytes, int words) {
  return segments && value_bytes == 4 && words > 1 ? 4 : 2;
}
/// Those, a warp that copies and one that publishes.
constexpr int stream_helpers(bool segments, int value_bytes, int words) {
  return 2 + stream_gather_warps(segments, value_bytes, words);
}
constexpr std::uint64_t kOrderedTiles = 1024;  ///< more tiles than this are taken from a counter
constexpr int kSlotSpacing =
    16;  ///< 64-bit words: states of different blocks lie in cache lines of their own
constexpr int kMaxStreamSlots = 12;

constexpr int kWidestNarrowTuple =
    8;  ///< the group kernel shares the lanes of wider tuples among all threads

/// Words that a tile's sums take in scratch: whole 32-byte sectors.
constexpr std::uint64_t group_slot_words(std::uint64_t words) { return (words + 3) / 4 * 4; }
constexpr int kGroupTiles = 32;  ///< tiles of a group, groups of a chapter
/// Blocks of a multiprocessor that registers must allow, by 32-bit words of state. With four blocks
/// u32 xor ran at .675 of a copy, with five at .698, with six (some spills) at .706, f16 sums at
/// .653, .670, .651.
constexpr int group_blocks(int words) { return words <= 2 ? 5 : 3; }

// Inputs that stay on the chip (scan_direct.cuh, scan_resident.cuh; sm_90 and newer).
constexpr int kClusterBlocks = 8;      ///< as every device with clusters allows
constexpr int kDirectVectors = 4;      ///< granules in the registers of a thread, if they suffice
constexpr int kMoreDirectVectors = 8;  ///< else these
constexpr int kParkedVectors = 8;      ///< else these in shared memory, too
constexpr int kSingleDirectWarps = 8;  ///< one block up to here, else a cluster
constexpr int kLeastResidentWarps = 4;
constexpr int kMostResidentBlocks = 256;
constexpr int kResidentWarps = 16;  ///< values in shared memory: warps of a block
constexpr std::uint64_t kSingleSharedBytes = 8 << 10;
constexpr std::uint64_t kFewWarpsBytes = 128 << 10;  ///< up to here half of the warps

/// Narrow values unpack into more registers than there are beside many granules.
constexpr bool can_park(int value_bytes) { return value_bytes >= 4; }

/// Sizes in bytes where a path is the fastest (H200, 2026-11-21; scan_bench --only small_paths): one
/// cluster up to the first, resident blocks from there to the second.
struct OnChipRange {
  std::uint64_t cluster_to;
  std::uint64_t resident_to;
};
/// `words` are those of a lane's state. Wide states take long to exchange: one cluster exchanges them
/// fastest while it lasts, and beyond it the stream hides it better than resident blocks do.
constexpr OnChipRange on_chip_range(bool direct, int value_bytes, int words, std::uint64_t tuple) {
  constexpr std::uint64_t kKib = 1 << 10, kMib = 1 << 20;
  if (direct) return {256 * kKib, (value_bytes == 1 ? 8 : 36) * kMib};
  if (tuple > 8) return {tuple <= 16 ? 128 * kKib : 0, 0};
  const std::uint64_t state = words * tuple * (value_bytes == 8 ? 2 : 1);  // 32-bit words
  std::uint64_t cluster_to = (tuple <= 4 ? 256 : 192) * kKib;
  if (value_bytes > 1 && words >= 2) cluster_to = 384 * kKib;
  if (value_bytes > 1 && state >= 8) cluster_to = 512 * kKib;
  std::uint64_t resident_to = 0;
  if (value_bytes == 1) {
    resident_to = (words <= 2 ? 6 : 2) * kMib;
  } else if (words <= 2) {
    resident_to = (value_bytes == 2 ? 8 : 24) * kMib;
  } else if (words <= 4 && state < 24) {
    resident_to = (value_bytes == 2 ? 4 : 8) * kMib;
  }
  return {cluster_to, resident_to};
}

// Columns (scan_columns.cuh).
constexpr int kColumnThreads = 256;  ///< a block has
constexpr int kMaxStretches = 8;     ///< a tile's rows are cut into so many
constexpr int kMaxColumnGroup = 32;  ///< links of a group, groups of a chapter
/// Rows that a thread holds in registers, in a tile and on a walk. Tiles of 16 rows of u32 ran at .69
/// of a copy where 32 rows ran at .82 (stride 1000).
constexpr int column_rows(int value_bytes) { return value_bytes == 8 ? 16 : 32; }
constexpr int kWalkRows = 8;
/// Blocks of a multiprocessor that registers must allow: with one more, spills took .82 to .63.
constexpr int column_blocks(int words) { return words == 1 ? 3 : 2; }
/// As many columns as this are walked by a thread each: they keep an H200 busy.
constexpr std::uint64_t kWalkColumns = 90'000;
/// Bytes of values that a chapter spans at least: a hop from chapter to chapter takes about 2 us.
constexpr std::uint64_t kChapterBytes = 16u << 20;

constexpr int kRingRounds = 16;  ///< see scan_stream.cuh on how far blocks can drift apart

}  // namespace gdelta::scan
