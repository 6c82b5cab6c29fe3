// The numbers that change the speed of a scan and never its result, in one place.
// bench/scan_bench.cu measures them; gdelta-tune-scan tries others and writes a table that
// `load_policies` reads at run time.
#pragma once

#include <cstdint>

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

/// The row for a shape on a device of compute capability 10 * major + minor.
Policy choose_policy(const Shape& shape, int compute_capability);

/// Replaces the built-in rows by those of a table (lines of six numbers, `#` starts a comment).
/// False if `text` is no such table; then nothing changes. Not to be called while another thread
/// scans.
bool load_policies(const char* text);

/// Values that a thread scans serially: an odd number of banks, so that the runs of one lane are
/// free of bank conflicts. Many warps with short runs hide latency; `words` of state that no longer
/// fit the registers of so many want few.
constexpr int stream_run(int value_bytes, int words) {
  switch (value_bytes) {
    case 1:
      return 132;
    case 2:
      return 66;
    case 4:
      return words <= 3 ? 17 : 33;
    default:
      return words <= 2 ? 9 : 17;
  }
}

/// Warps that scan in a block of the stream kernel, at most.
constexpr int stream_workers(int value_bytes, int words) {
  return (value_bytes == 4 && words <= 3) || (value_bytes == 8 && words <= 2) ? 16 : 8;
}

/// Tiles between a summary and its use: the deeper, the longer the exchange may take, the more
/// registers it costs.
constexpr int stream_depth(int word_bytes, int words) { return word_bytes * words <= 32 ? 4 : 3; }
constexpr int stream_buffers(int depth) {
  return depth < 4 ? 4 : 8;
}  ///< a power of two above the depth

/// Shorter runs for a kernel that must start fast; some tuples meet two-way conflicts.
constexpr int group_run(int value_bytes) {
  switch (value_bytes) {
    case 1:
      return 44;
    case 2:
      return 22;
    case 4:
      return 17;
    default:
      return 9;
  }
}

constexpr int kGroupWarps = 8;                 ///< warps of a block of the group kernel
constexpr int kMaxStreamUnits = 16;            ///< and their units
constexpr int kStreamHelpers = 4;              ///< and warps that copy and exchange carries
constexpr std::uint64_t kOrderedTiles = 1024;  ///< more tiles than this are taken from a counter
constexpr int kSlotSpacing =
    16;  ///< 64-bit words: states of different blocks lie in cache lines of their own
constexpr int kMinStreamSlots =
    5;  ///< tiles in shared memory: 4 between load and store, 1 on its way
constexpr int kMaxStreamSlots = 12;

constexpr int kWidestNarrowTuple =
    8;  ///< the group kernel gives a lane of wider tuples a thread, not a warp

/// Sums that a thread of the group kernel reads at once; groups of narrow tuples have 32 times as
/// many tiles.
constexpr int group_batch(int words) { return words == 1 ? 4 : 2; }
/// Words that a tile's sums take in scratch: whole 32-byte sectors.
constexpr std::uint64_t group_slot_words(std::uint64_t words) { return (words + 3) / 4 * 4; }
constexpr int group_tiles(int words, int lanes) {
  return lanes > kWidestNarrowTuple ? 32 : 32 * group_batch(words);
}

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

/// Sizes in bytes where a path is the fastest (H200, 2026-11-21). A wide tuple's exchange is many
/// states a block.
struct OnChipRange {
  std::uint64_t cluster_to;
  std::uint64_t resident_from;
  std::uint64_t resident_to;
};
constexpr OnChipRange on_chip_range(bool direct, int words, std::uint64_t tuple) {
  if (direct) return {256 << 10, 256 << 10, 36 << 20};
  if (tuple == 1 && (words == 2 || words == 4)) return {192 << 10, 192 << 10, 16 << 20};
  if (tuple <= 8) return {192 << 10, 3 << 20, 16 << 20};
  return {tuple <= 16 ? 128u << 10 : 0, 0, 0};
}

constexpr int kRingRounds = 16;  ///< see scan_stream.cuh on how far blocks can drift apart

}  // namespace gdelta::scan
