// Sums inside segments begin anew at every head, so a column is cut at heads into parts that know nothing of each
// other. A block walks along a part, tile by tile. The tuples of a tile that are no heads follow each other among
// the residuals, and so do its heads: both are copied to shared memory as they stand. From there a thread takes
// a run of tuples of one lane, each from where it is, and keeps it. An order is one pass: runs are summed from their
// last head on, put together, and gone over once more. The state of each order goes on in the next tile. Values
// leave by way of shared memory, row by row.
#include <algorithm>

#include "kernels/deltas/segment_head_words.cuh"
#include "kernels/deltas/segment_pages.h"
#include "kernels/deltas/segment_undo_cuda.h"
#include "kernels/device/block.cuh"
#include "kernels/device/kernel_facts.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/spread.h"
#include "kernels/device/warp.cuh"
#include "kernels/pages/page_limits.h"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kSegmentJoinThreads = 256;
constexpr int kWarps = kSegmentJoinThreads / 32;
constexpr int kSegmentJoinBlocksPerSm = 4;
constexpr std::uint32_t kSegmentJoinMostBlocks = 4096;
// Of the sums along heads that are words.
constexpr int kWordThreads = 512, kWordBlocksPerSm = 2;
// There are parts for so many times the blocks that the device holds: not all take the same time.
constexpr int kRounds = 4;
constexpr int kAhead = 8;  // loads of a thread that are on their way together

template <class Word>
constexpr int kTileValues = 64 * kSegmentJoinThreads / sizeof(Word);
/// Tuples of a run are so many, or a few more in tuples of many lanes.
template <class Word, bool kOneLane>
constexpr int kMostRunTuples = kOneLane ? kTileValues<Word> / kSegmentJoinThreads : 32;
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

__device__ constexpr int padded(int value) { return value + value / 32; }

template <class Word>
struct JoinShared {
  // Padded: runs meet different banks. Heads begin at a multiple of 32 behind the others.
  Word values[padded(kTileValues<Word> + 32)];
  std::uint32_t heads[kTileWords<Word> + 1];     // a bit for each tuple of the tile
  std::uint32_t heads_before[kTileWords<Word>];  // each word of bits
  std::uint32_t warp_heads[kWarps];
  Word run_sums[kSegmentJoinThreads];
  int run_heads[kSegmentJoinThreads];
  Word states[kMaxDeltaOrder][kMaxLanes];  // at the end of the tile before
  std::uint8_t orders[kMaxLanes];

  __device__ void keep_run(int number, const RunSum<Word>& run) {
    run_sums[number] = run.sum;
    run_heads[number] = run.has_head;
  }
  __device__ RunSum<Word> run(int number) const { return {run_sums[number], run_heads[number]}; }
  /// A bit for each of up to 32 tuples.
  __device__ std::uint32_t heads_of_run(int first, int count) const {
    return __funnelshift_r(heads[first / 32], heads[first / 32 + 1],
                           static_cast<unsigned>(first) & 31) &
           (~0u >> (32 - count));
  }
  __device__ int heads_before_tuple(int tuple) const {
    return static_cast<int>(heads_before[tuple / 32]) +
           __popc(heads[tuple / 32] & ((1u << (tuple & 31)) - 1));
  }
};

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
    runs = kSegmentJoinThreads / tuple;
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
    // A run takes nothing from before the last head, in it or in a run before it.
    const auto last_of = [](std::uint32_t flags) { return 31 - __clz(static_cast<int>(flags)); };
    const std::uint32_t flags = __ballot_sync(device::kWholeWarp, run.has_head != 0);
    const std::uint32_t up_to_here = flags & (~0u >> (31 - thread));
    const int reach = up_to_here == 0 ? thread : thread - last_of(up_to_here);
    for (int distance = 1; distance < 32; distance *= 2) {
      const Word more = __shfl_up_sync(device::kWholeWarp, run.sum, distance);
      if (distance <= reach) run.sum += more;
    }
    if (thread == 31) shared.keep_run(warp, {run.sum, flags != 0 ? 1 : 0});
    const Word sum_before = __shfl_up_sync(device::kWholeWarp, run.sum, 1);
    const bool head_before = (flags & ~(~0u << thread)) != 0;
    __syncthreads();  // the sums of all warps are there
    const RunSum<Word> of_warp = thread < kWarps ? shared.run(thread) : RunSum<Word>{0, 0};
    const std::uint32_t warps_before =
        __ballot_sync(device::kWholeWarp, of_warp.has_head != 0) & ~(~0u << warp);
    const int from = warps_before == 0 ? 0 : last_of(warps_before);
    const Word of_warps = device::warp_sum(thread >= from && thread < warp ? of_warp.sum : Word{0});
    return join_runs<Word>({of_warps, warps_before != 0 ? 1 : 0},
                           {thread > 0 ? sum_before : Word{0}, head_before ? 1 : 0});
  } else {
    for (int distance = shape.tuple; distance < kSegmentJoinThreads; distance *= 2) {
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

/// Where the first head of a tile lies behind so many other values.
__device__ constexpr int heads_place(int other_values) { return (other_values + 31) / 32 * 32; }

/// All orders of a tile whose tuples have been copied, those that are no heads and, at `heads_at`, those that are.
/// Behind it values are where they belong.
template <class Word, bool kOneLane>
__device__ void sum_tile(const TileShape<Word, kOneLane>& shape, int most_order, int tuples,
                         int heads_at, JoinShared<Word>& shared) {
  const int first = shape.run * shape.run_tuples;
  const int count = shape.has_run() ? max(0, min(shape.run_tuples, tuples - first)) : 0;
  const int order = count > 0 ? shared.orders[shape.lane] : 0;
  const std::uint32_t heads = count > 0 ? shared.heads_of_run(first, count) : 0;
  const int heads_before = count > 0 ? shared.heads_before_tuple(first) : 0;
  const int first_head = heads_at + heads_before * shape.tuple + shape.lane;
  const auto is_head = [&](int i) { return (heads & (1u << i)) != 0; };
  constexpr int kMost = kMostRunTuples<Word, kOneLane>;
  // The sums before the last begin at zero behind a head.
  const bool heads_later = order > 1;
  const std::uint32_t in_run = count > 0 ? ~0u >> (32 - count) : 0;
  const std::uint32_t taken = heads_later ? in_run & ~heads : in_run;
  Word values[kMost];
  int other = (first - heads_before) * shape.tuple + shape.lane, head = first_head;
#pragma unroll
  for (int i = 0; i < kMost; ++i) {
    const int from = is_head(i) ? head : other;
    (is_head(i) ? head : other) += shape.tuple;
    values[i] = (taken & (1u << i)) != 0 ? shared.values[padded(from)] : Word{0};
  }
  for (int pass = 1; pass <= most_order; ++pass) {
    if (pass > 1) __syncthreads();  // the sums of the runs of the pass before have been read
    if (heads_later && pass == order && heads != 0) {
      head = first_head;
#pragma unroll
      for (int i = 0; i < kMost; ++i) {
        if (!is_head(i)) continue;
        values[i] = shared.values[padded(head)];
        head += shape.tuple;
      }
    }
    const bool sums = order >= pass;
    RunSum<Word> run{0, sums && heads != 0 ? 1 : 0};
    if (sums) {
#pragma unroll
      for (int i = 0; i < kMost; ++i) {
        if (is_head(i)) run.sum = 0;
        run.sum += values[i];
      }
    }
    Word& state = shared.states[pass - 1][shape.lane];
    const Word state_before = state;  // the threads of a lane read it before one of them writes
    const RunSum<Word> before = runs_before(shape, run, shared);
    if (sums) {
      Word sum = before.has_head != 0 ? before.sum : before.sum + state_before;
#pragma unroll
      for (int i = 0; i < kMost; ++i) {
        if (is_head(i)) sum = 0;
        sum += values[i];
        if (i < count) values[i] = sum;  // behind the run there is nothing but zeros
      }
      if (first + count == tuples) state = sum;
    }
  }
  __syncthreads();  // all values have been taken, and the sums of runs have been read
  const int to = first * shape.tuple + shape.lane;
#pragma unroll
  for (int i = 0; i < kMost; ++i)
    if (i < count) shared.values[padded(to + i * shape.tuple)] = values[i];
  __syncthreads();  // all are back
}

template <class Word>
__device__ void clear_states(JoinShared<Word>& shared) {
  for (int i = static_cast<int>(threadIdx.x); i < kMaxDeltaOrder * kMaxLanes;
       i += kSegmentJoinThreads)
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

  /// Whether values are whole words where they come from and where they go, without map and byte order.
  template <class Word>
  __device__ bool has_words() const {
    return value_bytes == sizeof(Word) && residuals_aligned && out_aligned && map == 0 &&
           !big_endian;
  }
};

/// Copies `count` values, load(0) and on, to a place of the tile that is a multiple of 32. Loads go ahead of what is
/// done with them.
template <class Word, class Load>
__device__ void copy_to_tile(int count, int place, JoinShared<Word>& shared, const Load& load) {
  const int id = static_cast<int>(threadIdx.x);
  for (int first = 0; first < count; first += kAhead * kSegmentJoinThreads) {
    Word* const to = shared.values + padded(place + first) + padded(id);
    Word loaded[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k)
      if (first + id + k * kSegmentJoinThreads < count)
        loaded[k] = load(first + id + k * kSegmentJoinThreads);
#pragma unroll
    for (int k = 0; k < kAhead; ++k)
      if (first + id + k * kSegmentJoinThreads < count)
        to[padded(k * kSegmentJoinThreads)] = loaded[k];
  }
}

/// The same of residuals from `first` on.
template <class Word>
__device__ void copy_residuals(const JoinedColumn& column, std::uint64_t first, int count,
                               int place, JoinShared<Word>& shared) {
  if (column.has_words<Word>()) {
    const auto* const words = reinterpret_cast<const Word*>(column.residuals) + first;
    copy_to_tile(count, place, shared, [&](int v) { return words[v]; });
    return;
  }
  const unsigned char* const bytes = column.residuals + first * column.value_bytes;
  copy_to_tile(count, place, shared, [&](int v) {
    return load_value<Word>(bytes + static_cast<std::uint64_t>(v) * column.value_bytes,
                            column.value_bytes, column.residuals_aligned);
  });
}

/// The sums along the heads, in place.
template <class Word, bool kOneLane>
__device__ void sum_heads(const JoinedColumn& column, int order, JoinShared<Word>& shared) {
  const TileShape<Word, kOneLane> shape(column.tuple);
  for (int w = static_cast<int>(threadIdx.x); w <= kTileWords<Word>; w += kSegmentJoinThreads)
    shared.heads[w] = 0;
  if (threadIdx.x < kMaxLanes) shared.orders[threadIdx.x] = static_cast<std::uint8_t>(order);
  clear_states(shared);
  if (threadIdx.x < kTileWords<Word>) shared.heads_before[threadIdx.x] = 0;
  for (std::uint32_t first = 0; first < column.heads; first += shape.tuples) {
    const auto tuples =
        static_cast<int>(min(column.heads - first, static_cast<std::uint32_t>(shape.tuples)));
    const int values = tuples * shape.tuple;
    const std::uint64_t at = static_cast<std::uint64_t>(first) * shape.tuple;
    copy_residuals(column, at, values, 0, shared);
    __syncthreads();  // the tile is there, and what all tiles have in common
    sum_tile(shape, order, tuples, values, shared);
#pragma unroll 8
    for (int v = static_cast<int>(threadIdx.x); v < values; v += kSegmentJoinThreads)
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
  for (int w = id; w <= kTileWords<Word>; w += kSegmentJoinThreads) shared.heads[w] = 0;
  __syncthreads();  // no bit is set
  for (std::uint32_t head = before + id; head < column.heads; head += kSegmentJoinThreads) {
    const std::uint32_t tuple = column.starts[head] - first;
    if (tuple >= static_cast<std::uint32_t>(tuples)) break;
    atomicOr(&shared.heads[tuple / 32], 1u << (tuple % 32));
  }
  __syncthreads();  // all bits are
  static_assert(kTileWords<Word> <= kSegmentJoinThreads);
  std::uint32_t all = 0;
  const std::uint32_t own =
      id < kTileWords<Word> ? static_cast<std::uint32_t>(__popc(shared.heads[id])) : 0;
  const std::uint32_t sum = device::block_prefix(own, shared.warp_heads, all);
  if (id < kTileWords<Word>) shared.heads_before[id] = sum - own;
  __syncthreads();  // all counts are there
  return all;
}

/// Stores the values of a tile from record `first` on.
template <class Word, bool kOneLane>
__device__ void store_tile(const JoinedColumn& column, const TileShape<Word, kOneLane>& shape,
                           std::uint32_t first, int values, const JoinShared<Word>& shared) {
  const int id = static_cast<int>(threadIdx.x);
  const int step_tuples = kSegmentJoinThreads / shape.tuple,
            step_lanes = kSegmentJoinThreads % shape.tuple;
  int tuple = id / shape.tuple, lane = id % shape.tuple;
  const bool has_words = column.has_words<Word>();
  for (int v = id; v < values; v += kSegmentJoinThreads) {
    unsigned char* const to = column.out +
                              static_cast<std::uint64_t>(first + tuple) * column.record_bytes +
                              lane * column.value_bytes;
    const Word value = shared.values[padded(v)];
    if (has_words)
      *reinterpret_cast<Word*>(to) = value;
    else
      store_value(to, column.value_bytes, column.out_aligned,
                  finish_value(value, column.value_bytes, column.map, column.big_endian));
    tuple += step_tuples;
    lane += step_lanes;
    if (lane >= shape.tuple) {
      lane -= shape.tuple;
      ++tuple;
    }
  }
}

/// Whole segments that follow each other.
struct ColumnPart {
  std::uint32_t first;   // record
  std::uint32_t end;     // record behind the last
  std::uint32_t before;  // heads before the first record
};

/// Part `number` of `parts` begins with the last head at or before its share of the records. The whole warp calls it.
__device__ std::uint32_t head_of_part(const JoinedColumn& column, std::uint32_t number,
                                      std::uint32_t parts) {
  const auto record =
      static_cast<std::uint32_t>(static_cast<std::uint64_t>(column.records) * number / parts);
  if (record == column.records) return column.heads;
  return device::find_start(column.starts, 0u, column.heads, record);
}

/// Together the parts are all records; some may be empty. The block calls it.
__device__ ColumnPart part_of(const JoinedColumn& column, std::uint32_t number,
                              std::uint32_t parts) {
  __shared__ std::uint32_t heads[2];
  const std::uint32_t warp = threadIdx.x / 32;
  __syncthreads();  // those of the part before have been read
  if (warp < 2) heads[warp] = head_of_part(column, number + warp, parts);
  __syncthreads();  // both are there
  const auto start_of = [&](std::uint32_t head) {
    return head < column.heads ? column.starts[head] : column.records;
  };
  return {start_of(heads[0]), start_of(heads[1]), heads[0]};
}

/// The sums inside the segments of a part.
template <class Word, bool kOneLane>
__device__ void join_part(const JoinedColumn& column, const ColumnPart& part, int most_order,
                          JoinShared<Word>& shared) {
  const TileShape<Word, kOneLane> shape(column.tuple);
  clear_states(shared);
  std::uint32_t before = part.before;  // heads of the tiles before
  for (std::uint32_t first = part.first; first < part.end; first += shape.tuples) {
    const auto tuples =
        static_cast<int>(min(part.end - first, static_cast<std::uint32_t>(shape.tuples)));
    const int values = tuples * shape.tuple;
    const std::uint32_t heads = mark_heads(column, first, tuples, before, shared);
    // Of tuples that are no heads; there are so many heads before the others of all tiles.
    const std::uint64_t others = static_cast<std::uint64_t>(column.heads) + first - before;
    const int head_values = static_cast<int>(heads) * shape.tuple;
    const int other_values = values - head_values;
    const int heads_at = heads_place(other_values);
    copy_residuals(column, others * shape.tuple, other_values, 0, shared);
    copy_residuals(column, static_cast<std::uint64_t>(before) * shape.tuple, head_values, heads_at,
                   shared);
    __syncthreads();  // the tile is there
    sum_tile(shape, most_order, tuples, heads_at, shared);
    store_tile(column, shape, first, values, shared);
    before += heads;
    __syncthreads();  // the tile has been stored
  }
}

/// `residuals` and `out` are where both are.
__device__ JoinedColumn column_of(const ColumnTask& task, const SegmentedChunk& chunk,
                                  unsigned char* residuals, unsigned char* out,
                                  std::uint32_t record_bytes) {
  return {.residuals = residuals,
          .out = out,
          .starts = chunk.starts,
          .heads = chunk.heads,
          .records = task.records,
          .record_bytes = record_bytes,
          .value_bytes = task.value_bytes,
          .tuple = task.tuple,
          .map = task.map,
          .big_endian = task.big_endian,
          .residuals_aligned = is_value_aligned(residuals, task.tuple_bytes(), task.value_bytes),
          .out_aligned = is_value_aligned(out, record_bytes, task.value_bytes)};
}

__device__ bool is_joined(const ColumnTask& task) {
  return task.path >= ColumnPath::page_warp && task.is_segmented() &&
         task.path != ColumnPath::page_segments;
}

/// Behind the sums along its heads a task's `out` is where values go.
__device__ void turn_task(ColumnTask& task, std::uint32_t record_bytes) {
  unsigned char* const residuals = task.out;
  task.out = task.segments.residuals;
  task.segments.residuals = residuals;
  task.record_bytes = record_bytes;
}

/// The order of the sums along the heads of a column; 0 if there are none to be made.
__device__ int order_of_heads(const ColumnTask& task, const SegmentedChunk& chunk) {
  return chunk.right ? SegmentOrders{task.segments.orders, task.tuple}.of_heads() : 0;
}

/// A block a column.
template <class Word, bool kOneLane>
__global__ void __launch_bounds__(kSegmentJoinThreads, kSegmentJoinBlocksPerSm)
    sum_heads_kernel(JoinSegmentsArgs args) {
  device::start_successor();
  __shared__ JoinShared<Word> shared;
  device::wait_for_predecessor();
  for (std::uint32_t i = blockIdx.x; i < args.num_tasks; i += gridDim.x) {
    ColumnTask& task = args.tasks[i];
    if (!is_joined(task)) continue;
    const SegmentedChunk& chunk = args.chunks[task.chunk];
    if (const int order = order_of_heads(task, chunk); order > 0)
      sum_heads<Word, kOneLane>(
          column_of(task, chunk, task.out, task.segments.residuals, args.record_bytes), order,
          shared);
    __syncthreads();  // all threads know where the values are
    if (threadIdx.x == 0) turn_task(task, args.record_bytes);
  }
}

/// The same of columns of one lane whose values are whole words.
template <class Word>
__global__ void __launch_bounds__(kWordThreads, kWordBlocksPerSm)
    sum_head_words_kernel(JoinSegmentsArgs args, std::uint32_t step) {
  device::start_successor();
  __shared__ HeadSumsShared<Word, kWordThreads> shared;
  device::wait_for_predecessor();
  for (std::uint32_t i = blockIdx.x; i < args.num_tasks; i += gridDim.x) {
    ColumnTask& task = args.tasks[device::spread(i, step, args.num_tasks)];
    if (!is_joined(task)) continue;
    const SegmentedChunk& chunk = args.chunks[task.chunk];
    if (const int order = order_of_heads(task, chunk); order > 0)
      sum_head_words(reinterpret_cast<Word*>(task.out), chunk.heads, order, shared);
    __syncthreads();  // all threads know where the values are
    if (threadIdx.x == 0) turn_task(task, args.record_bytes);
  }
}

/// A block a part of a column.
template <class Word, bool kOneLane>
__global__ void __launch_bounds__(kSegmentJoinThreads, kSegmentJoinBlocksPerSm)
    join_segments_kernel(JoinSegmentsArgs args, std::uint32_t parts) {
  device::start_successor();
  __shared__ JoinShared<Word> shared;
  device::wait_for_predecessor();
  const std::uint64_t items = static_cast<std::uint64_t>(args.num_tasks) * parts;
  for (std::uint64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const ColumnTask& task = args.tasks[item / parts];
    if (!is_joined(task)) continue;
    const SegmentedChunk& chunk = args.chunks[task.chunk];
    if (!chunk.right) continue;
    const JoinedColumn column =
        column_of(task, chunk, task.segments.residuals, task.out, args.record_bytes);
    const ColumnPart part = part_of(column, static_cast<std::uint32_t>(item % parts), parts);
    if (part.first >= part.end) continue;
    const SegmentOrders orders{task.segments.orders, task.tuple};
    if (threadIdx.x < column.tuple)
      shared.orders[threadIdx.x] = static_cast<std::uint8_t>(orders.of_lane(threadIdx.x));
    join_part<Word, kOneLane>(column, part, orders.highest(), shared);
  }
}

template <class Word, bool kOneLane>
cudaError_t launch_sum_heads(const JoinSegmentsArgs& args, int value_bytes, cudaStream_t stream) {
  const std::uint32_t blocks = std::min(args.num_tasks, kSegmentJoinMostBlocks);
  if (kOneLane && value_bytes == sizeof(Word))
    return device::launch_after<sum_head_words_kernel<Word>>(blocks, kWordThreads, stream, args,
                                                             device::spread_step(args.num_tasks));
  return device::launch_after<sum_heads_kernel<Word, kOneLane>>(blocks, kSegmentJoinThreads, stream,
                                                                args);
}

template <class Word, bool kOneLane>
cudaError_t launch_join(const JoinSegmentsArgs& args, int value_bytes, cudaStream_t stream) {
  if (auto error = launch_sum_heads<Word, kOneLane>(args, value_bytes, stream)) return error;
  constexpr auto kKernel = join_segments_kernel<Word, kOneLane>;
  int resident = 0;
  if (auto error = device::resident_blocks<kKernel>(kSegmentJoinThreads, resident)) return error;
  const auto wanted = static_cast<std::uint32_t>(kRounds * resident);
  const std::uint32_t parts = std::max(1u, wanted / args.num_tasks);
  const std::uint64_t items = static_cast<std::uint64_t>(args.num_tasks) * parts;
  return device::launch_after<kKernel>(
      static_cast<unsigned>(std::min<std::uint64_t>(items, kSegmentJoinMostBlocks)),
      kSegmentJoinThreads, stream, args, parts);
}

}  // namespace

cudaError_t launch_join_segments(const JoinSegmentsArgs& args, int value_bytes, int most_tuple,
                                 cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  const auto launch = [&](auto word) {
    using Word = decltype(word);
    return most_tuple == 1 ? launch_join<Word, true>(args, value_bytes, stream)
                           : launch_join<Word, false>(args, value_bytes, stream);
  };
  return value_bytes == 8 ? launch(std::uint64_t{}) : launch(std::uint32_t{});
}

}  // namespace gdelta::cuda
