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

// ---- Where values go

/// Stores the tiles of a page, and if kVerify makes its check.
template <int ValueBytes, int Tuple, bool kVerify>
struct TileStore {
  using Word = WordOf<ValueBytes>;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  static constexpr int kRun = Shape::kRunTuples;

  __device__ void open(const ColumnTask& task, const PageView& page) {
    in_pieces = task.record_bytes == ValueBytes * Tuple &&
                (reinterpret_cast<std::uintptr_t>(task.out) & (Shape::kPieceBytes - 1)) == 0;
    out = task.out + static_cast<std::uint64_t>(page.first) * task.record_bytes;
    tile_step = static_cast<std::uint64_t>(Shape::kTileTuples) * task.record_bytes;
  }

  /// Takes the thread's run of a tile of which `left` tuples are the page's, or more are left.
  __device__ void take(const Word (&values)[Tuple][kRun], std::uint32_t left, int thread) {
    pack_run<ValueBytes, Tuple>(values, words);
    if constexpr (kVerify) {
      if (left < Shape::kTileTuples)
        keep_bytes(words, (static_cast<int>(left) - kRun * thread) * Shape::kTupleBytes);
      check.add(words);
    }
  }

  /// Stores what was taken, through `tile` in shared memory, which nobody reads any more.
  __device__ void store(unsigned char* tile, std::uint32_t left, std::uint32_t record_bytes,
                        int thread) {
#pragma unroll
    for (int i = 0; i < Shape::kRunPieces; ++i) {
      const int slot = PieceSlots<Shape::kRunPieces>::of_run(thread, i);
      if constexpr (Shape::kPieceBytes == 16) {
        reinterpret_cast<uint4*>(tile)[slot] =
            make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
      } else {
        reinterpret_cast<uint2*>(tile)[slot] = make_uint2(words[2 * i], words[2 * i + 1]);
      }
    }
    __syncwarp();  // the tile is whole
    if (in_pieces && left >= Shape::kTileTuples) {
      store_whole_tile<Shape>(tile, out, thread);
    } else {
      const auto wanted = min(left, static_cast<std::uint32_t>(Shape::kTileTuples));
      store_tile_bytes<Shape>(tile, out, wanted, record_bytes, thread);
    }
    out += tile_step;
  }

  /// `differs_at` matters if kVerify.
  __device__ void close(const ColumnTask& task, const PageView& page, unsigned tiles,
                        unsigned long long* differs_at, int thread) {
    if constexpr (kVerify) {
      if (task.path != ColumnPath::page_warp_verified) return;
      const std::uint32_t number = page.first / (kGroupValues * task.page_groups);
      const std::uint32_t value = check.value(tiles, page.tuples, thread);
      if (thread == 0 && value != load_u32_anywhere(task.part_checks() + 4 * number))
        report_page(task, page, differs_at);
    }
  }

  unsigned char* out;
  std::uint64_t tile_step;  // bytes
  bool in_pieces;           // whole tiles go in pieces of 16 or 8 bytes
  std::uint32_t words[Shape::kRunBytes / 4];
  [[maybe_unused]] PageCheck<Shape::kRunBytes / 4> check;
};

// ---- Device functions

template <int ValueBytes, int Tuple, int Run>
__device__ inline void finish_tile(WordOf<ValueBytes> (&values)[Tuple][Run],
                                   const ColumnTask& task) {
#pragma unroll
  for (int lane = 0; lane < Tuple; ++lane) {
#pragma unroll
    for (int i = 0; i < Run; ++i)
      values[lane][i] = finish_value(values[lane][i], ValueBytes, task.map, task.big_endian);
  }
}

/// `head`: what fetch_head has brought. `differs_at` matters if kVerify.
template <int ValueBytes, int Tuple, bool kVerify>
__device__ void decode_page(UnpackWarpShared<ValueBytes, Tuple>& shared, const ColumnTask& task,
                            const PageView& page, const unsigned char* head,
                            unsigned long long* damaged_at, unsigned long long* differs_at) {
  using Word = WordOf<ValueBytes>;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  constexpr int kRun = Shape::kRunTuples;
  const int thread = device::thread_of_warp();
  head += reinterpret_cast<std::uintptr_t>(page.bytes) & 15;
  const std::uint32_t head_bytes = task.state_bytes + 2 * page.groups * Tuple;
  const PageGroups<ValueBytes> found(page, head + task.state_bytes, head_bytes, Tuple);
  if (!found.whole) {
    if (thread == 0) report_page(task, page, damaged_at);
    return;
  }

  LaneSums<ValueBytes, Tuple, kRun> sums;
  sums.open(task, head, thread);
  PackedPage<ValueBytes, Tuple> source(shared, page, found, page.bytes + head_bytes);
  const bool plain = task.is_finished_later() || (task.map == 0 && !task.big_endian);
  TileStore<ValueBytes, Tuple, kVerify> store;
  store.open(task, page);
  std::uint32_t left = page.tuples;
  source.fetch(0);
  source.locate(0, 0);

#pragma unroll 1
  for (unsigned tile = 0; tile < source.tiles; ++tile) {
    Word values[Tuple][kRun];
    std::uint32_t* const bits = shared.bits[tile & 1];
    // The tile's groups are there for the whole warp, and nobody reads the tile before it, or writes
    // its patches, any more.
    __pipeline_wait_prior(0);
    __syncwarp();
    source.fetch(tile + 1);
    auto patches = source.begin_tile(tile);
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      auto& run = values[lane];
      source.read(tile, lane, run, patches);
      if (left < Shape::kTileTuples)
        source.refused |= !padding_is_zero(run, static_cast<int>(left) - kRun * thread);
      sums.sum_lane(run, lane, thread);
    }
    sums.sum_lanes(values, thread);
    if (!plain) finish_tile<ValueBytes, Tuple>(values, task);
    store.take(values, left, thread);
    __syncwarp();  // all groups and patches have been read
    source.end_tile(patches);
    store.store(reinterpret_cast<unsigned char*>(bits), left, task.record_bytes, thread);
    left -= Shape::kTileTuples;
  }
  if (__any_sync(device::kWholeWarp, source.refused) && thread == 0) report_page(task, page, damaged_at);
  store.close(task, page, source.tiles, differs_at, thread);
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
