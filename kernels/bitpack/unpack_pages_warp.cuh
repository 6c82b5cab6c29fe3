// Warps decode pages of up to four lanes into memory: whole tuples leave through shared memory, a decoded tile by
// way of the place that its groups had. Kernels that undo LaneMaps on the way (kMaps) are instances of their own: others
// need no registers for them.
#pragma once

#include <algorithm>

#include "kernels/bitpack/decode_packed_page.cuh"
#include "kernels/bitpack/unpack_pages_cuda.h"
#include "kernels/bitpack/unpack_warp_shape.cuh"
#include "kernels/bitpack/warp_pages.cuh"
#include "kernels/checksum/compare_page.cuh"
#include "kernels/checksum/page_check.cuh"
#include "kernels/device/kernel_facts.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/warp_uniform.cuh"
#include "kernels/pages/narrow_tuple.h"
#include "kernels/pages/page_tile.cuh"
#include "kernels/pages/page_view.cuh"

namespace gdelta::cuda {

// ---- Where values go

/// Stores the tiles of a page and, if kChecks, makes its check. kStreams: nobody will read them soon.
template <int ValueBytes, int Tuple, bool kChecks, bool kStreams = true>
struct TileStore {
  using Word = WordOf<ValueBytes>;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  static constexpr int kRun = Shape::kRunTuples;

  __device__ void open(const ColumnTask& task, const PageView& page) {
    in_pieces = device::warp_uniform<int>(task.record_bytes == ValueBytes * Tuple &&
                                          (reinterpret_cast<std::uintptr_t>(task.out) &
                                           (Shape::kPieceBytes - 1)) == 0) != 0;
    out = task.out + static_cast<std::uint64_t>(page.first) * task.record_bytes;
    tile_step = static_cast<std::uint64_t>(Shape::kTileTuples) * task.record_bytes;
  }

  /// Takes the thread's run of a tile; `left` tuples of the page are left from the tile's first on.
  __device__ void take(const Word (&values)[Tuple][kRun], std::uint32_t left, int thread) {
    pack_run<ValueBytes, Tuple>(values, words);
    take_words(left, thread);
  }
  /// Takes what `words` holds.
  __device__ void take_words(std::uint32_t left, int thread) {
    if constexpr (kChecks) {
      if (left < Shape::kTileTuples)
        keep_bytes(words, (static_cast<int>(left) - kRun * thread) * Shape::kTupleBytes);
      check.add(words);
    }
  }

  /// Stores what was taken, through `tile` in shared memory, which nobody reads any more.
  __device__ void store(unsigned char* tile, std::uint32_t left, const ColumnTask& task,
                        int thread) {
    put_run<Shape>(tile, words, thread);
    __syncwarp();  // the tile is whole
    send(tile, left, task, thread);
  }
  /// Stores a tile of values that is whole.
  __device__ void send(const unsigned char* tile, std::uint32_t left, const ColumnTask& task,
                       int thread) {
    if (in_pieces && left >= Shape::kTileTuples) {
      store_whole_tile<Shape, kStreams>(tile, out, thread);
    } else {
      const auto wanted = min(left, static_cast<std::uint32_t>(Shape::kTileTuples));
      store_tile_bytes<Shape>(tile, out, wanted, task.record_bytes, thread);
    }
    out += tile_step;
  }

  __device__ void close(const ColumnTask& task, const PageView& page, unsigned tiles,
                        int thread) const {
    if constexpr (kChecks) {
      // Others are held against theirs behind this kernel: columns with maps, if they have exceptions.
      if (task.path == ColumnPath::page_warp_verified)
        compare_page(check, task, page, tiles, differs_at, thread);
    }
  }

  unsigned long long* differs_at;  // if checks are made
  unsigned char* out;
  std::uint64_t tile_step;  // bytes
  bool in_pieces;           // whole tiles go in pieces of 16 or 8 bytes
  std::uint32_t words[Shape::kRunBytes / 4];
  [[maybe_unused]] PageCheck<Shape::kRunBytes / 4> check;
};

// ---- Kernel and launcher

template <int ValueBytes, int Tuple, bool kMaps, bool kChecks>
__global__ void __launch_bounds__(32 * unpack_warp_policy(ValueBytes, Tuple).warps_per_block,
                                  unpack_warp_policy(ValueBytes, Tuple).blocks_per_sm)
    unpack_pages_warp_kernel(UnpackArgs args) {
  device::start_successor();
  constexpr int kWarps = unpack_warp_policy(ValueBytes, Tuple).warps_per_block;
  __shared__ UnpackWarpShared<ValueBytes, Tuple> shared[kWarps];
  auto& mine = shared[device::warp_number()];
  for_each_page<ValueBytes, Tuple>(
      mine, args, kWarps,
      [&](const ColumnTask& task, const PageView& page, const unsigned char* head) {
        decode_page<ValueBytes, Tuple, kMaps>(
            mine, task, page, head, args.damaged_at,
            TileStore<ValueBytes, Tuple, kChecks>{args.differs_at});
      });
}

template <int ValueBytes, int Tuple, bool kMaps, bool kChecks>
cudaError_t launch_unpack_warp_as(const UnpackArgs& args, std::uint64_t max_pages,
                                  cudaStream_t stream) {
  constexpr int kWarps = unpack_warp_policy(ValueBytes, Tuple).warps_per_block;
  constexpr auto kKernel = unpack_pages_warp_kernel<ValueBytes, Tuple, kMaps, kChecks>;
  int most = 0;
  if (auto error = device::resident_blocks<kKernel>(32 * kWarps, most)) return error;
  // If there are few pages, a warp of each block gets one.
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(max_pages, most));
  if (blocks == 0) return cudaSuccess;
  return device::launch_after<kKernel>(blocks, 32 * kWarps, stream, args);
}

template <int ValueBytes, int Tuple, bool kMaps>
cudaError_t launch_unpack_warp_of(const UnpackArgs& args, std::uint64_t max_pages,
                                  cudaStream_t stream) {
  return args.differs_at != nullptr
             ? launch_unpack_warp_as<ValueBytes, Tuple, kMaps, true>(args, max_pages, stream)
             : launch_unpack_warp_as<ValueBytes, Tuple, kMaps, false>(args, max_pages, stream);
}

template <int ValueBytes, bool kMaps>
cudaError_t launch_unpack_warp_width(int tuple, const UnpackArgs& args, std::uint64_t max_pages,
                                     cudaStream_t stream) {
  return for_narrow_tuple(tuple, [&](auto lanes) {
    return launch_unpack_warp_of<ValueBytes, decltype(lanes)::value, kMaps>(args, max_pages,
                                                                            stream);
  });
}

}  // namespace gdelta::cuda
