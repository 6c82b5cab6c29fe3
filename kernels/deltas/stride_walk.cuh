// A block, or several, walk down the running sums of a stride link: threads that each walk down their own, or a tile after
// the other together.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/deltas/finish_rows.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/pages/column_task.h"

namespace gdelta::cuda {

/// Columns of which a warp has several threads each, at most.
inline constexpr std::uint32_t kMostInWarp = 16;
/// Columns that a block of so many threads walks down together.
constexpr std::uint32_t most_together(int threads) {
  return static_cast<std::uint32_t>(threads / 2);
}

/// The values `stride` tuples apart from one value on: what one running sum covers.
struct StrideColumn {
  unsigned char* first;
  int lane;
  std::uint32_t rows;
};

__device__ inline StrideColumn stride_column(const ColumnTask& task, std::uint32_t stride,
                                             std::uint32_t column) {
  const std::uint32_t tuple = column / task.tuple, lane = column % task.tuple;
  return {
      task.out + static_cast<std::uint64_t>(tuple) * task.record_bytes + lane * task.value_bytes,
      static_cast<int>(lane), (task.records - tuple + stride - 1) / stride};
}

/// Tuples that are walked through at once.
struct TupleRange {
  std::uint32_t first, end;
};

/// The part of a column in a range.
__device__ inline StrideColumn stride_column(const ColumnTask& task, std::uint32_t stride,
                                             std::uint32_t column, const TupleRange& range) {
  const std::uint32_t tuple = column / task.tuple, lane = column % task.tuple;
  const auto rows_before = [&](std::uint32_t end) {
    return end > tuple ? (end - tuple + stride - 1) / stride : 0;
  };
  const std::uint32_t row = rows_before(range.first);
  return {task.out + (tuple + static_cast<std::uint64_t>(row) * stride) * task.record_bytes +
              lane * task.value_bytes,
          static_cast<int>(lane), rows_before(range.end) - row};
}

/// Stores a value, or neighbours; past what caches keep if kStreams.
template <bool kStreams, class Unit>
__device__ void store_unit(unsigned char* p, const Unit& unit) {
  if constexpr (kStreams) {
    __stcs(reinterpret_cast<Unit*>(p), unit);
  } else {
    *reinterpret_cast<Unit*>(p) = unit;
  }
}

/// Values that lie at multiples of their width.
template <class Value>
struct AlignedValues {
  using Word = WordOf<sizeof(Value)>;
  static constexpr int kTileRows = 64 / sizeof(Word);

  explicit __device__ AlignedValues(int) {}
  __device__ int bytes() const { return sizeof(Value); }
  __device__ Word load(const unsigned char* p) const { return *reinterpret_cast<const Value*>(p); }
  template <bool kStreams = false>
  __device__ void store(unsigned char* p, Word value) const {
    using Unit = std::conditional_t<sizeof(Value) == 8, unsigned long long, Value>;
    store_unit<kStreams>(p, static_cast<Unit>(value));
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

/// Four neighbouring values of up to four bytes.
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

/// Values of up to four bytes, four neighbours at a time, which lie at multiples of all their bytes; of three bytes at
/// multiples of four. kRows: of a thread in a tile.
template <int ValueBytes, int kRows>
struct QuadValues {
  using Word = Quad;
  static constexpr int kTileRows = kRows;

  explicit __device__ QuadValues(int) {}
  __device__ int bytes() const { return ValueBytes; }
  __device__ Quad load(const unsigned char* p) const {
    const auto* const words = reinterpret_cast<const std::uint32_t*>(p);
    if constexpr (ValueBytes == 1) {
      const std::uint32_t all = words[0];
      return {{all & 255, all >> 8 & 255, all >> 16 & 255, all >> 24}};
    } else if constexpr (ValueBytes == 2) {
      const uint2 all = *reinterpret_cast<const uint2*>(p);
      return {{all.x & 0xffff, all.x >> 16, all.y & 0xffff, all.y >> 16}};
    } else if constexpr (ValueBytes == 3) {
      const std::uint32_t first = words[0], second = words[1], third = words[2];
      return {{first, __funnelshift_r(first, second, 24), __funnelshift_r(second, third, 16),
               third >> 8}};
    } else {
      const uint4 all = *reinterpret_cast<const uint4*>(p);
      return {{all.x, all.y, all.z, all.w}};
    }
  }
  template <bool kStreams = false>
  __device__ void store(unsigned char* p, const Quad& quad) const {
    const auto& values = quad.values;
    if constexpr (ValueBytes == 1) {
      store_unit<kStreams>(p, __byte_perm(__byte_perm(values[0], values[1], 0x0040),
                                          __byte_perm(values[2], values[3], 0x0040), 0x5410));
    } else if constexpr (ValueBytes == 2) {
      store_unit<kStreams>(p, make_uint2(__byte_perm(values[0], values[1], 0x5410),
                                         __byte_perm(values[2], values[3], 0x5410)));
    } else if constexpr (ValueBytes == 3) {
      store_unit<kStreams>(p, __byte_perm(values[0], values[1], 0x4210));
      store_unit<kStreams>(p + 4, __byte_perm(values[1], values[2], 0x5421));
      store_unit<kStreams>(p + 8, __byte_perm(values[2], values[3], 0x6542));
    } else {
      store_unit<kStreams>(p, make_uint4(values[0], values[1], values[2], values[3]));
    }
  }
};

/// Whether a task's columns under a stride are quads: neighbours in memory, and whole ones in the last row, too.
template <int ValueBytes>
__device__ bool has_quads(const ColumnTask& task, std::uint32_t stride) {
  constexpr std::uintptr_t kUnit = ValueBytes == 3 ? 4 : 4 * ValueBytes;
  return task.record_bytes == task.tuple_bytes() && stride * task.tuple % 4 == 0 &&
         task.records * task.tuple % 4 == 0 &&
         (reinterpret_cast<std::uintptr_t>(task.out) & (kUnit - 1)) == 0;
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
template <class Word, int kThreads, int kBlocks>
struct Sums {
  static constexpr std::uint32_t kColumns =
      most_together(kThreads) / (std::is_same_v<Word, Quad> ? 4 : 1);
  Word threads[2][kThreads];
  Word blocks[2][kBlocks > 1 ? kBlocks : 1][kBlocks > 1 ? kColumns : 1];
};

/// The columns of a task under one of its strides: of one value a row, or four. Walked through at once; or, if kCarried, a
/// range of tuples after the other, behind each of which `carried` has the sum of each column.
template <class Values, bool kCarried = false>
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
  TupleRange range;  // if kCarried
  Word* carried;     // [columns]

  __device__ StrideColumn part(std::uint32_t column) const {
    if constexpr (kCarried) return stride_column(task, stride, column * kAcross, range);
    return stride_column(task, stride, column * kAcross);
  }
  __device__ std::uint32_t most_rows() const {
    return ((kCarried ? range.end - range.first : task.records) + stride - 1) / stride;
  }

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
    finish_rows(task, lane_maps, lane, in_memory.bytes(), values);
  }
};

/// Each thread walks down its own columns. What comes next is on its way while rows are stored.
template <int kThreads, class Values, bool kCarried, int kBlocks>
__device__ void walk_down(const Walk<Values, kCarried>& walk, const TeamPlace<kBlocks>& place) {
  using Word = typename Values::Word;
  constexpr std::uint32_t kRows = Values::kTileRows / 2;
  const std::uint64_t step = kRows * walk.step_bytes;
  const std::uint32_t threads = place.blocks * kThreads;
  for (std::uint32_t c = place.rank * kThreads + threadIdx.x; c < walk.columns; c += threads) {
    const StrideColumn column = walk.part(c);
    unsigned char* p = column.first;
    Word sum{};
    if constexpr (kCarried) sum = walk.carried[c];
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
    if constexpr (kCarried) walk.carried[c] = sum;
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
template <int kThreads, class Word>
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
template <int kThreads, class Values, bool kCarried, int kBlocks>
__device__ void walk_in_tiles(const Walk<Values, kCarried>& walk, const TeamPlace<kBlocks>& place,
                              Sums<typename Values::Word, kThreads, kBlocks>& sums) {
  using Word = typename Values::Word;
  constexpr std::uint32_t kRows = Values::kTileRows;
  const std::uint32_t stretches = kThreads / walk.columns, stretch = threadIdx.x / walk.columns;
  const StrideColumn column = walk.part(threadIdx.x % walk.columns);
  const std::uint32_t end = stretch < stretches ? column.rows : 0;
  const std::uint32_t most_rows = walk.most_rows();
  const std::uint32_t tile_rows = kBlocks * stretches * kRows;
  const std::uint64_t tile_bytes = tile_rows * walk.step_bytes;
  std::uint32_t row = stretch * kRows;
  if constexpr (kBlocks > 1) row += place.rank * stretches * kRows;
  unsigned char* p = column.first + row * walk.step_bytes;
  const auto rows_from = [&](std::uint32_t first) { return first < end ? end - first : 0; };
  Word sum{};  // of all tiles before this one
  if constexpr (kCarried) sum = walk.carried[threadIdx.x % walk.columns];
  Word next[kRows];
  walk.load(p, rows_from(row), next);
  int turn = 0;
  for (std::uint32_t first = 0; first < most_rows; first += tile_rows, turn ^= 1) {
    Word values[kRows];
    Word own{};
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; ++i) own += values[i] = next[i];
    walk.load(p + tile_bytes, rows_from(row + tile_rows), next);
    TileSums<Word> tile = sum_tile<kThreads>(own, walk.columns, sums.threads[turn]);
    if constexpr (kBlocks > 1) sum_team(tile, walk.columns, place.rank, sums.blocks[turn]);
    walk.store_sums(p, column.lane, rows_from(row), values, sum + tile.before);
    sum += tile.all;
    row += tile_rows;
    p += tile_bytes;
  }
  __syncthreads();  // the sums have been read
  if constexpr (kCarried) {
    if (threadIdx.x < walk.columns) walk.carried[threadIdx.x] = sum;
  }
  if constexpr (kBlocks > 1) {
    device::cluster_arrive();
    device::cluster_wait();  // by the others, too
  }
}

}  // namespace gdelta::cuda
