// Scan along columns: strides too wide for a tile of contiguous values.
//
// A thread owns a column of a stretch of rows and keeps its values in registers; neighbouring
// threads own neighbouring columns, so every row is read and written coalesced and nothing is
// transposed. Two kernels:
//
//   walk  enough columns to fill the device: a thread walks its column from the first row to the
//         last. No exchange and no scratch; floating-point values are added in row order.
//   tile  fewer columns: rows are cut as well. A block takes `width` columns of one link of rows,
//         `stretches` stretches of kRows rows. Stretches meet in shared memory; the links of a
//         column are one chain of scan_levels.cuh, with groups and chapters just large enough that
//         a chapter spans kChapterBytes of values.
//
// Forward progress: a tile waits for tiles of earlier links only, which have smaller numbers. Many
// tiles are taken in order from a counter, so those blocks already run, whatever else the device
// does; few tiles (kOrderedTiles, one wave) are numbered by block, and the hardware starts blocks
// in that order.
//
// States of stretches are pulled back to the start of the tile (P of a negative length), where they
// are plain vectors to add up.
#pragma once

#include <cstring>

#include "kernels/device/ptx.cuh"
#include "kernels/scan/scan_launch.cuh"
#include "kernels/scan/tile/scan_levels.cuh"
#include "kernels/scan/tile/scan_run.cuh"

namespace gdelta::scan {

/// Matrices (first columns), in the constant bank: neighbouring threads mostly want the same row.
template <class Word, int Q, int Rows>
struct ConstantTable {
  Word rows[Q == 1 ? 1 : Rows][Q];

  template <class Algebra>
  __device__ void advance_by(int row, Word* state) const {
    if constexpr (Q > 1) advance<Algebra, Q>(rows[row], state);
  }
};

template <class Word, int Q>
struct ColumnTables {
  ConstantTable<Word, Q, kMaxStretches> ahead;       ///< s stretches
  ConstantTable<Word, Q, kMaxStretches> back;        ///< back over s + 1 stretches
  ConstantTable<Word, Q, kMaxColumnGroup + 1> tile;  ///< p links
  ConstantTable<Word, Q, kMaxColumnGroup> group;     ///< p groups of links
};

template <class Algebra, int Q>
struct ColumnArguments {
  ColumnPlan plan;
  Algebra algebra;
  ColumnTables<typename Algebra::Word, Q> tables;
};

/// Rows [first, first + rows) of a column, in scan order.
struct ColumnStretch {
  std::int64_t index;  ///< the first value's, in the array
  std::int64_t step;   ///< how far the next row is
  int rows;            ///< that exist
};

__device__ __forceinline__ std::uint64_t rows_of_column(const ColumnPlan& plan,
                                                        std::uint64_t column) {
  return column >= plan.pitch ? 0 : plan.rows - (column >= plan.last_row_columns);
}

__device__ __forceinline__ ColumnStretch column_stretch(const ColumnPlan& plan,
                                                        std::uint64_t column, std::uint64_t first,
                                                        int rows) {
  const std::uint64_t all = rows_of_column(plan, column);
  const std::int64_t index = static_cast<std::int64_t>(first * plan.pitch + column);
  const std::int64_t pitch = static_cast<std::int64_t>(plan.pitch);
  const bool backward = plan.job.backward;
  return {backward ? static_cast<std::int64_t>(plan.job.count) - 1 - index : index,
          backward ? -pitch : pitch,
          all <= first                                     ? 0
          : all - first < static_cast<std::uint64_t>(rows) ? static_cast<int>(all - first)
                                                           : rows};
}

/// Missing values come after all others of their column, so what stands for them reaches no result.
template <int Rows, class Storage>
__device__ __forceinline__ void load_stretch(const ColumnPlan& plan, const ColumnStretch& stretch,
                                             Storage (&x)[Rows]) {
  const Storage* p = static_cast<const Storage*>(plan.job.in) + stretch.index;
  if (stretch.rows == Rows) {
#pragma unroll
    for (int j = 0; j < Rows; ++j, p += stretch.step) x[j] = __ldcg(p);
  } else {
#pragma unroll
    for (int j = 0; j < Rows; ++j, p += stretch.step)
      x[j] = j < stretch.rows ? __ldcg(p) : Storage{};
  }
}

template <int Rows, class Storage>
__device__ __forceinline__ void store_stretch(const ColumnPlan& plan, const ColumnStretch& stretch,
                                              const Storage (&x)[Rows]) {
  Storage* p = static_cast<Storage*>(plan.job.out) + stretch.index;
  if (stretch.rows == Rows) {
#pragma unroll
    for (int j = 0; j < Rows; ++j, p += stretch.step) __stcg(p, x[j]);
  } else {
#pragma unroll
    for (int j = 0; j < Rows; ++j, p += stretch.step) {
      if (j < stretch.rows) __stcg(p, x[j]);
    }
  }
}

// ---- Walk: a thread a column

template <class Algebra, int Rows>
__global__ void __launch_bounds__(kColumnThreads)
    column_walk_kernel(const __grid_constant__ ColumnArguments<Algebra, 1> arguments) {
  using Word = typename Algebra::Word;
  using Storage = typename Algebra::Storage;
  const ColumnPlan& plan = arguments.plan;
  const int order = plan.job.order;
  const std::uint64_t column = blockIdx.x * std::uint64_t{kColumnThreads} + threadIdx.x;
  const std::uint64_t rows = rows_of_column(plan, column);
  Word state[kMaxOrder];
  clear<Algebra, kMaxOrder>(state);
  Word result = Algebra::identity();
  const auto enter = [&](Storage x) {
    const Word before = result;
    result = arguments.algebra.load(x);
#pragma unroll
    for (int i = 0; i < kMaxOrder; ++i) {
      if (i >= order) break;
      // Half precision is rounded at the end of every order.
      if (i > 0) result = arguments.algebra.load(arguments.algebra.store(result));
      state[i] = Algebra::add(state[i], result);
      result = state[i];
    }
    return arguments.algebra.store(plan.job.exclusive ? before : result);
  };
  const ColumnStretch place = column_stretch(plan, column, 0, 1);
  const Storage* in = static_cast<const Storage*>(plan.job.in) + place.index;
  Storage* out = static_cast<Storage*>(plan.job.out) + place.index;
  std::uint64_t row = 0;
  for (; row + Rows <= rows; row += Rows) {
    Storage x[Rows];
#pragma unroll
    for (int j = 0; j < Rows; ++j, in += place.step) x[j] = __ldcg(in);
#pragma unroll
    for (int j = 0; j < Rows; ++j, out += place.step) __stcg(out, enter(x[j]));
  }
  for (; row < rows; ++row, in += place.step, out += place.step) __stcg(out, enter(__ldcg(in)));
}

// ---- Tile: a block a strip of columns of one link

/// What a thread owns of a tile: a stretch of one column.
struct ColumnPlace {
  unsigned link;
  int stretch;
  int index;  ///< the column's, in the strip
  bool owner;
  std::uint64_t column;  ///< `pitch` or more: does not exist

  __device__ std::uint64_t first_row(const ColumnPlan& plan, int rows) const {
    return (link * static_cast<std::uint64_t>(plan.stretches) + stretch) * rows;
  }
};

__device__ __forceinline__ ColumnPlace column_place(const ColumnPlan& plan, unsigned tile) {
  ColumnPlace place;
  place.link = tile / plan.strips;
  place.stretch = static_cast<int>(threadIdx.x) / plan.width;
  place.index = static_cast<int>(threadIdx.x) - place.stretch * plan.width;
  place.owner = place.stretch < plan.stretches;
  const unsigned strip = tile - place.link * plan.strips;
  place.column =
      place.owner ? strip * static_cast<std::uint64_t>(plan.width) + place.index : plan.pitch;
  return place;
}

template <class Algebra, int Q, int Rows, bool Exact>
__global__ void __launch_bounds__(kColumnThreads, column_blocks(Q))
    column_tile_kernel(const __grid_constant__ ColumnArguments<Algebra, Q> arguments) {
  using Word = typename Algebra::Word;
  using Storage = typename Algebra::Storage;
  constexpr int kWords = Q * kSlotWords<Word>;
  __shared__ Word states[Q][kColumnThreads];
  __shared__ Word partials[Q][kColumnThreads];
  __shared__ unsigned shared_tile;

  const ColumnPlan& plan = arguments.plan;
  const ColumnTables<Word, Q>& tables = arguments.tables;
  const int thread = threadIdx.x;
  if (plan.counter != nullptr) device::wait_for_predecessor();
  if (thread == 0) shared_tile = plan.counter != nullptr ? atomicAdd(plan.counter, 1u) : blockIdx.x;
  __syncthreads();  // the tile's number is there

  Storage x[Rows];
  const ColumnPlace place = column_place(plan, shared_tile);
  load_stretch(plan, column_stretch(plan, place.column, place.first_row(plan, Rows), Rows), x);

  const Levels levels(place.link, plan.group_links, plan.chapter_groups);
  const Helpers helpers{
      .lanes = plan.width, .count = plan.stretches, .helper = place.stretch, .lane = place.index};
  const bool alone = plan.sums == nullptr;
  if (!alone && plan.counter == nullptr) device::wait_for_predecessor();

  for (int round = 0; round < plan.rounds; ++round) {
    Word state[Q];
    clear<Algebra, Q>(state);
#pragma unroll
    for (int j = 0; j < Rows; ++j) step<Algebra, Q>(arguments.algebra.load(x[j]), state);
    if (place.owner) tables.back.template advance_by<Algebra>(place.stretch, state);
#pragma unroll
    for (int q = 0; q < Q; ++q) states[q][thread] = state[q];
    __syncthreads();  // every stretch's state is there

    Word total[Q];
    sum_helpers<Algebra, Q, kColumnThreads>(states, helpers, state, total);
    if (!alone) {
      // Words of neighbouring columns lie side by side.
      LevelWords words;
      words.spacing = kWords * plan.pitch;
      words.stride = plan.pitch;
      const std::size_t number = round;
      words.sums = plan.sums + number * plan.links * words.spacing + place.column;
      words.totals = plan.totals + number * plan.groups * words.spacing + place.column;
      words.prefixes = plan.prefixes + number * plan.chapters * words.spacing + place.column;
      Word carry[Q];
      exchange_by_block<Algebra, Q, kColumnThreads>(
          words, levels, tables, helpers, place.column < plan.pitch, partials, total, carry);
      accumulate<Algebra, Q>(state, carry);
    } else {
      __syncthreads();  // states are read; the next round may overwrite them
    }
    if (place.owner) tables.ahead.template advance_by<Algebra>(place.stretch, state);
    const bool exclusive = plan.job.exclusive && round + 1 == plan.rounds;
#pragma unroll
    for (int j = 0; j < Rows; ++j) {
      const Word before = result_of<Q, Exact>(plan.job.order, state);
      step<Algebra, Q>(arguments.algebra.load(x[j]), state);
      const Word after = result_of<Q, Exact>(plan.job.order, state);
      x[j] = arguments.algebra.store(exclusive ? before : after);
    }
  }
  // The place is computed again, from shared memory, which costs less than registers for it.
  __syncthreads();  // so that it is read again
  const ColumnPlace end = column_place(plan, shared_tile);
  store_stretch(plan, column_stretch(plan, end.column, end.first_row(plan, Rows), Rows), x);
}

/// Fills the tables and launches what the plan says.
template <class Algebra, int Q, bool Exact>
cudaError_t launch_column_kernel(const ColumnPlan& plan, const Algebra& algebra,
                                 cudaStream_t stream) {
  using Storage = typename Algebra::Storage;
  constexpr int kRows = column_rows(sizeof(Storage));
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(plan.blocks));
  config.blockDim = dim3(kColumnThreads);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = plan.early_start ? 1 : 0;
  ColumnArguments<Algebra, Q> arguments{plan, algebra, {}};
  if constexpr (Q > 1) {
    const std::int64_t link = std::int64_t(plan.stretches) * kRows;
    typename Algebra::Word back[kMaxStretches + 1][Q];
    Algebra::template powers<Q>(kRows, kMaxStretches, arguments.tables.ahead.rows);
    Algebra::template powers<Q>(-kRows, kMaxStretches + 1, back);
    std::memcpy(arguments.tables.back.rows, back + 1, sizeof(arguments.tables.back.rows));
    Algebra::template powers<Q>(link, kMaxColumnGroup + 1, arguments.tables.tile.rows);
    Algebra::template powers<Q>(link * plan.group_links, kMaxColumnGroup,
                                arguments.tables.group.rows);
  }
  return cudaLaunchKernelEx(&config, column_tile_kernel<Algebra, Q, kRows, Exact>, arguments);
}

template <class Algebra>
cudaError_t launch_column_walk(const ColumnPlan& plan, const Algebra& algebra,
                               cudaStream_t stream) {
  const ColumnArguments<Algebra, 1> arguments{plan, algebra, {}};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(plan.blocks));
  config.blockDim = dim3(kColumnThreads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, column_walk_kernel<Algebra, kWalkRows>, arguments);
}

struct ColumnLauncher {
  const ColumnPlan& plan;
  cudaStream_t stream;

  template <class Algebra, int Q, bool Exact>
  cudaError_t run(const Algebra& algebra) const {
    if (plan.walk) return launch_column_walk<Algebra>(plan, algebra, stream);
    return launch_column_kernel<Algebra, Q, Exact>(plan, algebra, stream);
  }
};

}  // namespace gdelta::scan
