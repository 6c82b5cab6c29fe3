// What a block of unpack_pages_wide.cuh is made of: how it is cut, its shared memory, and how it opens a page.
#pragma once

#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/unpack_pages_cuda.h"
#include "kernels/device/warp.cuh"
#include "kernels/device/warp_uniform.cuh"
#include "kernels/pages/page_ahead.cuh"
#include "kernels/pages/page_tile.cuh"
#include "kernels/pages/page_view.cuh"
#include "kernels/pages/slab_stage.cuh"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {

// ---- Policy: changes speed, never bytes

inline constexpr int kMostTeam = 4;             // warps of a block
inline constexpr unsigned kSlabBytes = 32;      // of a tuple, or a few less
inline constexpr unsigned kLongSlabBytes = 64;  // if a slab is all of a tuple

/// How pages are cut: the tuples of a tile, whole groups of each lane; consecutive tuples of a thread; and lanes
/// that a thread has at once, with as many sums side by side.
template <int kTileOf, int kRunOf, int kLanesOf>
struct WideCut {
  static constexpr int kTile = kTileOf, kRun = kRunOf, kLanes = kLanesOf;
};
/// Of full slabs a thread has several lanes side by side, which leave in whole words.
constexpr int full_lanes(int value_bytes) {
  return value_bytes <= 2 ? 4 : value_bytes == 4 ? 2 : 1;
}
template <int ValueBytes>
using FullCut = WideCut<kGroupValues, 8, full_lanes(ValueBytes)>;
/// Where slabs are not full, some of so many lanes would not be there: a thread has one, in longer runs. Longer tiles
/// leave room for fewer warps, but have fewer lanes at once, whose short values would meet in a word.
constexpr int one_lane_tile(int value_bytes) {
  return value_bytes == 1 ? 512 : value_bytes == 2 ? 256 : kGroupValues;
}
template <int ValueBytes>
using OneLaneCut = WideCut<one_lane_tile(ValueBytes), 16, 1>;
/// Warps of a multiprocessor that registers are kept low enough for: about as many as there is shared memory for.
template <int ValueBytes, class Cut>
constexpr int wide_warps_per_sm() {
  if (Cut::kRun == 16) return ValueBytes == 1 ? 28 : 24;
  return 16;
}

template <int ValueBytes, class Cut>
struct WideShape {
  static constexpr int kTileTuples = Cut::kTile, kRun = Cut::kRun, kLanes = Cut::kLanes;
  static constexpr int kSpan = kTileTuples / kRun;                // threads that have a lane
  static constexpr int kTileGroups = kTileTuples / kGroupValues;  // of a lane
  static constexpr int kGroupSpan = kGroupValues / kRun;          // threads that unpack a group
  static constexpr int kBatchLanes = 32 / kSpan * kLanes;         // of a warp
  static constexpr int kBatchGroups = kBatchLanes * kTileGroups;
  static constexpr int kGroupThreads = 32 / kBatchGroups;  // that fetch a group, or its exceptions
  static constexpr int kSlabLanes = slab_lanes(ValueBytes);
  static_assert(kSpan <= 32 && kBatchGroups <= 8);
  // Units of 16 bytes between the groups of a batch: full width and the misalignment, and some more
  // so that those that parts of a warp read side by side start at banks spread evenly.
  static constexpr int group_units() {
    int units = 8 * ValueBytes + 1;
    while (kLanes * units % 8 != 8 * kGroupSpan / 32) ++units;
    return units;
  }
  static constexpr int kGroupUnits = group_units();
  // Three zero words behind the groups stand for the fields of a group of width 0.
  static constexpr int kZeroWord = 4 * kGroupUnits * kBatchGroups;
  static constexpr int kBitWords = kZeroWord + 4;
};

// ---- Shared memory

inline constexpr int kStagedExceptions = 48;  // bytes, with their misalignment

/// As wide as values, for there is little room.
template <int ValueBytes>
using PatchOf =
    std::conditional_t<ValueBytes == 1, std::uint8_t,
                       std::conditional_t<ValueBytes == 2, std::uint16_t, WordOf<ValueBytes>>>;

/// What a warp has of its own.
template <int ValueBytes, class Cut>
struct WideWarpShared {
  using Shape = WideShape<ValueBytes, Cut>;
  // What exceptions add to a batch, each value where its thread finds it; else zero.
  alignas(16) PatchOf<ValueBytes> patch[Shape::kLanes][32 * Shape::kRun];
  // Of this batch and the one behind it: groups, and of each group exceptions that are not too many.
  alignas(16) std::uint32_t bits[2][Shape::kBitWords];
  alignas(16) unsigned char exceptions[2][Shape::kBatchGroups][kStagedExceptions];
};

inline constexpr std::uint32_t kNoPage = ~std::uint32_t{0};
inline constexpr int kMixedOrders = -1;

/// What a block has: pages ahead, and what opening the page has found.
struct WidePages {
  // Of this page and the two behind it:
  alignas(16) unsigned char tasks[3][sizeof(ColumnTask)];
  std::uint32_t ends[3][4];  // words of the directory that hold a page's end and the one before
  std::uint32_t numbers[3];  // in their columns; kNoPage
  bool whole;                // the page is what its fields say
  std::uint32_t units;       // of 16 bytes, of all groups
  int order;                 // of all lanes; kMixedOrders
  std::uint64_t sums[kMostTeam];  // of the check, by warp

  __device__ const ColumnTask& task(int slot) const {
    return *reinterpret_cast<const ColumnTask*>(tasks[slot]);
  }
};

/// Where a group is in its page, in one word: the descriptor, and above it the units of 16 bytes before.
struct WidePlace {
  std::uint32_t word;
  __device__ GroupDescriptor descriptor() const { return {word & 0xffff}; }
  __device__ std::uint32_t units_before() const { return word >> 16; }
};

/// What a block has shared memory for.
struct WideBlock {
  int warps;
  int lanes;            // of the largest tuple
  unsigned slab_bytes;  // of the longest rows of a slab
};

/// A block's shared memory.
template <int ValueBytes, class Cut>
struct WideShared {
  using Word = WordOf<ValueBytes>;
  WidePages* pages;
  Word* states;                  // [lanes][kMaxDeltaOrder]
  WidePlace* places;             // [groups of all lanes], lane after lane
  std::uint32_t* exceptions_at;  // likewise: in bytes, from the first exception
  unsigned char* orders;         // [lanes]
  unsigned char* head;           // states and descriptors as they lie in the page
  WideWarpShared<ValueBytes, Cut>* warps;
  unsigned char* stages;
  std::size_t stage_bytes;  // of each warp

  /// Bytes that it takes; `base` may be null if nothing else is asked.
  GDELTA_HD std::size_t lay_out(unsigned char* base, const WideBlock& block) {
    std::size_t at = 0;
    const auto take = [&](auto*& part, std::size_t count) {
      part = reinterpret_cast<std::remove_reference_t<decltype(part)>>(base + at);
      at += (count * sizeof(*part) + 15) / 16 * 16;
    };
    const auto lanes = static_cast<std::size_t>(block.lanes);
    const std::size_t groups = lanes * kWidePathGroups;
    stage_bytes = SlabStage<Cut::kRun>::bytes(Cut::kTile, block.slab_bytes);
    take(pages, 1);
    take(states, lanes * kMaxDeltaOrder);
    take(places, groups);
    take(exceptions_at, groups);
    take(orders, lanes);
    // With the misalignment, in whole copies of 16 bytes.
    take(head, lanes * kMaxDeltaOrder * ValueBytes + 2 * groups + 15);
    take(warps, block.warps);
    take(stages, block.warps * stage_bytes);
    return at;
  }
};

// ---- A page's head

/// The states of all lanes and their orders, by a warp.
template <int ValueBytes, class Cut>
__device__ inline void load_states(const WideShared<ValueBytes, Cut>& shared,
                                   const ColumnTask& task, const unsigned char* head, int thread) {
  std::uint32_t before = 0;
  const int tuple = device::warp_uniform<int>(task.tuple);
  const std::uint32_t of_first = task.orders != nullptr ? task.orders[0] : task.order;
  bool same = true;
  for (int first = 0; first < tuple; first += 32) {
    const int lane = first + thread;
    std::uint32_t order = 0;
    if (lane < tuple) {
      order = task.orders != nullptr ? task.orders[lane] : task.order;
      shared.orders[lane] = static_cast<unsigned char>(order);
      same &= order == of_first;
    }
    const std::uint32_t up_to = device::warp_prefix(order);
    const unsigned char* state = head + (before + up_to - order) * ValueBytes;
    for (std::uint32_t k = 0; k < order; ++k)
      shared.states[lane * kMaxDeltaOrder + k] =
          load_value<WordOf<ValueBytes>>(state + k * ValueBytes, ValueBytes, false);
    before += __shfl_sync(device::kWholeWarp, up_to, 31);
  }
  same = __all_sync(device::kWholeWarp, same) != 0;
  if (thread == 0) shared.pages->order = same ? static_cast<int>(of_first) : kMixedOrders;
}

/// Checks all descriptors and finds what lies before each group, by a warp.
template <int ValueBytes, class Cut>
__device__ inline bool place_groups(const WideShared<ValueBytes, Cut>& shared,
                                    const unsigned char* descriptors, int all_groups,
                                    std::uint64_t groups_bytes, int thread) {
  bool valid = true;
  std::uint64_t before = 0;  // units of groups, and above 32 bits bytes of exceptions
  for (int first = 0; first < all_groups; first += 32) {
    const int group = first + thread;
    GroupDescriptor own{0};
    if (group < all_groups) own.bits = descriptors[2 * group] | (descriptors[2 * group + 1] << 8);
    valid &= own.valid(8 * ValueBytes);
    const std::uint64_t cost = static_cast<std::uint64_t>(own.width()) |
                               (static_cast<std::uint64_t>(own.exception_bytes()) << 32);
    const std::uint64_t up_to = device::warp_prefix(cost);
    const std::uint64_t at = before + up_to - cost;
    if (group < all_groups) {
      // Widths add up to at most 512 × 127, which fits 16 bits.
      shared.places[group] = {own.bits | (static_cast<std::uint32_t>(at) << 16)};
      shared.exceptions_at[group] = static_cast<std::uint32_t>(at >> 32);
    }
    before += __shfl_sync(device::kWholeWarp, up_to, 31);
  }
  const std::uint64_t units = before & 0xffffffff;
  if (thread == 0) shared.pages->units = static_cast<std::uint32_t>(units);
  return __all_sync(device::kWholeWarp, valid && 16 * units + (before >> 32) == groups_bytes);
}

/// Says whether the page is what its own fields say; a whole warp calls it.
template <int ValueBytes, class Cut>
__device__ inline bool open_page(const WideShared<ValueBytes, Cut>& shared, const ColumnTask& task,
                                 const PageView& page, int thread) {
  const std::uint32_t all_groups = page.groups * task.tuple;
  const std::uint32_t head_bytes = task.state_bytes + 2 * all_groups;
  if (page.num_bytes < head_bytes) return false;
  const unsigned char* head = shared.head + (reinterpret_cast<std::uintptr_t>(page.bytes) & 15);
  load_states(shared, task, head, thread);
  return place_groups(shared, head + task.state_bytes, static_cast<int>(all_groups),
                      page.num_bytes - head_bytes, thread);
}

}  // namespace gdelta::cuda
