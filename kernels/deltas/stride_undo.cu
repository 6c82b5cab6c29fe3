#include "kernels/deltas/stride_undo_cuda.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/pages/page_limits.h"
#include "kernels/words/undo_lane_maps.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 512;
constexpr int kBlocksPerSm = 2;
constexpr std::uint32_t kMostRows = 1 << 14;  // blocks side by side; each takes a task at a time
constexpr std::uint32_t kMaxSlices = 256;
constexpr std::uint32_t kMostInWarp = 16;  // columns of which a warp has several threads each

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

/// Values that lie at multiples of their width.
template <class Value>
struct AlignedValues {
  using Word = WordOf<sizeof(Value)>;
  static constexpr int kTileRows = 64 / sizeof(Word);

  explicit __device__ AlignedValues(int) {}
  __device__ int bytes() const { return sizeof(Value); }
  __device__ Word load(const unsigned char* p) const { return *reinterpret_cast<const Value*>(p); }
  __device__ void store(unsigned char* p, Word value) const {
    *reinterpret_cast<Value*>(p) = static_cast<Value>(value);
  }
};

/// Values at any address, byte by byte.
template <class WordOfValue>
struct OddValues {
  using Word = WordOfValue;
  static constexpr int kTileRows = 8;

  explicit __device__ OddValues(int width) : value_bytes(width) {}
  __device__ int bytes() const { return value_bytes; }
  __device__ Word load(const unsigned char* p) const {
    return load_value<Word>(p, value_bytes, false);
  }
  __device__ void store(unsigned char* p, Word value) const {
    store_value(p, value_bytes, false, value);
  }

  int value_bytes;
};

/// The columns of a task under one of its strides.
template <class Values>
struct Walk {
  using Word = typename Values::Word;

  const ColumnTask& task;
  const LaneMaps* lane_maps;  // null: all lanes have the task's map
  Values in_memory;
  std::uint32_t stride;
  std::uint32_t columns;
  std::uint64_t step_bytes;  // from row to row
  bool last;  // behind it values are as the column has them, without map and in its byte order

  /// Rows from `p` on, of which there are `count` or more than kRows; the others are zero.
  template <int kRows>
  __device__ void load(const unsigned char* p, std::uint32_t count, Word (&values)[kRows]) const {
#pragma unroll
    for (int i = 0; i < kRows; ++i, p += step_bytes)
      values[i] = i < count ? in_memory.load(p) : Word{0};
  }

  /// Values become their running sums from `sum` on and are stored; returns the last sum.
  template <int kRows>
  __device__ Word store_sums(unsigned char* p, int lane, std::uint32_t count, Word (&values)[kRows],
                             Word sum) const {
#pragma unroll
    for (int i = 0; i < kRows; ++i) values[i] = sum += values[i];
    if (last) finish(lane, values);
#pragma unroll
    for (int i = 0; i < kRows; ++i, p += step_bytes)
      if (i < count) in_memory.store(p, values[i]);
    return sum;
  }

 private:
  template <int kRows>
  __device__ void finish(int lane, Word (&values)[kRows]) const {
    if (lane_maps != nullptr) {
      undo_lane_map(*lane_maps, lane, in_memory.bytes(), values);
      return;
    }
    with_map(task.map, [&](auto of) {
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        values[i] = decltype(of)::undo(values[i], 8 * in_memory.bytes());
    });
    if (!task.big_endian) return;
#pragma unroll
    for (int i = 0; i < kRows; ++i) values[i] = swap_value(values[i], in_memory.bytes());
  }
};

/// Each thread walks down its own columns. What comes next is on its way while rows are stored.
template <class Values>
__device__ void walk_down(const Walk<Values>& walk) {
  using Word = typename Values::Word;
  constexpr std::uint32_t kRows = Values::kTileRows / 2;
  const std::uint64_t step = kRows * walk.step_bytes;
  const std::uint32_t threads = gridDim.y * kThreads;
  for (std::uint32_t c = blockIdx.y * kThreads + threadIdx.x; c < walk.columns; c += threads) {
    const StrideColumn column = stride_column(walk.task, walk.stride, c);
    unsigned char* p = column.first;
    Word sum = 0;
    Word next[kRows];
    walk.load(p, column.rows, next);
    for (std::uint32_t row = 0; row < column.rows; row += kRows, p += step) {
      Word values[kRows];
#pragma unroll
      for (std::uint32_t i = 0; i < kRows; ++i) values[i] = next[i];
      const std::uint32_t left = column.rows - row;
      walk.load(p + step, left > kRows ? left - kRows : 0, next);
      sum = walk.store_sums(p, column.lane, left, values, sum);
    }
  }
}

/// Sums over the threads of a block that have the same column.
template <class Word>
struct TileSums {
  Word before;  // of the threads before this one
  Word all;
};

/// Thread t has column t mod `columns`. `sums` is for kThreads; the block may use it again behind its next barrier
/// but one.
template <class Word>
__device__ TileSums<Word> sum_tile(Word own, std::uint32_t columns, Word* sums) {
  const std::uint32_t thread = threadIdx.x & 31, column = threadIdx.x % columns;
  Word up_to = own;  // of the threads of a group up to this one
  std::uint32_t group = threadIdx.x / columns, groups = kThreads / columns;
  if (columns <= kMostInWarp) {  // groups are warps, each with several threads of a column
    for (std::uint32_t distance = columns; distance < 32; distance *= 2) {
      const Word more = __shfl_up_sync(device::kWholeWarp, up_to, distance);
      if (thread >= distance) up_to += more;
    }
    group = threadIdx.x / 32;
    groups = kThreads / 32;
    if (thread + columns >= 32) sums[group * columns + column] = up_to;
  } else {
    sums[threadIdx.x] = own;
  }
  __syncthreads();  // the sums of all groups are there
  TileSums<Word> tile{up_to - own, 0};
#pragma unroll 4
  for (std::uint32_t i = 0; i < groups; ++i) {
    const Word sum = sums[i * columns + column];
    tile.all += sum;
    if (i < group) tile.before += sum;
  }
  return tile;
}

/// A block walks down all columns together, a tile after the other; each thread has consecutive rows of a column. The
/// next tile is on its way while this one is summed and stored, so every value is read once.
template <class Values>
__device__ void walk_in_tiles(const Walk<Values>& walk,
                              typename Values::Word (&sums)[2][kThreads]) {
  using Word = typename Values::Word;
  constexpr std::uint32_t kRows = Values::kTileRows;
  const std::uint32_t stretches = kThreads / walk.columns, stretch = threadIdx.x / walk.columns;
  const StrideColumn column = stride_column(walk.task, walk.stride, threadIdx.x % walk.columns);
  const std::uint32_t end = stretch < stretches ? column.rows : 0;
  const std::uint32_t most_rows = (walk.task.records + walk.stride - 1) / walk.stride;
  const std::uint32_t tile_rows = stretches * kRows;
  const std::uint64_t tile_bytes = tile_rows * walk.step_bytes;
  std::uint32_t row = stretch * kRows;
  unsigned char* p = column.first + row * walk.step_bytes;
  const auto rows_from = [&](std::uint32_t first) { return first < end ? end - first : 0; };
  Word sum = 0;  // of all tiles before this one
  Word next[kRows];
  walk.load(p, rows_from(row), next);
  int turn = 0;
  for (std::uint32_t first = 0; first < most_rows; first += tile_rows, turn ^= 1) {
    Word values[kRows];
    Word own = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; ++i) own += values[i] = next[i];
    walk.load(p + tile_bytes, rows_from(row + tile_rows), next);
    const TileSums<Word> tile = sum_tile(own, walk.columns, sums[turn]);
    walk.store_sums(p, column.lane, rows_from(row), values, sum + tile.before);
    sum += tile.all;
    row += tile_rows;
    p += tile_bytes;
  }
  __syncthreads();  // the sums have been read
}

template <class Values>
__device__ void undo_link(const ColumnTask& task, const LaneMaps* lane_maps, int link,
                          typename Values::Word (&sums)[2][kThreads]) {
  const std::uint32_t stride = task.strides[link].stride;
  const int order = static_cast<int>(task.strides[link].order);
  Walk<Values> walk{.task = task,
                    .lane_maps = lane_maps,
                    .in_memory = Values(task.value_bytes),
                    .stride = stride,
                    .columns = stride * task.tuple,
                    .step_bytes = static_cast<std::uint64_t>(stride) * task.record_bytes,
                    .last = false};
  // Orders of strides are seldom more than one, so each is a walk of its own.
  for (int k = 1; k <= order; ++k) {
    walk.last = link == 0 && k == order;
    if (walk.columns > kThreads / 2) {
      walk_down(walk);
    } else if (blockIdx.y == 0) {
      walk_in_tiles(walk, sums);
    }
  }
}

__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    stride_undo_kernel(const ColumnTask* tasks, const LaneMaps* all_maps, std::uint32_t num_tasks,
                       int link) {
  device::start_successor();
  __shared__ union {
    std::uint32_t of_words[2][kThreads];
    std::uint64_t of_longs[2][kThreads];
  } sums;
  device::wait_for_predecessor();
  for (std::uint32_t i = blockIdx.x; i < num_tasks; i += gridDim.x) {
    const ColumnTask& task = tasks[i];
    if (task.path < ColumnPath::page_warp || !task.has_link(link)) continue;
    const LaneMaps* const maps = task.map == kMapsOfLanes ? all_maps + i : nullptr;
    const int width = task.value_bytes;
    const bool aligned = is_value_aligned(task.out, task.record_bytes, width);
    if (width == 8) {
      if (aligned)
        undo_link<AlignedValues<std::uint64_t>>(task, maps, link, sums.of_longs);
      else
        undo_link<OddValues<std::uint64_t>>(task, maps, link, sums.of_longs);
    } else if (!aligned) {
      undo_link<OddValues<std::uint32_t>>(task, maps, link, sums.of_words);
    } else if (width == 4) {
      undo_link<AlignedValues<std::uint32_t>>(task, maps, link, sums.of_words);
    } else if (width == 2) {
      undo_link<AlignedValues<std::uint16_t>>(task, maps, link, sums.of_words);
    } else {
      undo_link<AlignedValues<std::uint8_t>>(task, maps, link, sums.of_words);
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
