// A page of the pack coder as the source of a warp's residuals, tile by tile. The groups of a tile travel to
// shared memory by asynchronous copies of 16 bytes while the tile before it is decoded, each group by
// threads of its own to a place of its own, where groups that are read side by side meet different banks. A
// page starts at any byte: the copies are aligned, and the misalignment is a constant number of bits added to
// the position of every field.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstdint>

#include "kernels/bitpack/page_groups.cuh"
#include "kernels/bitpack/unpack_warp_shape.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/pages/page_view.cuh"
#include "kernels/scan/tile/warp_scan.cuh"

namespace gdelta::cuda {

/// Each thread has a descriptor of the page, and knows what lies before its group.
template <int ValueBytes>
struct PageGroups {
  /// `descriptors` are those of all groups, behind one another. The whole warp calls it.
  __device__ PageGroups(const PageView& page, const unsigned char* descriptors,
                        std::uint32_t head_bytes, int tuple) {
    if (page.num_bytes < head_bytes) return;
    const int thread = device::thread_of_warp();
    if (thread < static_cast<int>(page.groups) * tuple) {
      const unsigned char* p = descriptors + 2 * thread;
      mine.bits = p[0] | (p[1] << 8);
    }
    // Widths add up to at most 32 × 127, exception bytes to 32 × 127 × 9: both fit 16 bits.
    const std::uint32_t cost =
        static_cast<std::uint32_t>(mine.width()) |
        (static_cast<std::uint32_t>(mine.exceptions() > 0 ? mine.exception_bytes() : 0) << 16);
    before = cost;
    scan::scan_threads<scan::SumAlgebra<std::uint32_t, std::uint32_t>, 1>(thread, 1, 32, &before);
    all = __shfl_sync(device::kWholeWarp, before, 31);
    before -= cost;
    const bool fits = head_bytes + 16 * (all & 0xffff) + (all >> 16) == page.num_bytes;
    whole = __all_sync(device::kWholeWarp, fits && mine.valid(8 * ValueBytes));
  }

  /// As if all groups were empty.
  __device__ void take_no_groups() {
    mine = {0};
    before = all = 0;
  }

  GroupDescriptor mine{0};
  std::uint32_t before = 0, all = 0;  // widths, and above 16 bits bytes of exceptions
  bool whole = false;                 // the page is what they say
};

/// Each thread has one; the whole warp calls each of its functions.
template <int ValueBytes, int Tuple, class Room = WarpPatches<ValueBytes, Tuple>>
struct PackedPage {
  using Shared = UnpackWarpShared<ValueBytes, Tuple, Room>;
  using Word = WordOf<ValueBytes>;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  static constexpr int kRun = Shape::kRunTuples, kStripGroups = Shape::kStripGroups;
  static constexpr int kFetchThreads = Shape::kFetchThreads;
  static constexpr int kPatchThreads = Shape::kPatchThreads, kPatchLanes = Shape::kPatchLanes;
  static constexpr bool kPatchTile = kPatchLanes == Tuple;
  static constexpr unsigned kTiles = Room::kTiles;

  /// `elsewhere`: where groups wait if the warp does not keep them, those of tiles Room::kGroupStep words apart.
  __device__ PackedPage(Shared& of_warp, const PageView& view, const PageGroups<ValueBytes>& found,
                        const unsigned char* group_bytes, std::uint32_t* elsewhere = nullptr)
      : shared(of_warp), page(view), groups(static_cast<int>(view.groups)), apart(elsewhere) {
    exceptions = group_bytes + 16 * (found.all & 0xffff);
    skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(group_bytes) & 15);
    const uint4* const first_unit = reinterpret_cast<const uint4*>(group_bytes - skew);
    const int width = found.mine.width();
    my_place =
        GroupPlace::make(width, width + (width > 0 && skew != 0 ? 1 : 0), found.before & 0xffff);
    my_exceptions = ExceptionPlace::make(found.mine, found.before >> 16);
    const std::uint32_t patched = __ballot_sync(device::kWholeWarp, found.mine.exceptions() > 0);
    if (patched != 0) fetch_exceptions(found.all >> 16);
    tiles = (page.groups + kStripGroups - 1) / kStripGroups;
    fetch_from = first_unit + fetch_unit;
    fetch_to = bits_of(0) + 4 * (Shape::kGroupUnits * fetch_group + fetch_unit);
    patched_groups = patched;
    if constexpr (kPatchTile) {
#pragma unroll
      for (int lane = 1; lane < Tuple; ++lane) patched_groups |= patched >> (lane * groups);
    }
  }

  /// Exceptions of most pages fit the shared memory that waits for them.
  __device__ void fetch_exceptions(std::uint32_t bytes) {
    const int exceptions_skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(exceptions) & 15);
    const int staged = static_cast<int>(bytes) + exceptions_skew;
    if (staged <= kStagedBytes) {
      if (16 * thread < staged)
        __pipeline_memcpy_async(shared.exceptions + 16 * thread,
                                exceptions - exceptions_skew + 16 * thread, 16);
      exceptions = shared.exceptions + exceptions_skew;
    } else {
#pragma unroll 1
      for (std::uint32_t at = 128 * thread; at < bytes; at += 32 * 128)
        device::prefetch_to_l2(exceptions + at);
    }
  }
  /// Where the groups of a tile are, and behind those of the first one.
  __device__ std::uint32_t* bits_of(unsigned tile) const {
    if constexpr (Shared::kKeepsGroups) {
      return shared.bits[tile % kTiles];
    } else {
      return apart + step_to(tile);
    }
  }
  __device__ static unsigned step_to(unsigned tile) {
    if constexpr (Shared::kKeepsGroups) {
      return (tile % kTiles) * Shape::kBitWords;
    } else {
      return tile * Room::kGroupStep;
    }
  }

  /// A group of a tile; behind the last group of the last lane, threads keep the place of a group that
  /// is not there.
  __device__ int group_at(unsigned tile, int lane, int of_strip) const {
    return (lane * groups + kStripGroups * tile + of_strip) & 31;
  }
  __device__ bool is_missing(unsigned tile, int lane, int of_strip) const {
    return lane != Tuple - 1 && kStripGroups * tile + of_strip >= page.groups;
  }

  /// Asks for the groups of a tile, each by kFetchThreads threads.
  __device__ void fetch(unsigned tile) const {
    if (tile < tiles) {
      const GroupPlace place{
          __shfl_sync(device::kWholeWarp, my_place.word, group_at(tile, fetch_lane, fetch_part))};
      int units = place.units();
      if (fetch_group >= Shape::kTileGroups || is_missing(tile, fetch_lane, fetch_part)) units = 0;
      const uint4* from = fetch_from + place.units_before();
      std::uint32_t* to = fetch_to + step_to(tile);
      if constexpr (!Shared::kKeepsGroups) {
        if (thread < 3) bits_of(tile)[Shape::kZeroWord + thread] = 0;
      }
      if (fetch_unit < units) __pipeline_memcpy_async(to, from, 16);
      if (fetch_unit + kFetchThreads < units)
        __pipeline_memcpy_async(to + 4 * kFetchThreads, from + kFetchThreads, 16);
#pragma unroll 1
      for (int round = 2; fetch_unit + round * kFetchThreads < units; ++round)
        __pipeline_memcpy_async(to + 4 * round * kFetchThreads, from + round * kFetchThreads, 16);
    }
    __pipeline_commit();  // even of nothing, so that what is waited for can be counted
  }

  /// Which width `read` finds next.
  __device__ void locate(unsigned tile, int lane) {
    const GroupPlace place{
        __shfl_sync(device::kWholeWarp, my_place.word, group_at(tile, lane, part))};
    next_width = is_missing(tile, lane, part) ? 0 : place.width();
  }

  struct Patches {
    bool any;
    bool many;
    int last;
  };
  /// Begins a tile whose groups are there.
  __device__ Patches begin_tile(unsigned tile) {
    Patches patches{kPatchTile && is_patched(tile, 0), false, 0};
    if (patches.any) scatter(tile, 0, patches);
    return patches;
  }

  /// The thread's residuals of a lane, zigzag undone; lanes are read in order.
  __device__ void read(unsigned tile, int lane, Word (&run)[kRun], Patches& patches) {
    const int width = next_width;
    locate(tile + (lane + 1) / Tuple, (lane + 1) % Tuple);
    const unsigned first_bit = width == 0
                                   ? 32 * Shape::kZeroWord
                                   : 128 * Shape::kGroupUnits * (part * Tuple + lane) + 8 * skew;
    read_run<Word, kRun>(bits_of(tile), first_bit, width, run, thread);
    if constexpr (kPatchTile) {
      if (patches.any) take_patches<Word, kRun>(shared.room.patch[lane], run, thread);
    } else if (is_patched(tile, lane)) {
      __syncwarp();  // patches of the lane before are zero again
      scatter(tile, lane, patches);
      take_patches<Word, kRun>(shared.room.patch[0], run, thread);
      __syncwarp();  // all patches have been read
      clear(patches);
    }
  }

  /// Ends a tile of which all has been read.
  __device__ void end_tile(const Patches& patches) const {
    if (patches.any) clear(patches);
  }

  /// Whether the tile, or without patches for all of it the lane, has exceptions.
  __device__ bool is_patched(unsigned tile, int lane) const {
    return ((patched_groups >> (lane * groups + kStripGroups * tile)) &
            ((1u << kStripGroups) - 1)) != 0;
  }
  /// Exceptions of as many lanes from `first_lane` on as there are patches for, each group by
  /// kPatchThreads threads.
  __device__ void scatter(unsigned tile, int first_lane, Patches& patches) {
    const int lane = first_lane + patch_lane, group = group_at(tile, lane, patch_part);
    ExceptionPlace from{__shfl_sync(device::kWholeWarp, my_exceptions.word, group)};
    const GroupPlace place{__shfl_sync(device::kWholeWarp, my_place.word, group)};
    if (patch_group >= Shape::kPatchGroups || is_missing(tile, lane, patch_part)) from = {0};
    patches.last = 0;
    if constexpr (Shared::kKeepsPatches) {
      patches.many = scatter_exceptions<Word, kRun, kPatchThreads>(
          shared.room.patch[patch_lane], patch_part, exceptions, from, place.width(),
          8 * ValueBytes, thread % kPatchThreads, patches.last, refused);
      patches.last += patch_lane * Shape::kTileTuples;
    } else {
      clear_patches<Word, kPatchLanes * kRun>(shared.room.patch[0], thread);
      __syncwarp();  // all are zero
      scatter_valid_exceptions<Word, kRun, kPatchThreads>(
          shared.room.patch[patch_lane], patch_part, exceptions, from, place.width(),
          8 * ValueBytes, thread % kPatchThreads, refused);
    }
    __syncwarp();  // all patches are in: a vote orders no memory
  }
  __device__ void clear(const Patches& patches) const {
    if constexpr (!Shared::kKeepsPatches) return;
    if (patches.many) {
      clear_patches<Word, kPatchLanes * kRun>(shared.room.patch[0], thread);
    } else {
      shared.room.patch[0][patches.last] = 0;
    }
  }

  Shared& shared;
  const PageView& page;
  const int thread = device::thread_of_warp();
  const int part = thread / Shape::kGroupThreads;  // the thread's group of a strip
  const int groups;                                // of each lane
  const int fetch_group = thread / kFetchThreads, fetch_unit = thread % kFetchThreads;
  const int fetch_lane = fetch_group % Tuple, fetch_part = fetch_group / Tuple;
  const int patch_group = thread / kPatchThreads;
  const int patch_lane = patch_group % kPatchLanes, patch_part = patch_group / kPatchLanes;
  unsigned tiles;
  int skew;                      // bytes of the first unit that are not the groups'
  GroupPlace my_place;           // thread k: where group k is,
  ExceptionPlace my_exceptions;  // and its exceptions
  std::uint32_t
      patched_groups;  // bit k: group k has exceptions; with patches for the whole tile, of any lane
  const unsigned char* exceptions;
  const uint4* fetch_from;
  std::uint32_t* fetch_to;
  int next_width;
  [[maybe_unused]] std::uint32_t* apart;
  int refused = 0;  // 1: by this thread
};

}  // namespace gdelta::cuda
