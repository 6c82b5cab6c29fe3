// A block walks along a column, tile by tile. The other tuples of a tile follow each other among the
// residuals, and so do its heads: they are loaded row by row to where they stand in shared memory, summed
// there, and stored row by row. One pass over the tile an order: a thread sums a run of tuples of one lane,
// from its last head on, the runs are put together, and the thread goes over its run once more. The
// state of each order goes on in the next tile.
#include "kernels/deltas/segment_undo_cuda.h"
#include "kernels/device/block.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/pages/page_limits.h"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;
constexpr std::uint32_t kMostBlocks = 4096;
constexpr int kAhead = 8;                     // loads of a thread that are on their way together
constexpr std::uint8_t kOrdersOfLanes = 255;  // in the head: an order for each lane follows

template <class Word>
constexpr int kTileValues = 64 * kThreads / sizeof(Word);
/// Tuples of a run are so many, or a few more in tuples of many lanes.
template <class Word, bool kOneLane>
constexpr int kMostRunTuples = kOneLane ? kTileValues<Word> / kThreads : 32;
/// A tile of one lane has the most tuples.
template <class Word>
constexpr int kTileWords = kTileValues<Word> / 32;

/// The sum of a run from its last head on, or of all of it.
template <class Word>
struct RunSum {
  Word sum;
  int has_head;  // 0 or 1
};

/// Of neighbouring runs.
template <class Word>
__device__ RunSum<Word> join_runs(const RunSum<Word>& before, const RunSum<Word>& run) {
  return {run.has_head != 0 ? run.sum : before.sum + run.sum, before.has_head | run.has_head};
}

template <class Word>
struct JoinShared {
  Word values[kTileValues<Word> + kTileValues<Word> / 32];  // padded: runs meet different banks
  std::uint32_t heads[kTileWords<Word> + 1];                // a bit for each tuple of the tile
  std::uint32_t heads_before[kTileWords<Word>];             // each word of bits
  std::uint32_t warp_heads[kWarps];
  Word run_sums[kThreads];
  int run_heads[kThreads];
  Word states[kMaxDeltaOrder][kMaxLanes];  // at the end of the tile before
  std::uint8_t orders[kMaxLanes];

  __device__ void keep_run(int number, const RunSum<Word>& run) {
    run_sums[number] = run.sum;
    run_heads[number] = run.has_head;
  }
  __device__ RunSum<Word> run(int number) const { return {run_sums[number], run_heads[number]}; }
};

__device__ inline int padded(int value) { return value + value / 32; }

/// How a column is cut into tiles and a tile into runs, the same for all lanes.
template <class Word, bool kOneLane>
struct TileShape {
  int tuple;
  int tuples;      // of a tile
  int runs;        // of a lane
  int run_tuples;  // 32 or fewer
  int run, lane;   // of this thread

  __device__ explicit TileShape(int of_tuple) : tuple(kOneLane ? 1 : of_tuple) {
    tuples = kTileValues<Word> / tuple;
    runs = kThreads / tuple;
    run_tuples = (tuples + runs - 1) / runs;
    run = static_cast<int>(threadIdx.x) / tuple;
    lane = static_cast<int>(threadIdx.x) - run * tuple;
  }
  __device__ bool has_run() const { return run < runs; }
};

/// What comes before each run, of this thread's lane: all threads call it.
template <class Word, bool kOneLane>
__device__ RunSum<Word> runs_before(const TileShape<Word, kOneLane>& shape, RunSum<Word> run,
                                    JoinShared<Word>& shared) {
  const int id = static_cast<int>(threadIdx.x);
  if constexpr (kOneLane) {
    const int thread = id & 31, warp = id / 32;
    for (int distance = 1; distance < 32; distance *= 2) {
      const RunSum<Word> before{__shfl_up_sync(device::kWholeWarp, run.sum, distance),
                                __shfl_up_sync(device::kWholeWarp, run.has_head, distance)};
      if (thread >= distance) run = join_runs(before, run);
    }
    if (thread == 31) shared.keep_run(warp, run);
    RunSum<Word> before{__shfl_up_sync(device::kWholeWarp, run.sum, 1),
                        __shfl_up_sync(device::kWholeWarp, run.has_head, 1)};
    if (thread == 0) before = {0, 0};
    __syncthreads();  // the sums of all warps are there
    RunSum<Word> of_warps{0, 0};
    for (int w = 0; w < warp; ++w) of_warps = join_runs(of_warps, shared.run(w));
    return join_runs(of_warps, before);
  } else {
    for (int distance = shape.tuple; distance < kThreads; distance *= 2) {
      shared.keep_run(id, run);
      __syncthreads();  // the sums of the step before are there
      if (id >= distance) run = join_runs(shared.run(id - distance), run);
      __syncthreads();  // and have been read
    }
    shared.keep_run(id, run);
    __syncthreads();  // these are there
    return id >= shape.tuple ? shared.run(id - shape.tuple) : RunSum<Word>{0, 0};
  }
}

/// One order: sums along the lane of this thread, if it has that order.
template <class Word, bool kOneLane>
__device__ void sum_once(const TileShape<Word, kOneLane>& shape, int order, int tuples,
                         JoinShared<Word>& shared) {
  const int first = shape.run * shape.run_tuples;
  const int count = shape.has_run() && shared.orders[shape.lane] >= order
                        ? max(0, min(shape.run_tuples, tuples - first))
                        : 0;
  std::uint32_t heads = 0;  // of the run
  if (count > 0)
    heads = __funnelshift_r(shared.heads[first / 32], shared.heads[first / 32 + 1],
                            static_cast<unsigned>(first) & 31) &
            (~0u >> (32 - count));
  const auto place = [&](int i) { return padded((first + i) * shape.tuple + shape.lane); };
  constexpr int kMost = kMostRunTuples<Word, kOneLane>;
  Word values[kMost];
  RunSum<Word> run{0, 0};
#pragma unroll
  for (int i = 0; i < kMost; ++i) values[i] = i < count ? shared.values[place(i)] : Word{0};
#pragma unroll
  for (int i = 0; i < kMost; ++i) {
    const bool is_head = (heads >> i & 1) != 0;
    run.sum = is_head ? values[i] : run.sum + values[i];
    run.has_head |= is_head ? 1 : 0;
  }
  Word& state = shared.states[order - 1][shape.lane];
  const Word state_before = state;  // the threads of a lane read it before one of them writes
  const RunSum<Word> before = runs_before(shape, run, shared);
  Word sum = before.has_head != 0 ? before.sum : before.sum + state_before;
#pragma unroll
  for (int i = 0; i < kMost; ++i) {
    sum = (heads >> i & 1) != 0 ? values[i] : sum + values[i];
    if (i < count) shared.values[place(i)] = sum;
  }
  if (count > 0 && first + count == tuples) state = sum;
  __syncthreads();  // the sums are there, those of runs have been read
}

/// All orders. Before its last one, each lane of order 2 and more calls `place_heads`.
template <class Word, bool kOneLane, class PlaceHeads>
__device__ void sum_tile(const TileShape<Word, kOneLane>& shape, int most_order, int tuples,
                         JoinShared<Word>& shared, const PlaceHeads& place_heads) {
  for (int order = 1; order <= most_order; ++order) {
    if (order > 1) {
      place_heads(order);
      __syncthreads();  // the heads are there
    }
    sum_once(shape, order, tuples, shared);
  }
}

template <class Word>
__device__ void clear_states(JoinShared<Word>& shared) {
  for (int i = static_cast<int>(threadIdx.x); i < kMaxDeltaOrder * kMaxLanes; i += kThreads)
    shared.states[i / kMaxLanes][i % kMaxLanes] = 0;
}

/// A column on its way: its residuals, and what is said about them.
struct JoinedColumn {
  unsigned char* residuals;
  unsigned char* out;
  const std::uint32_t* starts;
  std::uint32_t heads;
  std::uint32_t records;
  std::uint32_t record_bytes;
  int value_bytes;
  int tuple;
  std::uint8_t map;
  bool big_endian;
  bool residuals_aligned;
  bool out_aligned;

  template <class Word>
  __device__ Word residual(std::uint64_t value) const {
    return load_value<Word>(residuals + value * value_bytes, value_bytes, residuals_aligned);
  }
};

/// Fills the tile: load(value) for each value of it. Loads go ahead of what is done with them.
template <class Word, class Load>
__device__ void fill_tile(int values, JoinShared<Word>& shared, const Load& load) {
  for (int first = static_cast<int>(threadIdx.x); first < values; first += kAhead * kThreads) {
    Word loaded[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const int v = first + k * kThreads;
      loaded[k] = v < values ? load(v) : Word{0};
    }
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const int v = first + k * kThreads;
      if (v < values) shared.values[padded(v)] = loaded[k];
    }
  }
}

/// The sums along the heads, in place.
template <class Word, bool kOneLane>
__device__ void sum_heads(const JoinedColumn& column, int order, JoinShared<Word>& shared) {
  const TileShape<Word, kOneLane> shape(column.tuple);
  for (int w = static_cast<int>(threadIdx.x); w <= kTileWords<Word>; w += kThreads)
    shared.heads[w] = 0;
  if (threadIdx.x < kMaxLanes) shared.orders[threadIdx.x] = static_cast<std::uint8_t>(order);
  clear_states(shared);
  for (std::uint32_t first = 0; first < column.heads; first += shape.tuples) {
    const auto tuples =
        static_cast<int>(min(column.heads - first, static_cast<std::uint32_t>(shape.tuples)));
    const int values = tuples * shape.tuple;
    const std::uint64_t at = static_cast<std::uint64_t>(first) * shape.tuple;
    fill_tile(values, shared, [&](int v) { return column.residual<Word>(at + v); });
    __syncthreads();  // the tile is there, and what all tiles have in common
    sum_tile(shape, order, tuples, shared, [](int) {});
#pragma unroll 8
    for (int v = static_cast<int>(threadIdx.x); v < values; v += kThreads)
      store_value(column.residuals + (at + v) * column.value_bytes, column.value_bytes,
                  column.residuals_aligned, shared.values[padded(v)]);
    __syncthreads();  // the sums have been stored
  }
}

/// Marks the heads of the tile from record `first` on; `before` come before it. Returns how many there are.
template <class Word>
__device__ std::uint32_t mark_heads(const JoinedColumn& column, std::uint32_t first, int tuples,
                                    std::uint32_t before, JoinShared<Word>& shared) {
  const int id = static_cast<int>(threadIdx.x);
  for (int w = id; w <= kTileWords<Word>; w += kThreads) shared.heads[w] = 0;
  __syncthreads();  // no bit is set
  for (std::uint32_t head = before + id; head < column.heads; head += kThreads) {
    const std::uint32_t tuple = column.starts[head] - first;
    if (tuple >= static_cast<std::uint32_t>(tuples)) break;
    atomicOr(&shared.heads[tuple / 32], 1u << (tuple % 32));
  }
  __syncthreads();  // all bits are
  static_assert(kTileWords<Word> <= kThreads);
  std::uint32_t all = 0;
  const std::uint32_t own =
      id < kTileWords<Word> ? static_cast<std::uint32_t>(__popc(shared.heads[id])) : 0;
  const std::uint32_t sum = device::block_prefix(own, shared.warp_heads, all);
  if (id < kTileWords<Word>) shared.heads_before[id] = sum - own;
  __syncthreads();  // all counts are there
  return all;
}

/// The sums inside segments.
template <class Word, bool kOneLane>
__device__ void join_column(const JoinedColumn& column, int most_order, JoinShared<Word>& shared) {
  const TileShape<Word, kOneLane> shape(column.tuple);
  clear_states(shared);
  std::uint32_t before = 0;  // heads of the tiles before
  for (std::uint32_t first = 0; first < column.records; first += shape.tuples) {
    const auto tuples =
        static_cast<int>(min(column.records - first, static_cast<std::uint32_t>(shape.tuples)));
    const int values = tuples * shape.tuple;
    const std::uint32_t heads = mark_heads(column, first, tuples, before, shared);
    // Of tuples that are no heads; there are so many heads before the others of all tiles.
    const std::uint64_t others = static_cast<std::uint64_t>(column.heads) + first - before;
    const auto head_before = [&](int tuple) {
      return shared.heads_before[tuple / 32] +
             __popc(shared.heads[tuple / 32] & ((1u << (tuple & 31)) - 1));
    };
    const auto is_head = [&](int tuple) {
      return (shared.heads[tuple / 32] >> (tuple & 31) & 1) != 0;
    };
    fill_tile(values, shared, [&](int v) {
      const int tuple = kOneLane ? v : v / shape.tuple;
      const int lane = kOneLane ? 0 : v - tuple * shape.tuple;
      const std::uint32_t number = head_before(tuple);
      const bool of_head = is_head(tuple);
      const std::uint64_t from = of_head ? before + number : others + tuple - number;
      const bool comes_later = of_head && shared.orders[lane] > 1;
      return comes_later ? Word{0} : column.residual<Word>(from * shape.tuple + lane);
    });
    __syncthreads();  // the tile is there
    sum_tile(shape, most_order, tuples, shared, [&](int order) {
      const std::uint32_t of_heads = heads * static_cast<std::uint32_t>(shape.tuple);
#pragma unroll 4
      for (std::uint32_t h = threadIdx.x; h < of_heads; h += kThreads) {
        const std::uint32_t head = h / shape.tuple, lane = h - head * shape.tuple;
        if (shared.orders[lane] != order) continue;
        const std::uint32_t tuple = column.starts[before + head] - first;
        shared.values[padded(static_cast<int>(tuple * shape.tuple + lane))] =
            column.residual<Word>(static_cast<std::uint64_t>(before) * shape.tuple + h);
      }
    });
#pragma unroll 4
    for (int v = static_cast<int>(threadIdx.x); v < values; v += kThreads) {
      const int tuple = kOneLane ? v : v / shape.tuple;
      const int lane = kOneLane ? 0 : v - tuple * shape.tuple;
      const Word value =
          finish_value(shared.values[padded(v)], column.value_bytes, column.map, column.big_endian);
      store_value(column.out + static_cast<std::uint64_t>(first + tuple) * column.record_bytes +
                      lane * column.value_bytes,
                  column.value_bytes, column.out_aligned, value);
    }
    before += heads;
    __syncthreads();  // the tile has been stored
  }
}

__device__ JoinedColumn column_of(const ColumnTask& task, const SegmentedChunk& chunk,
                                  std::uint32_t record_bytes) {
  return {.residuals = task.out,
          .out = task.segments.out,
          .starts = chunk.starts,
          .heads = chunk.heads,
          .records = task.records,
          .record_bytes = record_bytes,
          .value_bytes = task.value_bytes,
          .tuple = task.tuple,
          .map = task.map,
          .big_endian = task.big_endian,
          .residuals_aligned = is_value_aligned(task.out, task.tuple_bytes(), task.value_bytes),
          .out_aligned = is_value_aligned(task.segments.out, record_bytes, task.value_bytes)};
}

template <class Word, bool kOneLane>
__global__ void __launch_bounds__(kThreads) join_segments_kernel(JoinSegmentsArgs args) {
  device::start_successor();
  __shared__ JoinShared<Word> shared;
  device::wait_for_predecessor();
  for (std::uint32_t i = blockIdx.x; i < args.num_tasks; i += gridDim.x) {
    ColumnTask& task = args.tasks[i];
    if (task.path < ColumnPath::page_warp || !task.is_segmented()) continue;
    const SegmentedChunk& chunk = args.chunks[task.chunk];
    const JoinedColumn column = column_of(task, chunk, args.record_bytes);
    const unsigned char* const orders = task.segments.orders;
    const bool by_lane = orders[0] == kOrdersOfLanes;
    if (chunk.right) {
      const int head_order = orders[by_lane ? 1 + column.tuple : 1];
      if (head_order > 0) sum_heads<Word, kOneLane>(column, head_order, shared);
      int most_order = 0;
      for (int lane = 0; lane < column.tuple; ++lane)
        most_order = max(most_order, static_cast<int>(orders[by_lane ? 1 + lane : 0]));
      if (threadIdx.x < column.tuple)
        shared.orders[threadIdx.x] = orders[by_lane ? 1 + threadIdx.x : 0];
      join_column<Word, kOneLane>(column, most_order, shared);
    }
    __syncthreads();  // all threads know where the values are
    if (threadIdx.x == 0) {
      task.out = column.out;
      task.record_bytes = args.record_bytes;
    }
  }
}

}  // namespace

cudaError_t launch_join_segments(const JoinSegmentsArgs& args, int value_bytes, int most_tuple,
                                 cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  const std::uint32_t blocks = args.num_tasks < kMostBlocks ? args.num_tasks : kMostBlocks;
  const auto launch = [&](auto word) {
    using Word = decltype(word);
    return most_tuple == 1 ? device::launch_after<join_segments_kernel<Word, true>>(
                                 blocks, kThreads, stream, args)
                           : device::launch_after<join_segments_kernel<Word, false>>(
                                 blocks, kThreads, stream, args);
  };
  return value_bytes == 8 ? launch(std::uint64_t{}) : launch(std::uint32_t{});
}

}  // namespace gdelta::cuda
