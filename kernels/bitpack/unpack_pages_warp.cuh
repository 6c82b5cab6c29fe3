// A warp decodes a page, tile by tile. Of each lane a tile takes a strip: two groups, 256 values, or
// four. Half a warp, or a quarter, unpacks a group, so that every thread holds 8 or 16 consecutive
// residuals of each lane, sums them in registers, and stores whole tuples through shared memory: a decoded
// tile leaves by where its groups were.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <algorithm>

#include "kernels/bitpack/lane_sums.cuh"
#include "kernels/bitpack/packed_page.cuh"
#include "kernels/bitpack/unpack_pages_cuda.h"
#include "kernels/bitpack/unpack_warp_shape.cuh"
#include "kernels/bitpack/warp_pages.cuh"
#include "kernels/checksum/page_check.cuh"
#include "kernels/device/kernel_facts.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/pages/page_tile.cuh"
#include "kernels/pages/page_view.cuh"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {

// ---- Device functions

/// `head`: what fetch_head has brought. `differs_at` matters if kVerify.
template <int ValueBytes, int Tuple, bool kVerify>
__device__ void decode_page(UnpackWarpShared<ValueBytes, Tuple>& shared, const ColumnTask& task,
                            const PageView& page, const unsigned char* head,
                            unsigned long long* damaged_at, unsigned long long* differs_at) {
  using Word = WordOf<ValueBytes>;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  const int thread = device::thread_of_warp(), part = thread / Shape::kGroupThreads;
  const int groups = static_cast<int>(page.groups), all_groups = groups * Tuple;
  head += reinterpret_cast<std::uintptr_t>(page.bytes) & 15;

  // Descriptors: one a thread, checked, and what lies before each group.
  const std::uint32_t head_bytes = task.state_bytes + 2 * all_groups;
  if (page.num_bytes < head_bytes) {
    if (thread == 0) report_page(task, page, damaged_at);
    return;
  }
  GroupDescriptor mine{0};
  if (thread < all_groups) {
    const unsigned char* p = head + task.state_bytes + 2 * thread;
    mine.bits = p[0] | (p[1] << 8);
  }
  // Widths add up to at most 32 × 127, exception bytes to 32 × 127 × 9: both fit 16 bits.
  const std::uint32_t cost =
      static_cast<std::uint32_t>(mine.width()) |
      (static_cast<std::uint32_t>(mine.exceptions() > 0 ? mine.exception_bytes() : 0) << 16);
  std::uint32_t before = cost;
  scan::scan_threads<scan::SumAlgebra<std::uint32_t, std::uint32_t>, 1>(thread, 1, 32, &before);
  const std::uint32_t all = __shfl_sync(device::kWholeWarp, before, 31);
  before -= cost;
  const bool fits = head_bytes + 16 * (all & 0xffff) + (all >> 16) == page.num_bytes;
  if (!__all_sync(device::kWholeWarp, fits && mine.valid(8 * ValueBytes))) {
    if (thread == 0) report_page(task, page, damaged_at);
    return;
  }

  // Thread k keeps word k of every lane's state.
  int orders[Tuple], highest = 0;
  bool same_order = true;
  Word states[Tuple];
  const unsigned char* state = head;
#pragma unroll
  for (int lane = 0; lane < Tuple; ++lane) {
    orders[lane] = task.orders != nullptr ? task.orders[lane] : task.order;
    same_order &= orders[lane] == orders[0];
    highest = max(highest, orders[lane]);
    states[lane] = 0;
    if (thread < orders[lane]) {
      for (int i = 0; i < ValueBytes; ++i)
        states[lane] |= static_cast<Word>(state[thread * ValueBytes + i]) << (8 * i);
    }
    state += orders[lane] * ValueBytes;
  }

  const unsigned char* group_bytes = page.bytes + head_bytes;
  const unsigned char* exceptions = group_bytes + 16 * (all & 0xffff);
  const int skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(group_bytes) & 15);
  const uint4* const first_unit = reinterpret_cast<const uint4*>(group_bytes - skew);
  constexpr int kRun = Shape::kRunTuples, kStripGroups = Shape::kStripGroups;

  // Thread k keeps where group k is, and its exceptions.
  const GroupPlace my_place = GroupPlace::make(
      mine.width(), mine.width() + (mine.width() > 0 && skew != 0 ? 1 : 0), before & 0xffff);
  const ExceptionPlace my_exceptions = ExceptionPlace::make(mine, before >> 16);
  // Exceptions of most pages fit the shared memory that waits for them.
  const std::uint32_t patched = __ballot_sync(device::kWholeWarp, mine.exceptions() > 0);
  const int exceptions_skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(exceptions) & 15);
  const int staged = static_cast<int>(all >> 16) + exceptions_skew;
  if (patched != 0 && staged <= kStagedBytes) {
    if (16 * thread < staged)
      __pipeline_memcpy_async(shared.exceptions + 16 * thread,
                              exceptions - exceptions_skew + 16 * thread, 16);
    exceptions = shared.exceptions + exceptions_skew;
  } else if (patched != 0) {
#pragma unroll 1
    for (std::uint32_t at = 128 * thread; at < (all >> 16); at += 32 * 128)
      device::prefetch_to_l2(exceptions + at);
  }

  const unsigned tiles = (page.groups + kStripGroups - 1) / kStripGroups;
  // A group of a tile; behind the last group of the last lane, threads keep the place of a group that
  // is not there.
  const auto group_at = [&](unsigned tile, int lane, int of_strip) {
    return (lane * groups + kStripGroups * tile + of_strip) & 31;
  };
  const auto is_missing = [&](unsigned tile, int lane, int of_strip) {
    return lane != Tuple - 1 && kStripGroups * tile + of_strip >= page.groups;
  };
  int next_width;
  const auto locate = [&](unsigned tile, int lane) {
    const GroupPlace place{
        __shfl_sync(device::kWholeWarp, my_place.word, group_at(tile, lane, part))};
    next_width = is_missing(tile, lane, part) ? 0 : place.width();
  };

  // The groups of a tile, each by kFetchThreads threads.
  constexpr int kFetchThreads = Shape::kFetchThreads;
  const int fetch_group = thread / kFetchThreads, fetch_unit = thread % kFetchThreads;
  const int fetch_lane = fetch_group % Tuple, fetch_part = fetch_group / Tuple;
  const uint4* const fetch_from = first_unit + fetch_unit;
  std::uint32_t* const fetch_to =
      shared.bits[0] + 4 * (Shape::kGroupUnits * fetch_group + fetch_unit);
  const auto fetch = [&](unsigned tile) {
    if (tile < tiles) {
      const GroupPlace place{
          __shfl_sync(device::kWholeWarp, my_place.word, group_at(tile, fetch_lane, fetch_part))};
      int units = place.units();
      if (fetch_group >= Shape::kTileGroups || is_missing(tile, fetch_lane, fetch_part)) units = 0;
      const uint4* from = fetch_from + place.units_before();
      std::uint32_t* to = fetch_to + (tile & 1) * Shape::kBitWords;
      if (fetch_unit < units) __pipeline_memcpy_async(to, from, 16);
      if (fetch_unit + kFetchThreads < units)
        __pipeline_memcpy_async(to + 4 * kFetchThreads, from + kFetchThreads, 16);
#pragma unroll 1
      for (int round = 2; fetch_unit + round * kFetchThreads < units; ++round)
        __pipeline_memcpy_async(to + 4 * round * kFetchThreads, from + round * kFetchThreads, 16);
    }
    __pipeline_commit();  // even of nothing, so that what is waited for can be counted
  };

  // Exceptions of as many lanes from `first_lane` on as there are patches for, each group by
  // kPatchThreads threads. Returns whether some thread has left more than its `last_patch`.
  constexpr int kPatchThreads = Shape::kPatchThreads, kPatchLanes = Shape::kPatchLanes;
  constexpr bool kPatchTile = kPatchLanes == Tuple;
  const int patch_group = thread / kPatchThreads;
  const int patch_lane = patch_group % kPatchLanes, patch_part = patch_group / kPatchLanes;
  bool refused = false;
  const auto scatter = [&](unsigned tile, int first_lane, int& last_patch) {
    const int lane = first_lane + patch_lane, group = group_at(tile, lane, patch_part);
    ExceptionPlace from{__shfl_sync(device::kWholeWarp, my_exceptions.word, group)};
    const GroupPlace place{__shfl_sync(device::kWholeWarp, my_place.word, group)};
    if (patch_group >= Shape::kPatchGroups || is_missing(tile, lane, patch_part)) from = {0};
    last_patch = 0;
    bool valid = true;
    const bool many = scatter_exceptions<Word, kRun, kPatchThreads>(
        shared.patch[patch_lane], patch_part, exceptions, from, place.width(), 8 * ValueBytes,
        thread % kPatchThreads, last_patch, valid);
    refused |= !valid;
    last_patch += patch_lane * Shape::kTileTuples;
    __syncwarp();  // all patches are in: a vote orders no memory
    return many;
  };
  const auto clear = [&](bool many, int last_patch) {
    if (many) {
      clear_patches<Word, kPatchLanes * kRun>(shared.patch[0], thread);
    } else {
      shared.patch[0][last_patch] = 0;
    }
  };
  // Bit k: group k has exceptions; with patches for the whole tile, group k of any lane.
  std::uint32_t patched_groups = patched;
  if constexpr (kPatchTile) {
#pragma unroll
    for (int lane = 1; lane < Tuple; ++lane) patched_groups |= patched >> (lane * groups);
  }
  const auto is_patched = [&](unsigned tile, int lane) {
    return ((patched_groups >> (lane * groups + kStripGroups * tile)) &
            ((1u << kStripGroups) - 1)) != 0;
  };

  const bool plain = task.is_finished_later() || (task.map == 0 && !task.big_endian);
  const bool in_pieces =
      task.record_bytes == ValueBytes * Tuple &&
      (reinterpret_cast<std::uintptr_t>(task.out) & (Shape::kPieceBytes - 1)) == 0;
  unsigned char* out = task.out + static_cast<std::uint64_t>(page.first) * task.record_bytes;
  const std::uint64_t tile_step =
      static_cast<std::uint64_t>(Shape::kTileTuples) * task.record_bytes;
  std::uint32_t left = page.tuples;
  [[maybe_unused]] PageCheck<Shape::kRunBytes / 4> check;
  fetch(0);
  locate(0, 0);

#pragma unroll 1
  for (unsigned tile = 0; tile < tiles; ++tile) {
    Word values[Tuple][kRun];
    std::uint32_t* const bits = shared.bits[tile & 1];
    // The tile's groups are there for the whole warp, and nobody reads the tile before it, or writes
    // its patches, any more.
    __pipeline_wait_prior(0);
    __syncwarp();
    fetch(tile + 1);
    int last_patch = 0;
    bool many_patches = false;
    const bool tile_patched = kPatchTile && is_patched(tile, 0);
    if (tile_patched) many_patches = scatter(tile, 0, last_patch);
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      const int width = next_width;
      locate(tile + (lane + 1) / Tuple, (lane + 1) % Tuple);

      auto& run = values[lane];
      const unsigned first_bit = width == 0
                                     ? 32 * Shape::kZeroWord
                                     : 128 * Shape::kGroupUnits * (part * Tuple + lane) + 8 * skew;
      read_run<Word, kRun>(bits, first_bit, width, run, thread);
      if constexpr (kPatchTile) {
        if (tile_patched) take_patches<Word, kRun>(shared.patch[lane], run, width == 0, thread);
      } else if (is_patched(tile, lane)) {
        __syncwarp();  // patches of the lane before are zero again
        many_patches = scatter(tile, lane, last_patch);
        take_patches<Word, kRun>(shared.patch[0], run, width == 0, thread);
        __syncwarp();  // all patches have been read
        clear(many_patches, last_patch);
      }
      if (left < Shape::kTileTuples)
        refused |= !padding_is_zero(run, static_cast<int>(left) - kRun * thread);
      if (!same_order) {
#pragma unroll 1
        for (int k = 0; k < orders[lane]; ++k)
          sum_tile<Word, 1, kRun>(reinterpret_cast<Word(&)[1][kRun]>(run),
                                  reinterpret_cast<Word(&)[1]>(states[lane]), k, thread);
      }
    }
    if (same_order) {
#pragma unroll 1
      for (int k = 0; k < highest; ++k) {
        if constexpr (Tuple == 4) {  // two at a time fit the registers
#pragma unroll
          for (int lane = 0; lane < Tuple; lane += 2) {
            sum_tile<Word, 2, kRun>(reinterpret_cast<Word(&)[2][kRun]>(values[lane]),
                                    reinterpret_cast<Word(&)[2]>(states[lane]), k, thread);
          }
        } else {
          sum_tile(values, states, k, thread);
        }
      }
    }
    if (!plain) {
#pragma unroll
      for (int lane = 0; lane < Tuple; ++lane) {
#pragma unroll
        for (int i = 0; i < kRun; ++i)
          values[lane][i] = finish_value(values[lane][i], ValueBytes, task.map, task.big_endian);
      }
    }

    std::uint32_t words[Shape::kRunBytes / 4];
    pack_run<ValueBytes, Tuple>(values, words);
    if constexpr (kVerify) {
      if (left < Shape::kTileTuples)
        keep_bytes(words, (static_cast<int>(left) - kRun * thread) * Shape::kTupleBytes);
      check.add(words);
    }
    __syncwarp();  // all groups and patches have been read
    if (tile_patched) clear(many_patches, last_patch);
    auto* const decoded = reinterpret_cast<unsigned char*>(bits);
#pragma unroll
    for (int i = 0; i < Shape::kRunPieces; ++i) {
      const int slot = PieceSlots<Shape::kRunPieces>::of_run(thread, i);
      if constexpr (Shape::kPieceBytes == 16) {
        reinterpret_cast<uint4*>(decoded)[slot] =
            make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
      } else {
        reinterpret_cast<uint2*>(decoded)[slot] = make_uint2(words[2 * i], words[2 * i + 1]);
      }
    }
    __syncwarp();  // the tile is whole
    if (in_pieces && left >= Shape::kTileTuples) {
      store_whole_tile<Shape>(decoded, out, thread);
    } else {
      const auto wanted = min(left, static_cast<std::uint32_t>(Shape::kTileTuples));
      store_tile_bytes<Shape>(decoded, out, wanted, task.record_bytes, thread);
    }
    out += tile_step;
    left -= Shape::kTileTuples;
  }
  if (__any_sync(device::kWholeWarp, refused) && thread == 0) report_page(task, page, damaged_at);
  if constexpr (kVerify) {
    if (task.path != ColumnPath::page_warp_verified) return;
    const std::uint32_t number = page.first / (kGroupValues * task.page_groups);
    const std::uint32_t value = check.value(tiles, page.tuples, thread);
    if (thread == 0 && value != load_u32_anywhere(task.part_checks() + 4 * number))
      report_page(task, page, differs_at);
  }
}

// ---- Kernel and launcher

template <int ValueBytes, int Tuple, bool kVerify>
__global__ void __launch_bounds__(32 * unpack_warp_policy(ValueBytes, Tuple).warps_per_block,
                                  unpack_warp_policy(ValueBytes, Tuple).blocks_per_sm)
    unpack_pages_warp_kernel(UnpackArgs args) {
  device::start_successor();
  constexpr int kWarps = unpack_warp_policy(ValueBytes, Tuple).warps_per_block;
  __shared__ UnpackWarpShared<ValueBytes, Tuple> shared[kWarps];
  auto& mine = shared[threadIdx.x / 32];
  for_each_page<ValueBytes, Tuple>(
      mine, args, kWarps,
      [&](const ColumnTask& task, const PageView& page, const unsigned char* head) {
        decode_page<ValueBytes, Tuple, kVerify>(
            mine, task, page, head, args.damaged_at, args.differs_at);
      });
}

template <int ValueBytes, int Tuple, bool kVerify>
cudaError_t launch_unpack_warp_as(const UnpackArgs& args, std::uint64_t max_pages,
                                  cudaStream_t stream) {
  constexpr int kWarps = unpack_warp_policy(ValueBytes, Tuple).warps_per_block;
  constexpr auto kKernel = unpack_pages_warp_kernel<ValueBytes, Tuple, kVerify>;
  int most = 0;
  if (auto error = device::resident_blocks<kKernel>(32 * kWarps, most)) return error;
  // Where there are few pages, a warp of each block gets one.
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(max_pages, most));
  if (blocks == 0) return cudaSuccess;
  return device::launch_after<kKernel>(blocks, 32 * kWarps, stream, args);
}

template <int ValueBytes, int Tuple>
cudaError_t launch_unpack_warp_of(const UnpackArgs& args, std::uint64_t max_pages,
                                  cudaStream_t stream) {
  return args.differs_at != nullptr
             ? launch_unpack_warp_as<ValueBytes, Tuple, true>(args, max_pages, stream)
             : launch_unpack_warp_as<ValueBytes, Tuple, false>(args, max_pages, stream);
}

template <int ValueBytes>
cudaError_t launch_unpack_warp_width(int tuple, const UnpackArgs& args, std::uint64_t max_pages,
                                     cudaStream_t stream) {
  switch (tuple) {
    case 1:
      return launch_unpack_warp_of<ValueBytes, 1>(args, max_pages, stream);
    case 2:
      return launch_unpack_warp_of<ValueBytes, 2>(args, max_pages, stream);
    case 3:
      return launch_unpack_warp_of<ValueBytes, 3>(args, max_pages, stream);
    case 4:
      return launch_unpack_warp_of<ValueBytes, 4>(args, max_pages, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace gdelta::cuda
