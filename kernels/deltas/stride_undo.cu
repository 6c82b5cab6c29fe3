#include "kernels/deltas/stride_undo_cuda.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/pages/page_limits.h"
#include "kernels/words/undo_lane_maps.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 512;
constexpr int kBlocksPerSm = 2;
constexpr std::uint32_t kMostRows = 1 << 14;  // blocks side by side; each takes a task at a time
constexpr std::uint32_t kMaxSlices = 256;
constexpr std::uint32_t kTileBytes = 16 << 10;
constexpr std::uint32_t kSumsBytes = 12 << 10;
constexpr std::uint32_t kMostStretches = 64;  // threads that share a column of a tile
/// Loads in flight of a thread; while it stores, twice as many.
template <class Word>
constexpr std::uint32_t kAhead = 32 / sizeof(Word);

/// The values `stride` tuples apart from one value on: what one running sum covers.
struct StrideColumn {
  unsigned char* first;
  int lane;
  std::uint32_t rows;
};

__device__ StrideColumn stride_column(const ColumnTask& task, std::uint32_t stride,
                                      std::uint32_t column) {
  const std::uint32_t tuple = column / task.tuple, lane = column % task.tuple;
  return {
      task.out + static_cast<std::uint64_t>(tuple) * task.record_bytes + lane * task.value_bytes,
      static_cast<int>(lane), (task.records - tuple + stride - 1) / stride};
}

/// How values stand in memory. What differs between columns is decided once for several rows.
struct Rows {
  int value_bytes;
  bool aligned;
  std::uint8_t map;
  bool big_endian;
  const LaneMaps* lane_maps;  // null: all lanes have `map`
  std::uint64_t step_bytes;

  template <class Word, int kRows>
  __device__ void load(const unsigned char* p, Word (&values)[kRows]) const {
    if (aligned && value_bytes == sizeof(Word)) {
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        values[i] = *reinterpret_cast<const Word*>(p + i * step_bytes);
      return;
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      values[i] = load_value<Word>(p + i * step_bytes, value_bytes, aligned);
  }
  /// Leaves values as the column has them, without map and in its byte order.
  template <class Word, int kRows>
  __device__ void finish(int lane, Word (&values)[kRows]) const {
    if (lane_maps != nullptr) undo_lane_map(*lane_maps, lane, value_bytes, values);
    if (map != 0)
      with_map(map, [&](auto of) {
#pragma unroll
        for (int i = 0; i < kRows; ++i) values[i] = decltype(of)::undo(values[i], 8 * value_bytes);
      });
    if (big_endian)
#pragma unroll
      for (int i = 0; i < kRows; ++i) values[i] = swap_value(values[i], value_bytes);
  }
  /// `last`: finished.
  template <class Word, int kRows>
  __device__ void store(unsigned char* p, int lane, Word (&values)[kRows], bool last) const {
    if (last) finish(lane, values);
    if (aligned && value_bytes == sizeof(Word)) {
#pragma unroll
      for (int i = 0; i < kRows; ++i) *reinterpret_cast<Word*>(p + i * step_bytes) = values[i];
      return;
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      store_value(p + i * step_bytes, value_bytes, aligned, values[i]);
  }
};

/// Some rows of a column that have been loaded become their running sums.
template <int kRows, class Word>
__device__ __forceinline__ void store_sums(unsigned char* p, int lane, const Rows& rows, bool last,
                                           Word (&values)[kRows], Word& sum) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) values[i] = sum += values[i];
  rows.store(p, lane, values, last);
}

/// The same of all rows from `p` on, whose sum before them is `sum`. What comes next is on its way while rows are
/// stored.
template <class Word>
__device__ __forceinline__ void add_rows(unsigned char* p, int lane, std::uint32_t count,
                                         const Rows& rows, bool last, Word sum) {
  constexpr std::uint32_t kMany = kAhead<Word>;
  const std::uint64_t step = kMany * rows.step_bytes;
  Word next[kMany];
  if (count >= kMany) rows.load(p, next);
  for (; count >= kMany; count -= kMany, p += step) {
    Word values[kMany];
#pragma unroll
    for (int i = 0; i < kMany; ++i) values[i] = next[i];
    if (count >= 2 * kMany) rows.load(p + step, next);
    store_sums(p, lane, rows, last, values, sum);
  }
  for (; count > 0; --count, p += rows.step_bytes) {
    Word value[1];
    rows.load(p, value);
    store_sums(p, lane, rows, last, value, sum);
  }
}

/// Each thread walks down its own columns.
template <class Word>
__device__ void walk_down(const ColumnTask& task, std::uint32_t stride, std::uint32_t columns,
                          const Rows& rows, bool last) {
  const std::uint32_t threads = gridDim.y * kThreads;
  for (std::uint32_t c = blockIdx.y * kThreads + threadIdx.x; c < columns; c += threads) {
    const StrideColumn column = stride_column(task, stride, c);
    add_rows<Word>(column.first, column.lane, column.rows, rows, last, 0);
  }
}

/// What a block keeps of a column: a tile that is summed, the next one on its way, and the last row's sums.
template <class Word>
struct Tiles {
  static constexpr std::uint32_t kWords = kTileBytes / sizeof(Word);
  static constexpr std::uint32_t kMostColumns = kSumsBytes / sizeof(Word);

  alignas(16) uint4 tiles[2][kTileBytes / sizeof(uint4)];
  Word above[kMostColumns];  // sums of all rows before the tile
  Word stretches[kThreads];

  __device__ Word* words(int slot) { return reinterpret_cast<Word*>(tiles[slot]); }
};

/// Where the values of a column's tiles are: all of them, or those of the column between others.
template <class Word>
struct TileSource {
  unsigned char* out;
  std::uint32_t tuple, record_bytes;
  const Rows& rows;
  bool whole;  // the column is the record, and granules of 16 bytes are whole words of it

  __device__ unsigned char* place(std::uint32_t value) const {
    return out + static_cast<std::uint64_t>(value / tuple) * record_bytes +
           value % tuple * rows.value_bytes;
  }
  /// `begin` is a multiple of a granule if they are whole. What comes by granules is there behind wait_for_parked.
  __device__ void load(uint4* tile, std::uint32_t begin, std::uint32_t count) const {
    constexpr std::uint32_t kGranule = sizeof(uint4) / sizeof(Word);
    const std::uint32_t granules = whole ? count / kGranule : 0;
    const auto* const from = reinterpret_cast<const uint4*>(out) + begin / kGranule;
    for (std::uint32_t i = threadIdx.x; i < granules; i += kThreads)
      device::park(tile + i, from + i);
    for (std::uint32_t i = granules * kGranule + threadIdx.x; i < count; i += kThreads)
      reinterpret_cast<Word*>(tile)[i] =
          load_value<Word>(place(begin + i), rows.value_bytes, rows.aligned);
  }
  __device__ void store(const uint4* tile, std::uint32_t begin, std::uint32_t count) const {
    constexpr std::uint32_t kGranule = sizeof(uint4) / sizeof(Word);
    const std::uint32_t granules = whole ? count / kGranule : 0;
    auto* const to = reinterpret_cast<uint4*>(out) + begin / kGranule;
    for (std::uint32_t i = threadIdx.x; i < granules; i += kThreads) to[i] = tile[i];
    for (std::uint32_t i = granules * kGranule + threadIdx.x; i < count; i += kThreads)
      store_value(place(begin + i), rows.value_bytes, rows.aligned,
                  reinterpret_cast<const Word*>(tile)[i]);
  }
};

/// Rows of a column in a tile become running sums from `sum` on, finished if they are the last; gives the sum.
template <class Word>
__device__ Word sum_rows(Word* at, std::uint32_t columns, std::uint32_t count, int lane,
                         const Rows& rows, bool last, Word sum) {
  constexpr std::uint32_t kMany = 4;
  for (; count >= kMany; count -= kMany, at += kMany * columns) {
    Word values[kMany];
#pragma unroll
    for (std::uint32_t i = 0; i < kMany; ++i) values[i] = sum += at[i * columns];
    if (last) rows.finish(lane, values);
#pragma unroll
    for (std::uint32_t i = 0; i < kMany; ++i) at[i * columns] = values[i];
  }
  for (; count > 0; --count, at += columns) {
    Word value[1] = {sum += *at};
    if (last) rows.finish(lane, value);
    *at = value[0];
  }
  return sum;
}

/// Sums a tile that is there. Several threads share a column if there are enough of them, a stretch of rows each.
template <class Word>
__device__ void sum_tile(Tiles<Word>& shared, Word* tile, std::uint32_t count,
                         std::uint32_t columns, int tuple, const Rows& rows, bool last) {
  const auto rows_of = [&](std::uint32_t c) {
    return c < count ? (count - c + columns - 1) / columns : 0;
  };
  const std::uint32_t parts = min(kThreads / columns, kMostStretches);
  if (parts <= 1) {
    for (std::uint32_t c = threadIdx.x; c < columns; c += kThreads)
      shared.above[c] = sum_rows(tile + c, columns, rows_of(c), static_cast<int>(c % tuple), rows,
                                 last, shared.above[c]);
    return;
  }
  const std::uint32_t c = threadIdx.x % columns, part = threadIdx.x / columns;
  const bool works = part < parts;
  const std::uint32_t all_rows = rows_of(c), part_rows = (all_rows + parts - 1) / parts;
  const std::uint32_t begin = min(part * part_rows, all_rows);
  const std::uint32_t end = works ? min(begin + part_rows, all_rows) : begin;
  Word* const first = tile + begin * columns + c;
  Word sum = 0;
  const Word* at = first;
  for (std::uint32_t row = begin; row < end; ++row, at += columns) sum += *at;
  if (works) shared.stretches[threadIdx.x] = sum;
  __syncthreads();  // all sums are there
  Word before = works ? shared.above[c] : 0;
  for (std::uint32_t i = 0; works && i < part; ++i) before += shared.stretches[i * columns + c];
  __syncthreads();  // sums and those above have been read
  if (!works) return;
  const Word after =
      sum_rows(first, columns, end - begin, static_cast<int>(c % tuple), rows, last, before);
  if (part == parts - 1) shared.above[c] = after;
}

/// Rows of a tile: whole ones, whose bytes are whole granules; 0: it has no room for any.
template <class Word>
__device__ std::uint32_t rows_of_tile(std::uint32_t columns) {
  std::uint32_t together = sizeof(uint4) / sizeof(Word);  // so many rows are always whole granules
  for (std::uint32_t even = columns; together > 1 && even % 2 == 0; even /= 2) together /= 2;
  return Tiles<Word>::kWords / columns / together * together;
}

/// The block goes along the column, tile by tile: one read and one write.
template <class Word>
__device__ void walk_tiles(const ColumnTask& task, std::uint32_t columns, const Rows& rows,
                           bool last, Tiles<Word>& shared) {
  const TileSource<Word> source{
      .out = task.out,
      .tuple = task.tuple,
      .record_bytes = task.record_bytes,
      .rows = rows,
      .whole = rows.value_bytes == sizeof(Word) && task.record_bytes == task.tuple_bytes() &&
               reinterpret_cast<std::uintptr_t>(task.out) % sizeof(uint4) == 0};
  const std::uint32_t all = task.records * task.tuple;
  const std::uint32_t room = rows_of_tile<Word>(columns) * columns;
  for (std::uint32_t c = threadIdx.x; c < columns; c += kThreads) shared.above[c] = 0;
  source.load(shared.tiles[0], 0, min(room, all));
  int slot = 0;
  for (std::uint32_t begin = 0; begin < all; begin += room, slot ^= 1) {
    const std::uint32_t count = min(room, all - begin);
    device::wait_for_parked();
    __syncthreads();  // the tile is there, the one before has been stored
    if (begin + count < all)
      source.load(shared.tiles[slot ^ 1], begin + count, min(room, all - begin - count));
    sum_tile(shared, shared.words(slot), count, columns, task.tuple, rows, last);
    __syncthreads();  // the tile has been summed
    source.store(shared.tiles[slot], begin, count);
  }
  __syncthreads();  // the last tile has been stored
}

template <class Word>
__device__ void undo_link(const ColumnTask& task, const LaneMaps* lane_maps, int link,
                          Tiles<Word>& shared) {
  const std::uint32_t stride = task.strides[link].stride;
  const int order = static_cast<int>(task.strides[link].order);
  const std::uint32_t columns = stride * task.tuple;
  const Rows rows{.value_bytes = task.value_bytes,
                  .aligned = is_value_aligned(task.out, task.record_bytes, task.value_bytes),
                  .map = task.map,
                  .big_endian = task.big_endian,
                  .lane_maps = lane_maps,
                  .step_bytes = static_cast<std::uint64_t>(stride) * task.record_bytes};
  // If there are few tasks, blocks share the columns of one.
  const std::uint32_t most_columns = gridDim.y > 1 ? kThreads / 2 : Tiles<Word>::kMostColumns;
  // Orders of strides are seldom more than one, so each is a walk of its own.
  for (int k = 1; k <= order; ++k) {
    const bool last = link == 0 && k == order;
    if (columns > most_columns || rows_of_tile<Word>(columns) == 0) {
      walk_down<Word>(task, stride, columns, rows, last);
    } else if (blockIdx.y == 0) {
      walk_tiles<Word>(task, columns, rows, last, shared);
    }
  }
}

__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    stride_undo_kernel(const ColumnTask* tasks, const LaneMaps* all_maps, std::uint32_t num_tasks,
                       int link) {
  device::start_successor();
  __shared__ union {
    Tiles<std::uint32_t> narrow;
    Tiles<std::uint64_t> wide;
  } shared;
  device::wait_for_predecessor();
  for (std::uint32_t i = blockIdx.x; i < num_tasks; i += gridDim.x) {
    const ColumnTask& task = tasks[i];
    if (task.path < ColumnPath::page_warp || !task.has_link(link)) continue;
    const LaneMaps* const maps = task.map == kMapsOfLanes ? all_maps + i : nullptr;
    if (task.value_bytes == 8) {
      undo_link<std::uint64_t>(task, maps, link, shared.wide);
    } else {
      undo_link<std::uint32_t>(task, maps, link, shared.narrow);
    }
  }
}

}  // namespace

cudaError_t launch_stride_undo(const ColumnTask* tasks, const LaneMaps* lane_maps,
                               std::uint32_t num_tasks, int link, cudaStream_t stream) {
  if (num_tasks == 0) return cudaSuccess;
  const dim3 grid(num_tasks < kMostRows ? num_tasks : kMostRows,
                  num_tasks < kMaxSlices ? kMaxSlices / num_tasks : 1);
  return device::launch_after<stride_undo_kernel>(grid, kThreads, stream, tasks, lane_maps,
                                                  num_tasks, link);
}

}  // namespace gdelta::cuda
