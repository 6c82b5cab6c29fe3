#include <type_traits>

#include "kernels/deltas/stride_undo_cuda.h"
#include "kernels/device/kernel_facts.cuh"
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
constexpr std::uint32_t kMostTogether = kThreads / 2;  // columns that a block walks down together
constexpr int kTeam = 8;  // blocks, a cluster, that share a task where there are few tasks

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

/// Four neighbouring values of three bytes.
struct alignas(16) Quad {
  std::uint32_t values[4];

  __device__ Quad& operator+=(const Quad& other) {
#pragma unroll
    for (int i = 0; i < 4; ++i) values[i] += other.values[i];
    return *this;
  }
  __device__ Quad operator+(const Quad& other) const { return Quad(*this) += other; }
  __device__ Quad operator-(const Quad& other) const {
    Quad difference = *this;
#pragma unroll
    for (int i = 0; i < 4; ++i) difference.values[i] -= other.values[i];
    return difference;
  }
};

/// Values of three bytes, four neighbours at a time: three words, which lie at multiples of four bytes.
struct QuadValues {
  using Word = Quad;
  static constexpr int kTileRows = 4;

  explicit __device__ QuadValues(int) {}
  __device__ int bytes() const { return 3; }
  __device__ Quad load(const unsigned char* p) const {
    const auto* const words = reinterpret_cast<const std::uint32_t*>(p);
    const std::uint32_t first = words[0], second = words[1], third = words[2];
    return {{first, __funnelshift_r(first, second, 24), __funnelshift_r(second, third, 16),
             third >> 8}};
  }
  __device__ void store(unsigned char* p, const Quad& quad) const {
    auto* const words = reinterpret_cast<std::uint32_t*>(p);
    words[0] = __byte_perm(quad.values[0], quad.values[1], 0x4210);
    words[1] = __byte_perm(quad.values[1], quad.values[2], 0x5421);
    words[2] = __byte_perm(quad.values[2], quad.values[3], 0x6542);
  }
};

/// Whether a task's columns under a stride are quads: neighbours in memory, and whole ones in the last row, too.
__device__ bool has_quads(const ColumnTask& task, std::uint32_t stride) {
  return task.value_bytes == 3 && task.record_bytes == task.tuple_bytes() &&
         stride * task.tuple % 4 == 0 && task.records * task.tuple % 4 == 0 &&
         (reinterpret_cast<std::uintptr_t>(task.out) & 3) == 0;
}

template <class Word>
__device__ Word from_below(const Word& word, std::uint32_t distance) {
  if constexpr (std::is_same_v<Word, Quad>) {
    Quad below;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      below.values[i] = __shfl_up_sync(device::kWholeWarp, word.values[i], distance);
    return below;
  } else {
    return __shfl_up_sync(device::kWholeWarp, word, distance);
  }
}

template <class Word>
__device__ void store_in_team(Word* mine, int block, const Word& word) {
  if constexpr (std::is_same_v<Word, Quad>) {
#pragma unroll
    for (int i = 0; i < 4; ++i) device::store_remote(mine->values + i, block, word.values[i]);
  } else {
    device::store_remote(mine, block, word);
  }
}

/// The block among those that share its tasks.
template <int kBlocks>
struct TeamPlace {
  std::uint32_t rank;
  std::uint32_t blocks;  // kBlocks of a cluster; of one block each there may be more
};

/// Of one block, or in a cluster of kBlocks.
template <class Word, int kBlocks>
struct Sums {
  static constexpr std::uint32_t kColumns = kMostTogether / (std::is_same_v<Word, Quad> ? 4 : 1);
  Word threads[2][kThreads];
  Word blocks[2][kBlocks > 1 ? kBlocks : 1][kBlocks > 1 ? kColumns : 1];
};

/// The columns of a task under one of its strides: of one value a row, or four.
template <class Values>
struct Walk {
  using Word = typename Values::Word;
  static constexpr std::uint32_t kAcross = std::is_same_v<Word, Quad> ? 4 : 1;

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
      values[i] = i < count ? in_memory.load(p) : Word{};
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
  __device__ void finish(int lane, Quad (&quads)[kRows]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      std::uint32_t values[kRows];
#pragma unroll
      for (int row = 0; row < kRows; ++row) values[row] = quads[row].values[i];
      finish((lane + i) % task.tuple, values);
#pragma unroll
      for (int row = 0; row < kRows; ++row) quads[row].values[i] = values[row];
    }
  }
  template <int kRows, class Value>
  __device__ void finish(int lane, Value (&values)[kRows]) const {
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
template <class Values, int kBlocks>
__device__ void walk_down(const Walk<Values>& walk, const TeamPlace<kBlocks>& place) {
  using Word = typename Values::Word;
  constexpr std::uint32_t kRows = Values::kTileRows / 2;
  const std::uint64_t step = kRows * walk.step_bytes;
  const std::uint32_t threads = place.blocks * kThreads;
  for (std::uint32_t c = place.rank * kThreads + threadIdx.x; c < walk.columns; c += threads) {
    const StrideColumn column = stride_column(walk.task, walk.stride, c * walk.kAcross);
    unsigned char* p = column.first;
    Word sum{};
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

/// Sums over the threads of a block, or of a team, that have the same column.
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
      const Word more = from_below(up_to, distance);
      if (thread >= distance) up_to += more;
    }
    group = threadIdx.x / 32;
    groups = kThreads / 32;
    if (thread + columns >= 32) sums[group * columns + column] = up_to;
  } else {
    sums[threadIdx.x] = own;
  }
  __syncthreads();  // the sums of all groups are there
  TileSums<Word> tile{up_to - own, Word{}};
#pragma unroll 4
  for (std::uint32_t i = 0; i < groups; ++i) {
    const Word sum = sums[i * columns + column];
    tile.all += sum;
    if (i < group) tile.before += sum;
  }
  return tile;
}

/// The sums of blocks become those of their team. `sums` is for all blocks of it, and free again behind their next
/// barrier but one.
template <int kBlocks, std::size_t kColumns, class Word>
__device__ void sum_team(TileSums<Word>& tile, std::uint32_t columns, std::uint32_t rank,
                         Word (&sums)[kBlocks][kColumns]) {
  if (threadIdx.x < columns)
    for (int block = 0; block < kBlocks; ++block)
      store_in_team(&sums[rank][threadIdx.x], block, tile.all);
  device::cluster_arrive();
  device::cluster_wait();  // the sums of all blocks are there
  tile.all = Word{};
#pragma unroll
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    const Word sum = sums[block][threadIdx.x % columns];
    tile.all += sum;
    if (block < rank) tile.before += sum;
  }
}

/// A block, or a team, walks down all columns together, a tile after the other; each thread has consecutive rows of a
/// column. The next tile is on its way while this one is summed and stored, so every value is read once.
template <class Values, int kBlocks>
__device__ void walk_in_tiles(const Walk<Values>& walk, const TeamPlace<kBlocks>& place,
                              Sums<typename Values::Word, kBlocks>& sums) {
  using Word = typename Values::Word;
  constexpr std::uint32_t kRows = Values::kTileRows;
  const std::uint32_t stretches = kThreads / walk.columns, stretch = threadIdx.x / walk.columns;
  const StrideColumn column =
      stride_column(walk.task, walk.stride, threadIdx.x % walk.columns * walk.kAcross);
  const std::uint32_t end = stretch < stretches ? column.rows : 0;
  const std::uint32_t most_rows = (walk.task.records + walk.stride - 1) / walk.stride;
  const std::uint32_t tile_rows = kBlocks * stretches * kRows;
  const std::uint64_t tile_bytes = tile_rows * walk.step_bytes;
  std::uint32_t row = stretch * kRows;
  if constexpr (kBlocks > 1) row += place.rank * stretches * kRows;
  unsigned char* p = column.first + row * walk.step_bytes;
  const auto rows_from = [&](std::uint32_t first) { return first < end ? end - first : 0; };
  Word sum{};  // of all tiles before this one
  Word next[kRows];
  walk.load(p, rows_from(row), next);
  int turn = 0;
  for (std::uint32_t first = 0; first < most_rows; first += tile_rows, turn ^= 1) {
    Word values[kRows];
    Word own{};
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; ++i) own += values[i] = next[i];
    walk.load(p + tile_bytes, rows_from(row + tile_rows), next);
    TileSums<Word> tile = sum_tile(own, walk.columns, sums.threads[turn]);
    if constexpr (kBlocks > 1) sum_team(tile, walk.columns, place.rank, sums.blocks[turn]);
    walk.store_sums(p, column.lane, rows_from(row), values, sum + tile.before);
    sum += tile.all;
    row += tile_rows;
    p += tile_bytes;
  }
  __syncthreads();  // the sums have been read
  if constexpr (kBlocks > 1) {
    device::cluster_arrive();
    device::cluster_wait();  // by the others, too
  }
}

template <class Values, int kBlocks>
__device__ void undo_link(const ColumnTask& task, const LaneMaps* lane_maps, int link,
                          const TeamPlace<kBlocks>& place,
                          Sums<typename Values::Word, kBlocks>& sums) {
  const std::uint32_t stride = task.strides[link].stride;
  const int order = static_cast<int>(task.strides[link].order);
  Walk<Values> walk{.task = task,
                    .lane_maps = lane_maps,
                    .in_memory = Values(task.value_bytes),
                    .stride = stride,
                    .columns = stride * task.tuple / Walk<Values>::kAcross,
                    .step_bytes = static_cast<std::uint64_t>(stride) * task.record_bytes,
                    .last = false};
  // Orders of strides are seldom more than one, so each is a walk of its own.
  for (int k = 1; k <= order; ++k) {
    walk.last = link == 0 && k == order;
    if (walk.columns > kMostTogether / walk.kAcross) {
      walk_down(walk, place);
    } else if (kBlocks > 1 || place.rank == 0) {
      walk_in_tiles(walk, place, sums);
    }
  }
}

template <int kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    stride_undo_kernel(const ColumnTask* tasks, const LaneMaps* all_maps, std::uint32_t num_tasks,
                       int link) {
  device::start_successor();
  __shared__ union {
    Sums<std::uint32_t, kBlocks> of_words;
    Sums<std::uint64_t, kBlocks> of_longs;
    Sums<Quad, kBlocks> of_quads;
  } sums;
  if constexpr (kBlocks > 1) device::cluster_arrive();  // this block runs and can be written to
  const TeamPlace<kBlocks> place = kBlocks > 1 ? TeamPlace<kBlocks>{blockIdx.x % kBlocks, kBlocks}
                                               : TeamPlace<kBlocks>{blockIdx.y, gridDim.y};
  device::wait_for_predecessor();
  if constexpr (kBlocks > 1) device::cluster_wait();  // every block of the team runs
  for (std::uint32_t i = blockIdx.x / kBlocks; i < num_tasks; i += gridDim.x / kBlocks) {
    const ColumnTask& task = tasks[i];
    if (task.path < ColumnPath::page_warp || task.is_summed_by_warp() || !task.has_link(link))
      continue;
    const LaneMaps* const maps = task.map == kMapsOfLanes ? all_maps + i : nullptr;
    const int width = task.value_bytes;
    const bool aligned = is_value_aligned(task.out, task.record_bytes, width);
    if (width == 8) {
      if (aligned)
        undo_link<AlignedValues<std::uint64_t>>(task, maps, link, place, sums.of_longs);
      else
        undo_link<OddValues<std::uint64_t>>(task, maps, link, place, sums.of_longs);
    } else if (has_quads(task, task.strides[link].stride)) {
      undo_link<QuadValues>(task, maps, link, place, sums.of_quads);
    } else if (!aligned) {
      undo_link<OddValues<std::uint32_t>>(task, maps, link, place, sums.of_words);
    } else if (width == 4) {
      undo_link<AlignedValues<std::uint32_t>>(task, maps, link, place, sums.of_words);
    } else if (width == 2) {
      undo_link<AlignedValues<std::uint16_t>>(task, maps, link, place, sums.of_words);
    } else {
      undo_link<AlignedValues<std::uint8_t>>(task, maps, link, place, sums.of_words);
    }
  }
}

}  // namespace

cudaError_t launch_stride_undo(const ColumnTask* tasks, const LaneMaps* lane_maps,
                               std::uint32_t num_tasks, int link, cudaStream_t stream) {
  if (num_tasks == 0) return cudaSuccess;
  int processors = 0, capability = 0;
  if (auto error = device::device_attribute<cudaDevAttrMultiProcessorCount>(processors))
    return error;
  if (auto error = device::compiled_for<stride_undo_kernel<kTeam>>(capability)) return error;
  // A tile of a team waits for its blocks, so if there are enough tasks for all processors, each is a block's.
  if (capability >= 90 && num_tasks < static_cast<std::uint32_t>(processors))
    return device::launch_clusters_after<stride_undo_kernel<kTeam>>(
        num_tasks, kTeam, kThreads, stream, tasks, lane_maps, num_tasks, link);
  const dim3 grid(num_tasks < kMostRows ? num_tasks : kMostRows,
                  num_tasks < kMaxSlices ? kMaxSlices / num_tasks : 1);
  return device::launch_after<stride_undo_kernel<1>>(grid, kThreads, stream, tasks, lane_maps,
                                                     num_tasks, link);
}

}  // namespace gdelta::cuda
