// A warp decodes a column page by page and tile by tile. When a tile is whole in shared memory, its threads walk down
// the running sums of the stride, each down its own, and what they leave is stored.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <cstdint>

#include "kernels/bitpack/stride_pages_cuda.h"
#include "kernels/bitpack/unpack_pages_warp.cuh"

namespace gdelta::cuda {

// ---- Policy: changes speed, never bytes

/// Of a block; more of the longest tuples have no room in shared memory.
constexpr int stride_warps(int value_bytes, int tuple) { return value_bytes * tuple > 24 ? 1 : 2; }
inline constexpr int kStrideBlocks = 8;    // a multiprocessor; registers are kept low enough
inline constexpr int kStrideTogether = 4;  // values of a thread that are on their way at once

template <int ValueBytes, int Tuple>
struct StrideWarpShared {
  UnpackWarpShared<ValueBytes, Tuple> pages;
  alignas(16) WordOf<ValueBytes> sums[kStrideSumsBytes / sizeof(WordOf<ValueBytes>)];
};

// ---- Running sums

/// Those of a column, through its tiles. Its values are numbered through all lanes, so that those of one sum lie `columns_`
/// numbers apart.
template <int ValueBytes, int Tuple>
class StrideSums {
 public:
  using Word = WordOf<ValueBytes>;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  static constexpr std::uint32_t kTileValues = Shape::kTileTuples * Tuple;

  /// `sums` in shared memory become zero. `lane_maps`: null if all lanes have the task's map.
  __device__ StrideSums(Word* sums, const ColumnTask& task, const LaneMaps* lane_maps, int thread)
      : sums_(sums),
        lane_maps_(lane_maps),
        columns_(device::warp_uniform(task.strides[0].stride) * Tuple),
        step_(kTileValues % columns_),
        map_(task.map),
        big_endian_(task.big_endian),
        plain_(device::warp_uniform<int>(task.map == 0 && !task.big_endian) != 0) {
    for (std::uint32_t c = thread; c < columns_; c += 32) sums[c] = 0;
  }

  /// Before the tiles of a page, all but the last of which are whole.
  __device__ void open(const PageView& page) {
    first_ = device::warp_uniform(page.first % (columns_ / Tuple)) * Tuple;
  }
  /// Undoes the stride, map and byte order in a tile of so many tuples. The whole warp calls it when the tile is there, and
  /// shares what it leaves behind a barrier.
  __device__ void undo(unsigned char* tile, std::uint32_t tuples, int thread) {
    const std::uint32_t values = min(tuples * Tuple, kTileValues);
    if (plain_) {
      walk(tile, values, thread, [](int, Word(&)[kStrideTogether]) {});
    } else if (lane_maps_ == nullptr) {
      walk(tile, values, thread, [&](int, Word(&some)[kStrideTogether]) {
#pragma unroll
        for (Word& value : some) value = finish_value(value, ValueBytes, map_, big_endian_);
      });
    } else {
      walk(tile, values, thread, [&](int lane, Word(&some)[kStrideTogether]) {
        undo_lane_map(*lane_maps_, lane, ValueBytes, some);
      });
    }
    first_ += step_;
    if (first_ >= columns_) first_ -= columns_;
  }

 private:
  using Value = std::conditional_t<ValueBytes == 8, std::uint64_t,
                                   std::conditional_t<ValueBytes == 4, std::uint32_t, std::uint16_t>>;
  static_assert(ValueBytes == sizeof(Value));

  __device__ static Value& value_of(unsigned char* tile, std::uint32_t number) {
    return *reinterpret_cast<Value*>(tile + piece_byte<Shape>(ValueBytes * number));
  }
  /// Of a value of the tile that has no other of its sum before it.
  __device__ Word& sum_of(std::uint32_t number) const {
    const std::uint32_t column = first_ + number;
    return sums_[column < columns_ ? column : column - columns_];
  }
  template <class Finish>
  __device__ void walk(unsigned char* tile, std::uint32_t values, int thread,
                       const Finish& finish) const {
    if (columns_ >= values) {
      add_row(tile, values, thread, finish);
    } else {
      walk_down(tile, values, thread, finish);
    }
  }
  /// Each value has a sum of its own. Those that a thread takes at once have one lane.
  template <class Finish>
  __device__ void add_row(unsigned char* tile, std::uint32_t values, int thread,
                          const Finish& finish) const {
    constexpr std::uint32_t kApart = 32 * Tuple;
#pragma unroll 1
    for (std::uint32_t row = 0; row < values; row += kApart * kStrideTogether) {
#pragma unroll 1
      for (std::uint32_t from = row + thread; from < row + kApart; from += 32) {
        Word some[kStrideTogether] = {};
#pragma unroll
        for (std::uint32_t i = 0; i < kStrideTogether; ++i) {
          if (from + kApart * i >= values) break;
          some[i] = value_of(tile, from + kApart * i) + sum_of(from + kApart * i);
          sum_of(from + kApart * i) = some[i];
        }
        finish(static_cast<int>(from % Tuple), some);
        put(tile, from, kApart, values, some);
      }
    }
  }
  /// Each thread walks down its own sums.
  template <class Finish>
  __device__ void walk_down(unsigned char* tile, std::uint32_t values, int thread,
                            const Finish& finish) const {
#pragma unroll 1
    for (std::uint32_t column = thread; column < columns_; column += 32) {
      Word& kept = sum_of(column);
      Word sum = kept;
#pragma unroll 1
      for (std::uint32_t from = column; from < values; from += kStrideTogether * columns_) {
        Word some[kStrideTogether] = {};
#pragma unroll
        for (std::uint32_t i = 0; i < kStrideTogether; ++i)
          if (from + i * columns_ < values) some[i] = value_of(tile, from + i * columns_);
#pragma unroll
        for (Word& value : some) value = sum += value;
        finish(static_cast<int>(column % Tuple), some);
        put(tile, from, columns_, values, some);
      }
      kept = sum;
    }
  }
  /// Puts values that lie so far apart to the tile, as far as it has them.
  __device__ static void put(unsigned char* tile, std::uint32_t from, std::uint32_t apart,
                             std::uint32_t values, const Word (&some)[kStrideTogether]) {
#pragma unroll
    for (std::uint32_t i = 0; i < kStrideTogether; ++i)
      if (from + apart * i < values)
        value_of(tile, from + apart * i) = static_cast<Value>(some[i]);
  }

  Word* sums_;
  const LaneMaps* lane_maps_;
  std::uint32_t columns_;    // running sums side by side
  std::uint32_t step_;       // from tile to tile
  std::uint32_t first_;      // the sum of the next tile's first value
  std::uint8_t map_;
  bool big_endian_, plain_;
};

// ---- Where values go

/// The check of a page from the pieces of its tiles, row by row.
template <int ValueBytes, int Tuple>
struct RowCheck {
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  static constexpr int kPieceWords = Shape::kPieceBytes / 4;
  static constexpr int kRowBits = 6;
  static_assert(kWarpPathGroups * kGroupValues * ValueBytes <= (32 * Shape::kPieceBytes) << kRowBits);

  /// What lies behind a page's last tuple in its last tile is zero.
  __device__ void add(const unsigned char* tile, int thread) {
#pragma unroll
    for (int i = 0; i < Shape::kRunPieces; ++i) {
      const auto* const piece =
          reinterpret_cast<const uint2*>(tile + Shape::kPieceBytes * PieceSlots<Shape::kRunPieces>::of_row(thread, i));
      std::uint32_t words[kPieceWords];
#pragma unroll
      for (int k = 0; k < kPieceWords / 2; ++k) {
        words[2 * k] = piece[k].x;
        words[2 * k + 1] = piece[k].y;
      }
      rows.add(words);
    }
  }
  __device__ std::uint32_t value(unsigned tiles, std::uint64_t tuples, int thread) const {
    return rows.template value<kRowBits>(tiles * Shape::kRunPieces, tuples, thread);
  }

  PageCheck<kPieceWords> rows;
};

/// Sums the tiles of a page along the stride, stores them, and holds the page against its check.
template <int ValueBytes, int Tuple>
struct StrideStore {
  using Word = WordOf<ValueBytes>;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;

  __device__ void open(const ColumnTask& task, const PageView& page) {
    tiles.open(task, page);
    sums.open(page);
  }
  __device__ void take(const Word (&values)[Tuple][Shape::kRunTuples], std::uint32_t left,
                       int thread) {
    tiles.take(values, left, thread);
    if (left < Shape::kTileTuples)
      keep_bytes(tiles.words,
                 (static_cast<int>(left) - Shape::kRunTuples * thread) * Shape::kTupleBytes);
  }
  __device__ void store(unsigned char* tile, std::uint32_t left, const ColumnTask& task,
                        int thread) {
    tiles.put(tile, thread);
    __syncwarp();  // the tile is whole
    sums.undo(tile, left, thread);
    __syncwarp();  // it is summed
    if (differs_at != nullptr) check.add(tile, thread);
    tiles.leave(tile, left, task, thread);
  }
  __device__ void close(const ColumnTask& task, const PageView& page, unsigned num_tiles,
                        int thread) const {
    if (differs_at != nullptr) compare_page(check, task, page, num_tiles, differs_at, thread);
  }

  StrideSums<ValueBytes, Tuple>& sums;
  unsigned long long* differs_at;  // null: nothing is verified
  TileStore<ValueBytes, Tuple, false> tiles = {};
  RowCheck<ValueBytes, Tuple> check = {};
};

// ---- Kernel and launcher

/// The pages of a column, one after the other: where the next but one lies and the head of the next one are on their way.
template <int ValueBytes, int Tuple>
__device__ void decode_strided_column(StrideWarpShared<ValueBytes, Tuple>& mine,
                                      const ColumnTask& in_memory, const LaneMaps* lane_maps,
                                      const UnpackArgs& args) {
  auto& shared = mine.pages;
  const int thread = device::thread_of_warp();
  __syncwarp();  // nobody reads the column before this one any more
  fetch_task(shared, in_memory, 0, 0);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();  // the task is there, and where its first page lies
  const ColumnTask& task = *reinterpret_cast<const ColumnTask*>(shared.tasks[0]);
  const auto view_of = [&](std::uint32_t page) {
    return uniform_view(fetched_view(shared.ends[page % 3], task, page));
  };
  StrideSums<ValueBytes, Tuple> sums(mine.sums, task, lane_maps, thread);
  unsigned long long* const differs_at =
      task.path == ColumnPath::page_strides_verified ? args.differs_at : nullptr;
  const std::uint32_t pages = device::warp_uniform(task.num_pages);
  fetch_head(shared.head[0], task, view_of(0));
  if (pages > 1) fetch_ends(shared.ends[1], task, 1);
  __pipeline_commit();
#pragma unroll 1
  for (std::uint32_t page = 0; page < pages; ++page) {
    __pipeline_wait_prior(0);
    __syncwarp();  // this page's head has come, and where the next one lies
    if (page + 1 < pages) fetch_head(shared.head[(page + 1) % 2], task, view_of(page + 1));
    if (page + 2 < pages) fetch_ends(shared.ends[(page + 2) % 3], task, page + 2);
    decode_page<ValueBytes, Tuple>(
        shared, task, view_of(page), shared.head[page % 2], args.damaged_at,
        StrideStore<ValueBytes, Tuple>{.sums = sums, .differs_at = differs_at});
    __pipeline_commit();
  }
}

template <int ValueBytes, int Tuple>
__global__ void __launch_bounds__(32 * stride_warps(ValueBytes, Tuple), kStrideBlocks)
    stride_pages_kernel(UnpackArgs args, const LaneMaps* lane_maps) {
  device::start_successor();
  constexpr int kWarps = stride_warps(ValueBytes, Tuple);
  __shared__ StrideWarpShared<ValueBytes, Tuple> shared[kWarps];
  const int warp = device::warp_number();
  auto& mine = shared[warp];
  open_warp_shared(mine.pages);
  device::wait_for_predecessor();
  // Warps of different blocks come first, so that few columns use many multiprocessors.
  const std::uint32_t first = warp * gridDim.x + blockIdx.x;
  for (std::uint32_t i = args.first_task + first; i < args.end_task;
       i += kWarps * gridDim.x) {
    const ColumnTask& task = args.tasks[i];
    if (task.is_summed_by_warp())
      decode_strided_column(mine, task, task.map == kMapsOfLanes ? lane_maps + i : nullptr, args);
  }
}

template <int ValueBytes, int Tuple>
cudaError_t launch_stride_pages_of(const UnpackArgs& args, const LaneMaps* lane_maps,
                                   cudaStream_t stream) {
  constexpr int kWarps = stride_warps(ValueBytes, Tuple);
  constexpr auto kKernel = stride_pages_kernel<ValueBytes, Tuple>;
  int most = 0;
  if (auto error = device::resident_blocks<kKernel>(32 * kWarps, most)) return error;
  const auto blocks = std::min(args.end_task - args.first_task, static_cast<std::uint32_t>(most));
  if (blocks == 0) return cudaSuccess;
  return device::launch_after<kKernel>(blocks, 32 * kWarps, stream, args, lane_maps);
}

template <int ValueBytes>
cudaError_t launch_stride_pages_width(int tuple, const UnpackArgs& args, const LaneMaps* lane_maps,
                                      cudaStream_t stream) {
  return for_narrow_tuple(tuple, [&](auto lanes) {
    return launch_stride_pages_of<ValueBytes, decltype(lanes)::value>(args, lane_maps, stream);
  });
}

}  // namespace gdelta::cuda
