#include "gdelta/device_access.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/shared_limit.h"
#include "kernels/linear/linear_shape.h"
#include "kernels/linear/linear_undo_cuda.h"
#include "kernels/pages/page_limits.h"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 32;  // a warp, so that it starts and ends by itself
constexpr int kTile = 32;     // tuples
constexpr int kPlaces = kMaxLinearTaps + kTile;
// One more, so that neighbouring places of a run lie in different banks.
constexpr int kPitch = kThreads + 1;
constexpr std::size_t kMostShared = 96 << 10;
constexpr std::uint32_t kMostRows = 4096;    // blocks side by side; each takes a task at a time
constexpr std::uint32_t kMostGroups = 8192;  // blocks in all

/// Words as signed numbers (linear_shape.h).
template <int ValueBytes>
using NumberOf = std::conditional_t<ValueBytes == 8, std::int64_t, std::int32_t>;

template <int ValueBytes>
__host__ __device__ constexpr std::size_t lane_shared_bytes() {
  return sizeof(NumberOf<ValueBytes>) * kPlaces * kPitch +
         sizeof(std::int16_t) * kMaxLinearTaps * kThreads;
}

/// What the fields of a column say of all lanes, and where it goes on.
struct LinearHead {
  const unsigned char* lanes;
  const unsigned char* table;
  std::uint32_t bits_of_run;
  int run_bits;
  bool is_unsigned;
};

__device__ LinearHead read_head(const ColumnTask& task) {
  LinearHead head{.lanes = task.linear + 2,
                  .table = nullptr,
                  .bits_of_run = 0,
                  .run_bits = task.linear[0],
                  .is_unsigned = task.linear[1] != 0};
  const unsigned char* at = head.lanes;
  for (int number = 0; number < task.tuple; ++number) {
    LinearLane lane;
    at = read_linear_lane(at, lane);
    for (int tap = lane.taps(); tap > 0; --tap, at += kLinearTapBytes) head.bits_of_run += at[2];
  }
  head.table = at;
  return head;
}

template <int ValueBytes>
struct Reading {
  using Word = WordOf<ValueBytes>;
  using Number = NumberOf<ValueBytes>;
  static constexpr int kSpare = static_cast<int>(8 * sizeof(Word)) - 8 * ValueBytes;

  __device__ explicit Reading(bool is_unsigned)
      : bias(is_unsigned ? Word{1} << (8 * ValueBytes - 1) : 0) {}
  __device__ Number number(Word word) const {
    return static_cast<Number>((word ^ bias) << kSpare) >> kSpare;
  }
  __device__ Word word(Number number) const { return static_cast<Word>(number) + bias; }

  Word bias;
};

/// A run of a column.
struct Run {
  std::uint64_t first;  // tuple
  std::uint32_t tuples;
  std::uint64_t bit;  // of its coefficients in the table
};

__device__ Run run_of(const ColumnTask& task, const LinearHead& head, std::uint64_t number) {
  Run run{number << head.run_bits, 0, number * head.bits_of_run};
  if (run.first < task.records)
    run.tuples = static_cast<std::uint32_t>(
        min(std::uint64_t{1} << head.run_bits, task.records - run.first));
  return run;
}

__device__ unsigned char* value_at(const ColumnTask& task, std::uint64_t tuple, int lane) {
  return task.out + tuple * task.record_bytes + lane * task.value_bytes;
}

// ---- Through shared memory

template <int ValueBytes>
struct Staged {
  using Word = WordOf<ValueBytes>;
  using Number = NumberOf<ValueBytes>;

  __device__ Staged(unsigned char* shared, int tuple)
      : rows(reinterpret_cast<Number*>(shared)),
        coefficients(reinterpret_cast<std::int16_t*>(rows + tuple * kPlaces * kPitch)) {}

  /// The place of a thread's own run.
  __device__ Number* place(int lane, int number) const {
    return rows + (lane * kPlaces + number) * kPitch + (threadIdx.x & 31);
  }

  Number* rows;                // [lane][place][run]: history, then a tile
  std::int16_t* coefficients;  // [tap of all lanes][run]
};

constexpr int kRowsAtOnce = 8;  // loads of a thread that are on their way together

/// The values of a tile of the warp's runs, which lie one behind the other in each of them.
struct TileRows {
  __device__ TileRows(const ColumnTask& task, const LinearHead& head, std::uint64_t first_run,
                      std::uint32_t at)
      : task(task),
        head(head),
        first_run(first_run),
        at(at),
        inverse((1u << 20) / task.tuple + 1) {}

  /// How many values a run has in the tile.
  __device__ std::uint32_t values(int row) const {
    const std::uint64_t first = ((first_run + row) << head.run_bits) + at;
    if (first >= task.records) return 0;
    const std::uint64_t left = task.records - first;
    return (left < kTile ? static_cast<std::uint32_t>(left) : kTile) * task.tuple;
  }
  /// Right for values of a tile.
  __device__ std::uint32_t tuple_of(std::uint32_t value) const { return value * inverse >> 20; }
  __device__ unsigned char* address(int row, std::uint32_t tuple, std::uint32_t lane) const {
    return value_at(task, ((first_run + row) << head.run_bits) + at + tuple,
                    static_cast<int>(lane));
  }

  const ColumnTask& task;
  const LinearHead& head;
  std::uint64_t first_run;
  std::uint32_t at;
  std::uint32_t inverse;
};

template <int ValueBytes>
__device__ void load_tile(const TileRows& rows, const Staged<ValueBytes>& staged, bool aligned) {
  using Word = WordOf<ValueBytes>;
  const auto tuple = static_cast<std::uint32_t>(rows.task.tuple);
  for (std::uint32_t value = threadIdx.x & 31; value < kTile * tuple; value += kThreads) {
    const std::uint32_t i = rows.tuple_of(value), lane = value - i * tuple;
    auto* const places = staged.rows + (lane * kPlaces + kMaxLinearTaps + i) * kPitch;
    for (int row = 0; row < kThreads; row += kRowsAtOnce) {
      Word words[kRowsAtOnce];
#pragma unroll
      for (int k = 0; k < kRowsAtOnce; ++k)
        words[k] = value < rows.values(row + k)
                       ? load_value<Word>(rows.address(row + k, i, lane), ValueBytes, aligned)
                       : Word{0};
#pragma unroll
      for (int k = 0; k < kRowsAtOnce; ++k)
        places[row + k] = static_cast<NumberOf<ValueBytes>>(words[k]);
    }
  }
}

template <int ValueBytes>
__device__ void store_tile(const TileRows& rows, const Staged<ValueBytes>& staged,
                           const Reading<ValueBytes>& reading, bool aligned) {
  const auto tuple = static_cast<std::uint32_t>(rows.task.tuple);
  const std::uint8_t map = rows.task.map;
  const bool big_endian = rows.task.big_endian;
  for (std::uint32_t value = threadIdx.x & 31; value < kTile * tuple; value += kThreads) {
    const std::uint32_t i = rows.tuple_of(value), lane = value - i * tuple;
    const auto* const places = staged.rows + (lane * kPlaces + kMaxLinearTaps + i) * kPitch;
#pragma unroll 8
    for (int row = 0; row < kThreads; ++row)
      if (value < rows.values(row))
        store_value(rows.address(row, i, lane), ValueBytes, aligned,
                    finish_value(reading.word(places[row]), ValueBytes, map, big_endian));
  }
}

/// The sum of products of taps and the numbers from `x` back.
template <class Sum, class Number>
__device__ Sum add_products(const std::int16_t* c, const Number* x, int taps, Sum sum) {
#pragma unroll 8
  for (int k = 0; k < taps; ++k)
    sum += static_cast<Sum>(c[k * kThreads]) * static_cast<Sum>(x[-k * kPitch]);
  return sum;
}

/// A lane of a tile.
template <int ValueBytes>
struct LaneTile {
  const Staged<ValueBytes>& staged;
  const Reading<ValueBytes>& reading;
  const LinearLane& lane;
  int number;
  const std::int16_t* c;  // the lane's coefficients of the thread's run
  std::uint32_t at;       // of the run
  std::uint32_t tuples;
};

/// Makes numbers of residuals: own taps are kMostOwn or fewer, and their coefficients stay in registers.
template <int ValueBytes, class Sum, int kMostOwn>
__device__ void undo_lane(const LaneTile<ValueBytes>& tile) {
  using Word = WordOf<ValueBytes>;
  const LinearLane& lane = tile.lane;
  const Reading<ValueBytes>& reading = tile.reading;
  Sum own[kMostOwn > 0 ? kMostOwn : 1];
#pragma unroll
  for (int k = 0; k < kMostOwn; ++k)
    own[k] = k < lane.own ? static_cast<Sum>(tile.c[k * kThreads]) : Sum{0};
  Sum constant = lane.shift > 0 ? Sum{1} << (lane.shift - 1) : 0;
  for (int tap = 0; tap < lane.taps(); ++tap)
    constant += static_cast<Sum>(tile.c[tap * kThreads]) * static_cast<Sum>(reading.bias);
  std::uint32_t i = 0;
  for (const auto history = static_cast<std::uint32_t>(lane.history());
       i < tile.tuples && tile.at + i < history; ++i) {
    auto* const x = tile.staged.place(tile.number, kMaxLinearTaps + static_cast<int>(i));
    *x = reading.number(static_cast<Word>(*x) +
                        early_prediction<Word>(tile.at + i, reading.word(x[-kPitch]),
                                               reading.word(x[-2 * kPitch])));
  }
  for (; i < tile.tuples; ++i) {
    const int place = kMaxLinearTaps + static_cast<int>(i);
    auto* const x = tile.staged.place(tile.number, place);
    Sum sum = constant;
    const std::int16_t* of_source = tile.c + lane.own * kThreads;
    for (int source = 0; source < lane.num_sources; ++source) {
      const LinearSource from = lane.sources[source];
      sum = add_products(of_source, tile.staged.place(from.lane, place), from.taps, sum);
      of_source += from.taps * kThreads;
    }
    // The number that was found last comes last.
#pragma unroll
    for (int k = kMostOwn; k-- > 0;) sum += own[k] * static_cast<Sum>(x[-(k + 1) * kPitch]);
    const auto prediction =
        static_cast<Word>(static_cast<std::make_signed_t<Sum>>(sum) >> lane.shift);
    *x = reading.number(static_cast<Word>(*x) + prediction);
  }
}

template <int ValueBytes, class Sum>
__device__ void undo_lane_of(const LaneTile<ValueBytes>& tile) {
  if (tile.lane.own > 24) return undo_lane<ValueBytes, Sum, 32>(tile);
  if (tile.lane.own > 16) return undo_lane<ValueBytes, Sum, 24>(tile);
  if (tile.lane.own > 8) return undo_lane<ValueBytes, Sum, 16>(tile);
  undo_lane<ValueBytes, Sum, 8>(tile);
}

/// 32 runs, by one warp.
template <int ValueBytes>
__device__ void undo_staged(const ColumnTask& task, const LinearHead& head, std::uint64_t first_run,
                            unsigned char* shared) {
  const int thread = threadIdx.x & 31;
  const Reading<ValueBytes> reading(head.is_unsigned);
  const Staged<ValueBytes> staged(shared, task.tuple);
  const Run own = run_of(task, head, first_run + thread);
  const bool aligned = is_value_aligned(task.out, task.record_bytes, ValueBytes);
  const unsigned char* fields = head.lanes;
  std::int16_t* c = staged.coefficients + thread;
  std::uint64_t bit = own.bit;
  for (int number = 0; number < task.tuple; ++number) {
    LinearLane lane;
    fields = read_linear_lane(fields, lane);
    for (int tap = lane.taps(); tap > 0; --tap, fields += kLinearTapBytes, c += kThreads) {
      *c = own.tuples > 0 ? read_linear_coefficient(fields, head.table, bit) : std::int16_t{0};
      bit += fields[2];
    }
    // What is before a run is not looked at, but multiplied by nothing sometimes.
    for (int place = 0; place < kMaxLinearTaps; ++place) *staged.place(number, place) = 0;
  }
  const std::uint32_t longest = run_of(task, head, first_run).tuples;
  for (std::uint32_t at = 0; at < longest; at += kTile) {
    const TileRows rows(task, head, first_run, at);
    __syncwarp();  // the history of all runs has been kept
    load_tile<ValueBytes>(rows, staged, aligned);
    __syncwarp();  // residuals are there
    const std::uint32_t tuples = own.tuples > at ? min(own.tuples - at, std::uint32_t{kTile}) : 0;
    fields = head.lanes;
    const std::int16_t* of_lane = staged.coefficients + thread;
    for (int number = 0; number < task.tuple; ++number) {
      LinearLane lane;
      fields = read_linear_lane(fields, lane) + kLinearTapBytes * lane.taps();
      const LaneTile<ValueBytes> tile{.staged = staged,
                                      .reading = reading,
                                      .lane = lane,
                                      .number = number,
                                      .c = of_lane,
                                      .at = at,
                                      .tuples = tuples};
      if (sums_are_narrow(8 * ValueBytes, lane.shift)) {
        undo_lane_of<ValueBytes, std::uint32_t>(tile);
      } else {
        undo_lane_of<ValueBytes, std::uint64_t>(tile);
      }
      of_lane += lane.taps() * kThreads;
    }
    __syncwarp();  // numbers are there
    store_tile<ValueBytes>(rows, staged, reading, aligned);
    __syncwarp();  // they may become history, and the tile be overwritten
    for (int number = 0; number < task.tuple; ++number)
      for (int place = 0; place < kMaxLinearTaps; ++place)
        *staged.place(number, place) = *staged.place(number, place + kTile);
  }
}

// ---- Where they lie

/// The prediction of one value of a run, from those before it.
template <int ValueBytes>
__device__ WordOf<ValueBytes> predict_in_place(const ColumnTask& task, const LinearHead& head,
                                               const Run& run, const LinearLane& lane, int number,
                                               const unsigned char* taps, std::uint64_t bit,
                                               std::uint32_t i) {
  using Word = WordOf<ValueBytes>;
  const Reading<ValueBytes> reading(head.is_unsigned);
  const auto word = [&](int of_lane, std::uint32_t back) {
    return load_value<Word>(value_at(task, run.first + i - back, of_lane), ValueBytes, false);
  };
  if (i < static_cast<std::uint32_t>(lane.history()))
    return early_prediction<Word>(i, i < 1 ? 0 : word(number, 1), i < 2 ? 0 : word(number, 2));
  std::uint64_t sum = lane.shift > 0 ? std::uint64_t{1} << (lane.shift - 1) : 0;
  const auto add = [&](int of_lane, std::uint32_t back) {
    const auto coefficient =
        static_cast<std::uint64_t>(read_linear_coefficient(taps, head.table, bit));
    sum += coefficient *
           (static_cast<std::uint64_t>(reading.number(word(of_lane, back))) + reading.bias);
    bit += taps[2];
    taps += kLinearTapBytes;
  };
  for (std::uint32_t k = 0; k < lane.own; ++k) add(number, k + 1);
  for (int source = 0; source < lane.num_sources; ++source)
    for (std::uint32_t k = 0; k < lane.sources[source].taps; ++k) add(lane.sources[source].lane, k);
  return static_cast<Word>(static_cast<std::int64_t>(sum) >> lane.shift);
}

/// A run, by one thread.
template <int ValueBytes>
__device__ void undo_in_place(const ColumnTask& task, const LinearHead& head, const Run& run) {
  using Word = WordOf<ValueBytes>;
  for (std::uint32_t i = 0; i < run.tuples; ++i) {
    const unsigned char* fields = head.lanes;
    std::uint64_t bit = run.bit;
    for (int number = 0; number < task.tuple; ++number) {
      LinearLane lane;
      const unsigned char* const taps = read_linear_lane(fields, lane);
      unsigned char* const value = value_at(task, run.first + i, number);
      store_value(value, ValueBytes, false,
                  static_cast<Word>(
                      load_value<Word>(value, ValueBytes, false) +
                      predict_in_place<ValueBytes>(task, head, run, lane, number, taps, bit, i)));
      fields = taps + kLinearTapBytes * lane.taps();
      for (const unsigned char* tap = taps; tap < fields; tap += kLinearTapBytes) bit += tap[2];
    }
  }
  // Once nothing is predicted from them any more.
  if (task.map == 0 && !task.big_endian) return;
  for (std::uint32_t i = 0; i < run.tuples; ++i)
    for (int number = 0; number < task.tuple; ++number) {
      unsigned char* const value = value_at(task, run.first + i, number);
      store_value(value, ValueBytes, false,
                  finish_value(load_value<Word>(value, ValueBytes, false), ValueBytes, task.map,
                               task.big_endian));
    }
}

template <int ValueBytes>
__global__ void __launch_bounds__(kThreads)
    linear_undo_kernel(const ColumnTask* tasks, std::uint32_t num_tasks, std::size_t shared_bytes) {
  device::start_successor();
  device::wait_for_predecessor();
  for (std::uint32_t i = blockIdx.x; i < num_tasks; i += gridDim.x) {
    const ColumnTask& task = tasks[i];
    if (task.path < ColumnPath::page_warp || !task.is_linear()) continue;
    const LinearHead head = read_head(task);
    const std::uint64_t runs =
        (task.records + (std::uint64_t{1} << head.run_bits) - 1) >> head.run_bits;
    const bool is_staged = task.tuple * lane_shared_bytes<ValueBytes>() <= shared_bytes;
    for (std::uint64_t first = std::uint64_t{kThreads} * blockIdx.y; first < runs;
         first += std::uint64_t{kThreads} * gridDim.y) {
      if (is_staged) {
        undo_staged<ValueBytes>(task, head, first, device::dynamic_shared());
      } else {
        undo_in_place<ValueBytes>(task, head, run_of(task, head, first + (threadIdx.x & 31)));
      }
    }
  }
}

template <int ValueBytes>
cudaError_t launch(const ColumnTask* tasks, std::uint32_t num_tasks, int most_tuple,
                   std::uint64_t max_runs, cudaStream_t stream) {
  const std::size_t wanted = most_tuple * lane_shared_bytes<ValueBytes>();
  const std::size_t shared_bytes =
      wanted <= kMostShared
          ? wanted
          : kMostShared / lane_shared_bytes<ValueBytes>() * lane_shared_bytes<ValueBytes>();
  if (const cudaError_t error = device::raise_shared_limit(linear_undo_kernel<ValueBytes>))
    return error;
  const std::uint32_t rows = num_tasks < kMostRows ? num_tasks : kMostRows;
  const auto groups = static_cast<std::uint32_t>(max_runs / kThreads + 1);
  return device::launch_after_with<linear_undo_kernel<ValueBytes>>(
      dim3(rows, groups < kMostGroups / rows ? groups : kMostGroups / rows), kThreads, shared_bytes,
      stream, tasks, num_tasks, shared_bytes);
}

}  // namespace

cudaError_t launch_linear_undo(const ColumnTask* tasks, std::uint32_t num_tasks, int value_bytes,
                               int most_tuple, std::uint64_t max_runs, cudaStream_t stream) {
  if (num_tasks == 0) return cudaSuccess;
  switch (value_bytes) {
    case 1:
      return launch<1>(tasks, num_tasks, most_tuple, max_runs, stream);
    case 2:
      return launch<2>(tasks, num_tasks, most_tuple, max_runs, stream);
    case 3:
      return launch<3>(tasks, num_tasks, most_tuple, max_runs, stream);
    case 4:
      return launch<4>(tasks, num_tasks, most_tuple, max_runs, stream);
    default:
      return launch<8>(tasks, num_tasks, most_tuple, max_runs, stream);
  }
}

}  // namespace gdelta::cuda
