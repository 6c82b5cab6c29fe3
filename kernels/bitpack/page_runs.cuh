// A page as a warp encodes it: tile by tile, each thread a run of eight or sixteen consecutive tuples, so that
// differences are taken within registers and only a run's first value needs its neighbour's last.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/checksum/page_check.cuh"
#include "kernels/deltas/zigzag.h"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp_uniform.cuh"
#include "kernels/pages/pack_task.h"
#include "kernels/pages/page_tile.cuh"
#include "kernels/words/finish_value.cuh"
#include "kernels/words/maps/differences.h"

namespace gdelta::cuda {

inline constexpr int kPackRun = 8;

/// Steps: lanes may lose others. Strides: values may lose those one stride before.
template <int ValueBytes, int Tuple, int Run = kPackRun, bool Steps = false, bool Strides = false>
struct PackShape : TileShape<ValueBytes, Tuple, Run> {
  using Task = PackTask;
  static constexpr bool kStrip = false;
  /// What kernels see of a column: all of it, or a strip of its lanes (lane_strip.cuh).
  template <class View>
  __device__ static const PackTask& task_of(const PackTask& column, const View&) {
    return column;
  }
  __device__ static bool has_lane(const PackTask&, int) { return true; }
  static constexpr bool kSteps = Steps;
  static constexpr bool kStrides = Strides;
  using WithSteps = PackShape<ValueBytes, Tuple, Run, (Tuple > 1)>;
  using WithStrides = PackShape<ValueBytes, Tuple, Run, (Tuple > 1), true>;
  using Word = WordOf<ValueBytes>;
  static constexpr int kValueBytes = ValueBytes;
  static constexpr int kTuple = Tuple;
  static constexpr int kRun = Run;
  static constexpr int kRunWords = PackShape::kRunBytes / 4;
  static constexpr int kSpareBits = 8 * (static_cast<int>(sizeof(Word)) - ValueBytes);
  static constexpr int kTile = 32 * kRun;  // tuples
  static constexpr std::uint32_t kTileBytes = 32 * PackShape::kRunBytes;
  static constexpr int kTileGroups = kTile / kGroupValues;  // of each lane
  static constexpr int kGroupThreads = 32 / kTileGroups;    // that have one of them
  static_assert(kTile % kGroupValues == 0);
  /// Registers of four bytes that a thread has for a run and its values, and for those before it.
  static constexpr int kRegisters =
      (kRunWords + Tuple * Run * static_cast<int>(sizeof(Word)) / 4) * (Strides ? 2 : 1);
};

// ---- Loads

/// Loads runs out of a column whose tuples follow each other, at any address. Of strips: lane_strip.cuh.
template <class Shape>
struct RunLoader {
  static constexpr int kPieceBytes = Shape::kPieceBytes;
  static constexpr int kPieceWords = kPieceBytes / 4;
  static constexpr int kWords = Shape::kRunWords;
  using Piece = std::conditional_t<kPieceBytes == 16, uint4, uint2>;

  const unsigned char* column;
  std::uint32_t column_bytes;  // at most 2^28
  std::uint32_t skew;          // of all runs alike

  __device__ explicit RunLoader(const PackTask& task)
      : column(task.values),
        column_bytes(static_cast<std::uint32_t>(task.raw_bytes())),
        skew(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(task.values)) &
             (kPieceBytes - 1)) {}

  __device__ static constexpr std::uint32_t tuple_bytes() { return Shape::kTupleBytes; }

  /// Of runs that begin `bytes` before those.
  __device__ RunLoader before(std::uint32_t bytes) const {
    RunLoader loader = *this;
    loader.skew = (skew - bytes) & (kPieceBytes - 1);
    return loader;
  }

  /// Asks for the lines of a tile up to byte `end` of the column, to have them in the L2 cache.
  __device__ void fetch(std::uint32_t tile, std::uint32_t end, int thread) const {
    constexpr std::uint32_t kLine = 128;
    static_assert(Shape::kTileBytes <= 32 * kLine);
    const std::uint32_t at = tile + kLine * thread;
    if (kLine * thread < Shape::kTileBytes && at < end) device::prefetch_to_l2(column + at);
  }

  /// The words of this thread's run in the tile that begins `tile` bytes into the column; zero behind the
  /// column's end.
  __device__ void load(std::uint32_t tile, int thread, std::uint32_t (&words)[kWords]) const {
    const std::uint32_t run = tile + Shape::kRunBytes * thread;
    if (skew == 0 && tile + Shape::kTileBytes <= column_bytes) {
      load_pieces<Shape::kRunPieces>(column + run, words);
    } else if (tile >= skew && tile + Shape::kTileBytes + kPieceBytes <= column_bytes) {
      load_across(column + run - skew, words);
    } else {
      load_by_bytes(run, words);
    }
  }

  /// Loads at the edges of a column, and touches nothing outside it, from byte `run` on, which may be negative. Words come
  /// in behind and move down, so that none has a number that only the running kernel knows: all stay in registers.
  __device__ void load_by_bytes(std::uint32_t run, std::uint32_t (&words)[kWords]) const {
#pragma unroll 1
    for (int i = 0; i < kWords; ++i) {
      std::uint32_t word = 0;
#pragma unroll
      for (int b = 0; b < 4; ++b) {
        const std::uint32_t at = run + 4 * i + b;
        if (at < column_bytes) word |= static_cast<std::uint32_t>(column[at]) << (8 * b);
      }
#pragma unroll
      for (int j = 0; j + 1 < kWords; ++j) words[j] = words[j + 1];
      words[kWords - 1] = word;
    }
  }

 private:
  template <int kPieces>
  __device__ static void load_pieces(const unsigned char* from,
                                     std::uint32_t (&words)[kPieces * kPieceWords]) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const Piece piece = reinterpret_cast<const Piece*>(from)[i];
      words[kPieceWords * i] = piece.x, words[kPieceWords * i + 1] = piece.y;
      if constexpr (kPieceBytes == 16)
        words[kPieceWords * i + 2] = piece.z, words[kPieceWords * i + 3] = piece.w;
    }
  }

  /// The run begins `skew` bytes behind the aligned address `from`.
  __device__ void load_across(const unsigned char* from, std::uint32_t (&words)[kWords]) const {
    std::uint32_t all[kWords + kPieceWords];
    load_pieces<Shape::kRunPieces + 1>(from, all);
    if constexpr (kPieceWords == 4) move_down<2>(all);
    move_down<1>(all);
#pragma unroll
    for (int i = 0; i < kWords; ++i) words[i] = __funnelshift_r(all[i], all[i + 1], 8 * (skew & 3));
  }

  /// Moves words down by kStep places if the skew has that many, with others.
  template <int kStep>
  __device__ void move_down(std::uint32_t (&all)[kWords + kPieceWords]) const {
    const bool moves = (skew & (4 * kStep)) != 0;
#pragma unroll
    for (int i = 0; i < kWords + kPieceWords - kStep; ++i) all[i] = moves ? all[i + kStep] : all[i];
  }
};

/// One of the delta states that pages begin with; a thread of a warp has one or none.
struct DeltaState {
  int lane, k;  // y[k + 1] of the lane
  int order;    // of the lane
  int end;      // how many states it has with those of the lanes before it

  __device__ bool exists() const { return k < order; }
  /// Among the states of all lanes, as they are stored.
  __device__ int number() const { return end - 1 - k; }
};

/// What a task says that every tile needs, in registers.
template <class Shape>
struct PackFront {
  int orders[Shape::kTuple];
  int sources[Shape::kTuple];  // of lanes with steps
  std::uint8_t map;
  bool big_endian;

  __device__ explicit PackFront(const typename Shape::Task& task)
      : map(static_cast<std::uint8_t>(device::warp_uniform<int>(task.map))),
        big_endian(device::warp_uniform<int>(task.big_endian) != 0) {
#pragma unroll
    for (int lane = 0; lane < Shape::kTuple; ++lane)
      orders[lane] = device::warp_uniform<int>(task.order_of(lane));
    if constexpr (Shape::kSteps) {
#pragma unroll
      for (int lane = 0; lane < Shape::kTuple; ++lane)
        sources[lane] = device::warp_uniform<int>(task.sources[lane]);
    }
  }

  __device__ DeltaState state_of(int thread) const {
    DeltaState state{thread / kMaxDeltaOrder, thread % kMaxDeltaOrder, 0, 0};
#pragma unroll
    for (int l = 0; l < Shape::kTuple; ++l) {
      if (l <= state.lane) state.end += orders[l];
      if (l == state.lane) state.order = orders[l];
    }
    return state;
  }
};

/// The values of a run lane by lane, after byte order and map. Bits above a value's are left as they come.
template <class Shape>
__device__ inline void read_values(const PackFront<Shape>& front,
                                   const std::uint32_t (&words)[Shape::kRunWords],
                                   typename Shape::Word (&values)[Shape::kTuple][Shape::kRun]) {
  constexpr int kBits = 8 * Shape::kValueBytes;
  using Word = typename Shape::Word;
#pragma unroll
  for (int n = 0; n < Shape::kTuple * Shape::kRun; ++n) {
    const int word = kBits * n / 32, shift = kBits * n % 32;
    Word value = words[word] >> shift;
    if constexpr (kBits == 64) value |= static_cast<Word>(words[word + 1]) << 32;
    if constexpr (kBits == 24) {
      if (shift > 8) value |= words[word + 1] << (32 - shift);
    }
    values[n % Shape::kTuple][n / Shape::kTuple] = value & value_mask<Word>(kBits);
  }
  if (front.big_endian) {
#pragma unroll
    for (auto& lane : values) {
#pragma unroll
      for (Word& value : lane) value = swap_value(value, Shape::kValueBytes);
    }
  }
  with_map(front.map, [&](auto of) {
#pragma unroll
    for (auto& lane : values) {
#pragma unroll
      for (Word& value : lane) value = decltype(of)::apply(value, kBits);
    }
  });
}

/// Lanes of a run less their sources. Values may stand in any bits of their words.
template <class Shape>
__device__ inline void take_steps(const PackFront<Shape>& front,
                                  typename Shape::Word (&values)[Shape::kTuple][Shape::kRun]) {
  if constexpr (Shape::kSteps) {
    // A source is an earlier lane: it is still as it was.
#pragma unroll
    for (int lane = Shape::kTuple - 1; lane > 0; --lane) {
#pragma unroll
      for (int source = 0; source < lane; ++source) {
        if (front.sources[lane] != source + 1) continue;
#pragma unroll
        for (int i = 0; i < Shape::kRun; ++i)
          values[lane][i] =
              MinusStep::apply(values[lane][i], values[source][i], 8 * Shape::kValueBytes);
      }
    }
  }
}

/// One value after byte order and map.
template <class Shape>
__device__ inline typename Shape::Word read_mapped(const typename Shape::Task& task,
                                                   std::uint32_t tuple, int lane) {
  using Word = typename Shape::Word;
  Word value;
  if constexpr (Shape::kStrip) {
    value = load_value<Word>(task.values + tuple * task.record_bytes + lane * Shape::kValueBytes,
                             Shape::kValueBytes,
                             is_value_aligned(task.values, task.record_bytes, Shape::kValueBytes));
  } else {
    value = load_value<Word>(task.values + (tuple * Shape::kTuple + lane) * Shape::kValueBytes,
                             Shape::kValueBytes,
                             is_value_aligned(task.values, Shape::kTupleBytes, Shape::kValueBytes));
  }
  if (task.big_endian) value = swap_value(value, Shape::kValueBytes);
  with_map(task.map, [&](auto of) { value = decltype(of)::apply(value, 8 * Shape::kValueBytes); });
  return value;
}

/// The same after the step of its lane, too. Bits above the value's are any.
template <class Shape>
__device__ inline typename Shape::Word read_stepped(const typename Shape::Task& task,
                                                    std::uint32_t tuple, int lane) {
  typename Shape::Word value = read_mapped<Shape>(task, tuple, lane);
  if constexpr (Shape::kSteps) {
    if (const int source = task.sources[lane]; source > 0)
      value = MinusStep::apply(value, read_mapped<Shape>(task, tuple, source - 1),
                               8 * Shape::kValueBytes);
  }
  return value;
}

// ---- Strides

/// The runs a stride before those of a page.
template <class Shape>
class EarlierRuns {
 public:
  static constexpr int kRun = Shape::kRun;
  using Values = typename Shape::Word[Shape::kTuple][kRun];

  __device__ explicit EarlierRuns(const PackTask& task)
      : stride_(task.num_strides > 0 ? device::warp_uniform(task.strides[0].stride) : 0),
        loader_(RunLoader<Shape>(task).before(stride_ * Shape::kTupleBytes)) {}

  /// Loads that of the tile that begins at tuple `first` of the column; zero where nothing stands so far before it.
  __device__ void load(std::uint32_t first, int thread,
                       std::uint32_t (&words)[Shape::kRunWords]) const {
    const std::uint32_t tile = (first - stride_) * Shape::kTupleBytes;
    if (is_away(first)) {
#pragma unroll
      for (std::uint32_t& word : words) word = 0;
    } else if (first >= stride_) {
      loader_.load(tile, thread, words);
    } else {
      loader_.load_by_bytes(tile + Shape::kRunBytes * thread, words);
    }
  }

  /// Takes its values from those of the tile. read(words, values) makes values of the words of a run.
  template <class Read>
  __device__ void take_from(Values& values, std::uint32_t first, int thread,
                            const Read& read) const {
    if (is_away(first)) return;
    std::uint32_t words[Shape::kRunWords];
    load(first, thread, words);
    Values earlier;
    read(words, earlier);
    const bool is_whole = first >= stride_;
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
      // Not all maps give zero for zero.
      const bool is_there = is_whole || first + kRun * thread + i >= stride_;
#pragma unroll
      for (int lane = 0; lane < Shape::kTuple; ++lane)
        values[lane][i] -= is_there ? earlier[lane][i] : 0;
    }
  }

 private:
  /// Whether there is nothing for the tile.
  __device__ bool is_away(std::uint32_t first) const {
    return stride_ == 0 || first + Shape::kTile <= stride_;
  }

  std::uint32_t stride_;  // in tuples; 0: there is none
  RunLoader<Shape> loader_;
};

/// Without strides nobody looks for them.
template <class Shape>
requires(!Shape::kStrides) class EarlierRuns<Shape> {
 public:
  __device__ explicit EarlierRuns(const typename Shape::Task&) {}
};

/// One value after all that is done before differences are taken.
template <class Shape>
__device__ inline typename Shape::Word read_value(const typename Shape::Task& task,
                                                  std::uint32_t tuple, int lane) {
  typename Shape::Word value = read_stepped<Shape>(task, tuple, lane);
  if constexpr (Shape::kStrides) {
    const std::uint32_t stride = task.num_strides > 0 ? task.strides[0].stride : 0;
    if (stride > 0 && tuple >= stride) value -= read_stepped<Shape>(task, tuple - stride, lane);
  }
  return value;
}

/// The first tuple of a column over and over: whether all are equal cannot be told by residuals less strides.
template <class Shape>
struct FirstTuple {
  static constexpr int kBytes = Shape::kTupleBytes;
  // Until it begins at a word again.
  static constexpr int kWords = kBytes % 4 == 0   ? kBytes / 4
                                : kBytes % 2 == 0 ? kBytes / 2
                                                  : kBytes;
  std::uint32_t words[kWords];

  __device__ explicit FirstTuple(const typename Shape::Task& task) {
    if constexpr (Shape::kStrides) {  // nobody asks otherwise
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        words[i] = 0;
#pragma unroll
        for (int b = 0; b < 4; ++b)
          words[i] |= static_cast<std::uint32_t>(task.values[(4 * i + b) % kBytes]) << 8 * b;
      }
    }
  }

  /// Bits in which those of a thread's run that are there differ; `left` tuples of the page are left from the tile on.
  __device__ std::uint32_t unequal(const std::uint32_t (&run)[Shape::kRunWords], std::uint32_t left,
                                   int thread) const {
    std::uint32_t other[Shape::kRunWords];
#pragma unroll
    for (int i = 0; i < Shape::kRunWords; ++i) other[i] = run[i] ^ words[i % kWords];
    if (left < Shape::kTile)
      keep_bytes(other, (static_cast<int>(left) - Shape::kRun * thread) * Shape::kTupleBytes);
    std::uint32_t all = 0;
#pragma unroll
    for (const std::uint32_t word : other) all |= word;
    return all;
  }
};

// ---- Differences

/// What stands before the next tile: difference number k of each lane, 0 ... order - 1. In shared memory;
/// at a page's start these are the page's states.
template <class Shape>
struct LaneHistory {
  using Word = typename Shape::Word;
  static constexpr int kRun = Shape::kRun;
  Word before[Shape::kTuple][kMaxDeltaOrder];

  /// The history of a page that begins at tuple `first`. What lies before the chunk is its first value.
  /// Thread kMaxDeltaOrder × lane + k loads what the lane has k tuples before the last one. All is shifted up by so
  /// many bits.
  template <int kRaise = 0>
  __device__ void load(const typename Shape::Task& task, std::uint32_t first, int thread) {
    static_assert(Shape::kTuple * kMaxDeltaOrder <= 32);
    const int lane = thread / kMaxDeltaOrder, k = thread % kMaxDeltaOrder;
    const bool has_lane = lane < Shape::kTuple;
    const int order = has_lane ? task.order_of(lane) : 0;
    int highest = 0;
#pragma unroll
    for (int l = 0; l < Shape::kTuple; ++l)
      highest = max(highest, device::warp_uniform<int>(task.order_of(l)));
    Word difference = 0;
    if (k < order) {
      const std::uint32_t tuple = first > static_cast<std::uint32_t>(k) ? first - 1 - k : 0;
      difference = read_value<Shape>(task, tuple, lane) << kRaise;
    }
#pragma unroll 1
    for (int turn = 0; turn < highest; ++turn) {
      if (k == 0 && has_lane) before[lane][turn] = difference;
      difference -= __shfl_sync(device::kWholeWarp, difference, (thread + 1) & 31);
    }
    __syncwarp();  // the history is there
  }

  /// Takes differences of a tile's lane `order` times; the history moves on.
  __device__ void difference(Word (&run)[kRun], int lane, int order, int thread) {
#pragma unroll 1
    for (int k = 0; k < order; ++k) {
      Word last = __shfl_sync(device::kWholeWarp, run[kRun - 1], (thread + 31) & 31);
      if (thread == 0) {
        const Word history = before[lane][k];
        before[lane][k] = last;
        last = history;
      }
#pragma unroll
      for (int i = kRun - 1; i > 0; --i) run[i] -= run[i - 1];
      run[0] -= last;
    }
  }
};

// ---- The walk

/// Goes through the tiles of a page from first to last: `visit(tile, left, words)` with the number of the
/// tile, how many tuples are left from there on, and this thread's run. Returns the number of tiles.
/// kFar > 0: lines are asked for so many tiles ahead.
template <class Shape, int kFar = 0, class Visit>
__device__ inline std::uint32_t for_each_tile(const typename Shape::Task& task, std::uint32_t first,
                                              std::uint32_t tuples, int thread,
                                              const Visit& visit) {
  // The next run is on its way while this one is worked on, as far as registers go.
  constexpr bool kAhead = Shape::kRunWords <= 24;
  const RunLoader<Shape> loader(task);
  const std::uint32_t tiles = (tuples + Shape::kTile - 1) / Shape::kTile;
  std::uint32_t at = first * loader.tuple_bytes();
  const std::uint32_t end = at + tuples * loader.tuple_bytes();
  const std::uint32_t tile_bytes = Shape::kTile * loader.tuple_bytes();
  if constexpr (kFar > 0) {
#pragma unroll
    for (int tile = 1; tile < kFar; ++tile)
      loader.fetch(at + tile * Shape::kTileBytes, end, thread);
  }
  std::uint32_t next[Shape::kRunWords];
  if constexpr (kAhead) loader.load(at, thread, next);
#pragma unroll 1
  for (std::uint32_t tile = 0; tile < tiles; ++tile, at += tile_bytes) {
    if constexpr (kFar > 0) loader.fetch(at + kFar * Shape::kTileBytes, end, thread);
    std::uint32_t words[Shape::kRunWords];
    if constexpr (kAhead) {
#pragma unroll
      for (int i = 0; i < Shape::kRunWords; ++i) words[i] = next[i];
      if (tile + 1 < tiles) loader.load(at + tile_bytes, thread, next);
    } else {
      loader.load(at, thread, words);
    }
    visit(tile, tuples - tile * Shape::kTile, words);
  }
  return tiles;
}

/// Adds a thread's run of a tile to the check of its page; `left` tuples of the page are left from the tile's first on.
template <class Shape>
__device__ inline void add_run(PageCheck<Shape::kRunWords>& check,
                               const std::uint32_t (&words)[Shape::kRunWords], std::uint32_t left,
                               int thread) {
  if (left < Shape::kTile) {
    std::uint32_t kept[Shape::kRunWords];
#pragma unroll
    for (int i = 0; i < Shape::kRunWords; ++i) kept[i] = words[i];
    keep_bytes(kept, (static_cast<int>(left) - Shape::kRun * thread) * Shape::kTupleBytes);
    check.add(kept);
  } else {
    check.add(words);
  }
}

}  // namespace gdelta::cuda
