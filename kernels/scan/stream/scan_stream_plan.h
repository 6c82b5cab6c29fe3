// The shape of a launch of the stream kernel: what a block holds, how many there are, where their
// states lie in scratch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/scan/scan_launch.cuh"

namespace gdelta::scan {

/// What a launch is planned for.
struct StreamNeeds {
  int value_bytes;
  int words;  ///< of a lane's state
  int tuple;
  int worker_warps;  ///< at most
  int multiprocessors;
  int shared_bytes;  ///< that a block can have
  bool segments;
};

struct StreamLayout {
  StreamPlan plan;
  std::size_t sums_bytes = 0;
  std::size_t bytes = 0;
};

/// Blocks in groups: as many blocks as possible, then the shortest two levels.
inline void choose_groups(int multiprocessors, int& blocks, int& group_tiles) {
  blocks = 0;
  for (int group = 1; group <= kMaxGroupTiles; ++group) {
    const int groups = std::min(multiprocessors / group, kMaxGroups);
    const int candidate = groups * group;
    const bool better = candidate > blocks || (candidate == blocks &&
                                               group + groups < group_tiles + blocks / group_tiles);
    if (candidate > 0 && better) blocks = candidate, group_tiles = group;
  }
}

/// Bytes of a slot for the heads of so many rows: they begin anywhere in a granule of 16 bytes, and
/// a walk reads two words beyond the one that its first bit lies in.
constexpr std::size_t stream_head_bytes(int rows) {
  return (static_cast<std::size_t>(rows) / 8 + 16 + 16 + 15) & ~std::size_t{15};
}

/// Plans all but where scratch lies; `job` lacks its geometry. False if no tile of this shape fits in
/// shared memory often enough.
inline bool plan_stream(const StreamNeeds& needs, const Job& job, StreamLayout& layout) {
  const auto divide_up = [](std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); };
  const auto align_up = [](std::size_t bytes) { return (bytes + 255) & ~std::size_t{255}; };
  const int bytes = needs.value_bytes;
  const int tuple = needs.tuple;
  StreamPlan& plan = layout.plan;
  const StreamShape stream =
      needs.segments ? segments_shape(bytes, needs.words) : stream_shape(bytes, needs.words);
  const int worker_warps = std::min(needs.worker_warps, stream.workers);
  const int buffers = stream_buffers(stream.depth);
  const std::size_t word_bytes = std::max(bytes, 4);
  const std::size_t tables =
      needs.words == 1 ? 5
                       : 64 * (needs.words + 1) + (2 * kMaxStreamUnits + 1) * (2 * needs.words + 1);
  const std::size_t table_bytes = tables * word_bytes + 2048;  // static shared memory
  const int least = tuple > 32 ? 2 : 1;
  for (int warps = std::max(worker_warps, least); warps >= least; --warps) {
    const Geometry geometry = make_geometry(tuple, warps, stream.run);
    if (warps > least && warps > worker_warps / 2 && geometry.tile_values * bytes % 32 != 0 &&
        geometry.units > 2)
      continue;  // tiles share a sector
    const std::size_t heads = needs.segments ? stream_head_bytes(geometry.tile_values / tuple) : 0;
    const std::size_t states =
        (buffers * geometry.units + buffers + 1) * tuple * needs.words * word_bytes;
    const std::size_t slot = (geometry.tile_values * bytes + 32 + heads + 127) & ~std::size_t{127};
    const std::size_t least_slots = stream.depth + 1;  // tiles that wait, and one on its way
    if (states + table_bytes + least_slots * slot > static_cast<std::size_t>(needs.shared_bytes))
      continue;
    plan.job = job;
    plan.job.geometry = geometry;
    plan.tiles = divide_up(job.count, geometry.tile_values);
    plan.slots = static_cast<int>(
        std::min<std::size_t>((needs.shared_bytes - states - table_bytes) / slot, kMaxStreamSlots));
    plan.slot_bytes = static_cast<int>(slot);
    plan.head_bytes = static_cast<int>(heads);
    plan.shared_bytes = static_cast<int>(plan.slots * slot + states);
    choose_groups(needs.multiprocessors, plan.blocks, plan.group_tiles);
    const bool one_level = needs.segments && in_one_level(bytes, needs.words * tuple);
    if (one_level) plan.blocks = needs.multiprocessors, plan.group_tiles = 1;
    // A block's state takes whole cache lines of its own.
    const std::size_t words = static_cast<std::size_t>(needs.words) * (bytes == 8 ? 2 : 1) * tuple;
    const std::size_t state_bytes = (words + kSlotSpacing - 1) / kSlotSpacing * kSlotSpacing * 8;
    layout.sums_bytes = align_up(static_cast<std::size_t>(kRingRounds) * plan.blocks * state_bytes);
    const std::size_t rounds = one_level ? 0 : divide_up(plan.tiles, plan.blocks);
    layout.bytes =
        layout.sums_bytes + align_up(rounds * (plan.blocks / plan.group_tiles) * state_bytes);
    return true;
  }
  return false;
}

}  // namespace gdelta::scan
