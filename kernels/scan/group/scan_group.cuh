// Scan with a block a tile: small inputs, unaligned buffers, iterated operators, and any device.
//
// The carry of a tile comes from the three levels of scan_levels.cuh. A block waits for blocks
// before it only. Many tiles are taken in order from a counter, so that those blocks already run,
// whatever else the device does; few tiles (kOrderedTiles, one wave) are numbered by block, and the
// hardware starts blocks in that order.
//
// States of runs are pulled back to the start of their unit, those of units to the start of the
// tile (P of a negative length). There they are plain vectors to add up, so a thread multiplies by
// a matrix twice, not once a shuffle.
//
// Operators without a matrix reach higher orders by `rounds`: the tile stays in shared memory and
// is scanned again.
#pragma once

#include <cstring>

#include "kernels/device/ptx.cuh"
#include "kernels/device/shared_limit.h"
#include "kernels/scan/tile/scan_levels.cuh"
#include "kernels/scan/tile/scan_run.cuh"
#include "kernels/scan/tile/scan_span.cuh"

namespace gdelta::scan {

/// Matrices (first columns) for the distances inside a tile, between tiles and between groups.
template <class Word, int Q>
struct GroupTables {
  Word run_ahead[32][Q];            ///< g runs
  Word run_back[32][Q];             ///< back over g + 1 runs
  Word unit_ahead[kGroupWarps][Q];  ///< u units
  Word unit_back[kGroupWarps][Q];   ///< back over u units
  Word tile[kGroupTiles + 1][Q];    ///< p tiles
  Word group[kGroupTiles][Q];       ///< p groups
};

/// Without orders there is nothing to advance.
template <class Word>
struct GroupTables<Word, 1> {};

template <class Algebra, int Q>
struct GroupArguments {
  GroupPlan plan;
  Algebra algebra;
  GroupTables<typename Algebra::Word, Q> tables;
};

/// The same in shared memory, a word wider than the state so that threads with different rows meet
/// different banks.
template <class Word, int Q>
struct SharedGroupTables {
  SharedTable<Word, Q, 32> run_ahead;
  SharedTable<Word, Q, 32> run_back;
  SharedTable<Word, Q, kGroupWarps> unit_ahead;
  SharedTable<Word, Q, kGroupWarps> unit_back;
  SharedTable<Word, Q, kGroupTiles + 1> tile;
  SharedTable<Word, Q, kGroupTiles> group;

  /// Reads them as ordinary memory: threads that index the constant bank differently wait for one
  /// another.
  __device__ void load(const GroupTables<Word, Q>& from, int thread, int threads) {
    if constexpr (Q > 1) {
      const GroupTables<Word, Q>* const tables = device::forget_origin(&from);
      run_ahead.load(tables->run_ahead, thread, threads);
      run_back.load(tables->run_back, thread, threads);
      unit_ahead.load(tables->unit_ahead, thread, threads);
      unit_back.load(tables->unit_back, thread, threads);
      tile.load(tables->tile, thread, threads);
      group.load(tables->group, thread, threads);
    }
  }
};

/// State of a run of whole chunks that starts from nothing. Chunks enter registers as a whole, so
/// that loads do not wait for one another.
template <class Algebra, int Q, class Word = typename Algebra::Word>
__device__ __forceinline__ void summarise_chunks(const Algebra& algebra,
                                                 const typename Algebra::Storage* values,
                                                 int stride, int run, Word* state) {
  constexpr int kChunk = group_chunk(sizeof(typename Algebra::Storage));
  for (int first = 0; first < run; first += kChunk, values += kChunk * stride) {
    typename Algebra::Storage x[kChunk];
#pragma unroll
    for (int j = 0; j < kChunk; ++j) x[j] = values[j * stride];
#pragma unroll
    for (int j = 0; j < kChunk; ++j) step<Algebra, Q>(algebra.load(x[j]), state);
  }
}

/// The scan itself, in place, from the state before the run.
template <class Algebra, int Q, bool Exact, class Word = typename Algebra::Word>
__device__ __forceinline__ void rewrite_chunks(const Algebra& algebra,
                                               typename Algebra::Storage* values, int stride,
                                               int run, int order, bool exclusive, Word* state) {
  constexpr int kChunk = group_chunk(sizeof(typename Algebra::Storage));
  Word result = result_of<Q, Exact>(order, state);
  for (int first = 0; first < run; first += kChunk, values += kChunk * stride) {
    typename Algebra::Storage x[kChunk];
#pragma unroll
    for (int j = 0; j < kChunk; ++j) x[j] = values[j * stride];
#pragma unroll
    for (int j = 0; j < kChunk; ++j) {
      const Word before = result;
      step<Algebra, Q>(algebra.load(x[j]), state);
      result = result_of<Q, Exact>(order, state);
      values[j * stride] = algebra.store(exclusive ? before : result);
    }
  }
}

template <class Algebra, int Q, bool Exact>
__global__ void __launch_bounds__(32 * kGroupWarps,
                                  group_blocks(Q* kSlotWords<typename Algebra::Word>))
    group_scan_kernel(const __grid_constant__ GroupArguments<Algebra, Q> arguments) {
  using Word = typename Algebra::Word;
  using Storage = typename Algebra::Storage;
  constexpr int kThreads = 32 * kGroupWarps;
  constexpr int kWords = Q * kSlotWords<Word>;
  unsigned char* const shared = device::dynamic_shared();
  __shared__ SharedGroupTables<Word, Q> tables;
  __shared__ unsigned shared_tile;

  const GroupPlan& plan = arguments.plan;
  const Geometry& geometry = plan.job.geometry;
  const int tuple = geometry.tuple;
  const bool wide = tuple > kWidestNarrowTuple;
  Word(*const partials)[kThreads] = reinterpret_cast<Word(*)[kThreads]>(shared);  // [Q] if wide
  Word* const unit_states = &partials[wide ? Q : 0][0];  // [units][tuple][Q]
  unsigned char* const values =
      shared + group_state_bytes(geometry, Q * static_cast<int>(sizeof(Word)));
  const int thread = threadIdx.x;

  if (plan.counter != nullptr) device::wait_for_predecessor();
  if (thread == 0) shared_tile = plan.counter != nullptr ? atomicAdd(plan.counter, 1u) : blockIdx.x;
  __syncthreads();  // the tile's number is there
  const auto shift_of = [&](const Span& span) {
    return static_cast<int>(byte_range(plan.job.in, span, sizeof(Storage)).origin & 15);
  };

  // ---- the tile enters shared memory
  const Span entry = tile_span(plan.job, shared_tile);
  load_span<Storage>(values, plan.job.in, entry, thread, kThreads);
  tables.load(arguments.tables, thread, kThreads);
  __syncthreads();  // loaded by all, read along runs

  const bool reversed = plan.job.backward;
  const ThreadPlace place = thread_place(geometry, thread);
  const int start = place.unit * geometry.unit_values + place.group * plan.run * tuple + place.lane;
  const int stride = reversed ? -tuple : tuple;
  Storage* const run = reinterpret_cast<Storage*>(values + shift_of(entry)) +
                       (reversed ? geometry.tile_values - 1 - start : start);
  const bool owner = place.active && place.unit < geometry.units;
  const bool alone = plan.sums == nullptr;
  if (!alone && plan.counter == nullptr) device::wait_for_predecessor();

  for (int round = 0; round < plan.rounds; ++round) {
    Word state[Q];
    clear<Algebra, Q>(state);
    if (owner) {
      summarise_chunks<Algebra, Q>(arguments.algebra, run, stride, plan.run, state);
      tables.run_back.template advance_by<Algebra>(place.group, state);
    }
    __syncwarp();
    scan_unit<Algebra, Q>(geometry, place, state);
    if (owner && place.group == geometry.groups - 1) {
      copy_state<Q>(unit_states + (place.unit * tuple + place.lane) * Q, state);
    }
    shift_unit<Algebra, Q>(geometry, place, state);
    __syncthreads();  // every unit's state is there

    // ---- a warp or a thread for each lane: prefixes of units, the sum of the tile for the others,
    // the carry from them. A tile's words lie in sectors of their own; those of wide tuples with the
    // same word of neighbouring lanes side by side.
    const auto words_of = [&](int lane) {
      LevelWords words;
      words.spacing = group_slot_words(kWords * tuple);
      words.stride = wide ? tuple : 1;
      const std::size_t number = round;
      const std::size_t first = wide ? lane : lane * kWords;
      words.sums = plan.sums + number * plan.tiles * words.spacing + first;
      words.totals = plan.totals + number * plan.groups * words.spacing + first;
      words.prefixes = plan.prefixes + number * plan.chapters * words.spacing + first;
      return words;
    };
    if (wide) {
      const int helper = thread / tuple;
      const Helpers helpers{.lanes = tuple,
                            .count = kThreads / tuple,
                            .helper = helper,
                            .lane = thread - helper * tuple};
      Word* const unit_state = unit_states + helpers.lane * Q;
      Word total[Q];
      Word carry[Q];
      clear<Algebra, Q>(total);
      clear<Algebra, Q>(carry);
      if (helper == 0) {
        for (int unit = 0; unit < geometry.units; ++unit) {
          Word own[Q];
          copy_state<Q>(own, unit_state + unit * tuple * Q);
          tables.unit_back.template advance_by<Algebra>(unit, own);
          copy_state<Q>(unit_state + unit * tuple * Q, total);
          accumulate<Algebra, Q>(total, own);
        }
      }
      if (!alone) {
        const Levels levels(shared_tile, kGroupTiles, kGroupTiles);
        exchange_by_block<Algebra, Q, kThreads>(words_of(helpers.lane), levels, tables, helpers,
                                                helper < helpers.count, partials, total, carry);
      }
      if (helper == 0) {
        for (int unit = 0; unit < geometry.units; ++unit) {
          Word base[Q];
          copy_state<Q>(base, unit_state + unit * tuple * Q);
          accumulate<Algebra, Q>(base, carry);
          tables.unit_ahead.template advance_by<Algebra>(unit, base);
          copy_state<Q>(unit_state + unit * tuple * Q, base);
        }
      }
    } else if (const int lane = thread >> 5; lane < tuple) {
      const int unit = thread & 31;
      Word* const unit_state = unit_states + (unit * tuple + lane) * Q;
      Word base[Q];
      Word total[Q];
      clear<Algebra, Q>(base);
      if (unit < geometry.units) {
        copy_state<Q>(base, unit_state);
        tables.unit_back.template advance_by<Algebra>(unit, base);
      }
      __syncwarp();
      scan_across<Algebra, Q, 8>(unit & 7, base, total);
      if (!alone) {
        Word carry[Q];
        const Levels levels(shared_tile, kGroupTiles, kGroupTiles);
        exchange_by_warp<Algebra, Q>(words_of(lane), levels, tables, total, carry);
        accumulate<Algebra, Q>(base, carry);
      }
      if (unit < geometry.units) {
        tables.unit_ahead.template advance_by<Algebra>(unit, base);
        copy_state<Q>(unit_state, base);
      }
    }
    __syncthreads();  // the state at the start of every unit is there

    if (owner) {
      accumulate<Algebra, Q>(state, unit_states + (place.unit * tuple + place.lane) * Q);
      tables.run_ahead.template advance_by<Algebra>(place.group, state);
      const bool last = round + 1 == plan.rounds;
      rewrite_chunks<Algebra, Q, Exact>(arguments.algebra, run, stride, plan.run, plan.job.order,
                                        plan.job.exclusive && last, state);
    }
    __syncthreads();  // runs are rewritten; states of units may be overwritten
  }

  // ---- and leaves it; where to is computed again, which costs less than registers for it
  const Span exit = tile_span(plan.job, shared_tile);
  store_span<Storage>(values, shift_of(exit), plan.job.out, exit, thread, kThreads);
}

/// Fills the tables and launches; on devices that can, the scan starts while the scratch is still
/// being cleared.
template <class Algebra, int Q, bool Exact>
cudaError_t launch_group_kernel(const GroupPlan& plan, const Algebra& algebra,
                                cudaStream_t stream) {
  using Word = typename Algebra::Word;
  using Storage = typename Algebra::Storage;
  GroupArguments<Algebra, Q> arguments{plan, algebra, {}};
  const Geometry& geometry = plan.job.geometry;
  if constexpr (Q > 1) {
    GroupTables<Word, Q>& tables = arguments.tables;
    const std::int64_t unit = std::int64_t(geometry.groups) * plan.run;
    const std::int64_t tile = geometry.tile_values / geometry.tuple;
    Word back[33][Q];
    Algebra::template powers<Q>(-plan.run, 33, back);
    std::memcpy(tables.run_back, back + 1, sizeof(tables.run_back));
    Algebra::template powers<Q>(plan.run, 32, tables.run_ahead);
    Algebra::template powers<Q>(unit, kGroupWarps, tables.unit_ahead);
    Algebra::template powers<Q>(-unit, kGroupWarps, tables.unit_back);
    Algebra::template powers<Q>(tile, kGroupTiles + 1, tables.tile);
    Algebra::template powers<Q>(tile * kGroupTiles, kGroupTiles, tables.group);
  }
  const std::size_t shared =
      group_shared_bytes(geometry, Q * static_cast<int>(sizeof(Word)), sizeof(Storage));
  const auto kernel = group_scan_kernel<Algebra, Q, Exact>;
  if (shared > 32 * 1024) {
    const cudaError_t error = device::raise_shared_limit(kernel);
    if (error != cudaSuccess) return error;
  }
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(plan.tiles));
  config.blockDim = dim3(32 * kGroupWarps);
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = plan.early_start ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, arguments);
}

struct GroupLauncher {
  const GroupPlan& plan;
  cudaStream_t stream;

  template <class Algebra, int Q, bool Exact>
  cudaError_t run(const Algebra& algebra) const {
    return launch_group_kernel<Algebra, Q, Exact>(plan, algebra, stream);
  }
};

}  // namespace gdelta::scan
