// Scan with a block a tile: small inputs, large strides, unaligned buffers, iterated operators, and
// any device.
//
// A block waits for blocks before it only. Many tiles are taken in order from a counter, so that
// those blocks already run, whatever else the device does; few tiles (kOrderedTiles, one wave) are
// numbered by block, and the hardware starts blocks in that order. A tile's carry is combined from
// a fixed set of words: the sums of the tiles before it in its group of `group_tiles`, read side by
// side, and the prefix at the end of the group before, which the last tile of that group publishes.
// Nothing depends on which word happens to be there first (no opportunistic look-back), so
// floating-point results are the same bits on every run.
//
// States of runs are pulled back to the start of their unit, those of units to the start of the
// tile (P of a negative length). There they are plain vectors to add up, so a thread multiplies by
// a matrix twice, not once a shuffle.
//
// Operators without a matrix reach higher orders by `rounds`: the tile stays in shared memory and
// is scanned again. A stride beyond 64 is cut into columns, 32 to a tile, each with its own chain
// of tiles.
#pragma once

#include "kernels/scan/scan_exchange.cuh"
#include "kernels/scan/scan_run.cuh"
#include "kernels/scan/scan_span.cuh"

namespace gdelta::scan {

template <class Algebra, int Q>
struct GroupArguments {
  GroupPlan plan;
  Algebra algebra;
  Tables<typename Algebra::Word, Q> tables;
};

/// What a block clears the scratch for; the scan may start before it ends (programmatic launch) and
/// waits for it.
inline __device__ void wait_for_cleared_scratch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Sum over the earlier tiles of the group, of one lane, by one warp; every thread gets it. The
/// tile p + 1 before is at own - (p + 1) * spacing, its words together.
template <class Algebra, int Q, class Table, class Word = typename Algebra::Word>
__device__ __forceinline__ void gather_group(const unsigned long long* own, std::size_t spacing,
                                             int position, const Table& tile_table, Word* sum) {
  constexpr int kBatch = group_batch(Q);
  const int p = threadIdx.x & 31;
  const unsigned long long* slots[kBatch];
  std::uint32_t epoch[kBatch];
  Word states[kBatch][Q];
#pragma unroll
  for (int b = 0; b < kBatch; ++b) {
    const int back = b * 32 + p;
    slots[b] = back < position ? own - (back + 1) * spacing : nullptr;
    epoch[b] = 1;
  }
  await<Algebra, Q, kBatch>(slots, 1, epoch, states);
  copy_state<Q>(sum, states[kBatch - 1]);
#pragma unroll
  for (int b = kBatch - 2; b >= 0; --b) {
    tile_table.template advance_by<Algebra>(32, sum);
    accumulate<Algebra, Q>(sum, states[b]);
  }
  __syncwarp();
  tile_table.template advance_by<Algebra>(p + 1, sum);
  combine_across<Algebra, Q, 32>(sum);
}

template <class Algebra, int Q, int Run, bool Exact>
__global__ void __launch_bounds__(32 * kGroupWarps)
    group_scan_kernel(const __grid_constant__ GroupArguments<Algebra, Q> arguments) {
  using Word = typename Algebra::Word;
  using Storage = typename Algebra::Storage;
  constexpr int kThreads = 32 * kGroupWarps;
  constexpr int kWords = Q * kSlotWords<Word>;
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ SharedTable<Word, Q, 32> run_ahead;
  __shared__ SharedTable<Word, Q, 32> run_back;
  __shared__ SharedTable<Word, Q, 8> unit_ahead;
  __shared__ SharedTable<Word, Q, 8> unit_back;
  __shared__ SharedTable<Word, Q, 33> tile_table;
  __shared__ unsigned long long shared_tile;

  const GroupPlan& plan = arguments.plan;
  const Geometry& geometry = plan.job.geometry;
  const int tuple = geometry.tuple;
  Word* const unit_states = reinterpret_cast<Word*>(shared);  // [units][tuple][Q]
  unsigned char* const values =
      shared + ((geometry.units * tuple * Q * sizeof(Word) + 15) & ~std::size_t{15});
  const int thread = threadIdx.x;

  std::uint64_t tile = blockIdx.x;
  if (plan.counter != nullptr) {
    wait_for_cleared_scratch();
    if (thread == 0) shared_tile = atomicAdd(plan.counter, 1ull);
    __syncthreads();  // the ticket is there
    tile = shared_tile;
  }
  const std::uint64_t chain = plan.pitch ? tile % plan.chains : 0;
  const std::uint64_t link = plan.pitch ? tile / plan.chains : tile;
  const int position = static_cast<int>(link % plan.group_tiles);
  const std::uint64_t group = link / plan.group_tiles;

  // ---- the tile enters shared memory
  Span span{};
  int shift = 0;
  const std::uint64_t row = link * (geometry.tile_values / 32);
  if (plan.pitch) {
    for_each_column_value(plan.job, plan.pitch, chain, row, thread, kThreads,
                          [&](int slot, std::uint64_t index) {
                            reinterpret_cast<Storage*>(values)[slot] =
                                static_cast<const Storage*>(plan.job.in)[index];
                          });
  } else {
    span = tile_span(plan.job, tile);
    shift = static_cast<int>(byte_range(plan.job.in, span, sizeof(Storage)).origin & 15);
    load_span<Storage>(values, plan.job.in, span, thread, kThreads);
  }
  run_ahead.load(arguments.tables.run_ahead, thread, kThreads);
  run_back.load(arguments.tables.run_back, thread, kThreads);
  unit_ahead.load(arguments.tables.unit_ahead, thread, kThreads);
  unit_back.load(arguments.tables.unit_back, thread, kThreads);
  tile_table.load(arguments.tables.tile, thread, kThreads);
  __syncthreads();  // loaded by all, read along runs

  // Columns are stored in scan order, contiguous values in array order.
  const bool reversed = plan.job.backward && !plan.pitch;
  const ThreadPlace place = thread_place(geometry, thread);
  const int start = place.unit * geometry.unit_values + place.group * Run * tuple + place.lane;
  const int stride = reversed ? -tuple : tuple;
  Storage* const run = reinterpret_cast<Storage*>(values + shift) +
                       (reversed ? geometry.tile_values - 1 - start : start);
  const bool owner = place.active && place.unit < geometry.units;
  const bool alone = plan.sums == nullptr;
  if (!alone && plan.counter == nullptr) wait_for_cleared_scratch();

  for (int round = 0; round < plan.rounds; ++round) {
    Word state[Q];
    clear<Algebra, Q>(state);
    if (owner) {
      summarise_run<Algebra, Q, Run>(arguments.algebra, run, stride, state);
      run_back.template advance_by<Algebra>(place.group, state);
    }
    __syncwarp();
    scan_unit<Algebra, Q>(geometry, place, state);
    if (owner && place.group == geometry.groups - 1) {
      copy_state<Q>(unit_states + (place.unit * tuple + place.lane) * Q, state);
    }
    shift_unit<Algebra, Q>(geometry, place, state);
    __syncthreads();  // every unit's state is there

    // ---- a warp or a thread for each lane: prefixes of units, the sum of the tile for the others,
    // the carry from them A tile's sums lie in sectors of their own. Wide tuples: the same word of
    // neighbouring lanes side by side.
    const bool wide = tuple > kWidestNarrowTuple;
    const std::size_t stride_of_words = wide ? tuple : 1;
    const auto sum_slot = [&](std::uint64_t of_tile, int lane) {
      return plan.sums + (round * plan.tiles + of_tile) * group_slot_words(kWords * tuple) +
             (wide ? lane : lane * kWords);
    };
    const std::uint64_t groups =
        (plan.tiles / plan.chains + plan.group_tiles - 1) / plan.group_tiles;
    const auto carry_of = [&](int lane, Word* total, bool speaks, Word* carry) {
      const auto prefix_slot = [&](std::uint64_t g) {
        return plan.prefixes + ((round * groups + g) * plan.chains + chain) * tuple * kWords + lane;
      };
      if (group > 0) {
        const unsigned long long* const before = prefix_slot(group - 1);
        const std::uint32_t epoch = 1;
        Word prefix[1][Q];
        await<Algebra, Q, 1>(&before, tuple, &epoch, prefix);
        for (int ahead = position; ahead > 0; ahead -= 32) {
          tile_table.template advance_by<Algebra>(ahead < 32 ? ahead : 32, prefix[0]);
        }
        accumulate<Algebra, Q>(carry, prefix[0]);
      }
      if (position == plan.group_tiles - 1 && speaks) {
        accumulate<Algebra, Q>(total, carry);
        tile_table.template advance_by<Algebra>(1, total);
        publish<Word, Q>(prefix_slot(group), tuple, total, 1);
      }
    };
    if (wide) {
      if (thread < tuple) {
        Word* const unit_state = unit_states + thread * Q;
        Word total[Q];
        Word carry[Q];
        clear<Algebra, Q>(total);
        clear<Algebra, Q>(carry);
        for (int unit = 0; unit < geometry.units; ++unit) {
          Word own[Q];
          copy_state<Q>(own, unit_state + unit * tuple * Q);
          unit_back.template advance_by<Algebra>(unit, own);
          copy_state<Q>(unit_state + unit * tuple * Q, total);
          accumulate<Algebra, Q>(total, own);
        }
        if (!alone) {
          publish<Word, Q>(sum_slot(tile, thread), stride_of_words, total, 1);
          gather_wide<Algebra, Q>(
              position, tile_table, 1, stride_of_words,
              [&](int back, std::uint32_t& epoch) {
                epoch = 1;
                return sum_slot(tile - plan.chains * (back + 1), thread);
              },
              carry);
          carry_of(thread, total, true, carry);
        }
        for (int unit = 0; unit < geometry.units; ++unit) {
          Word base[Q];
          copy_state<Q>(base, unit_state + unit * tuple * Q);
          accumulate<Algebra, Q>(base, carry);
          unit_ahead.template advance_by<Algebra>(unit, base);
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
        unit_back.template advance_by<Algebra>(unit, base);
      }
      __syncwarp();
      scan_across<Algebra, Q, 8>(unit & 7, base, total);
      if (!alone) {
        if (unit == 0) publish<Word, Q>(sum_slot(tile, lane), stride_of_words, total, 1);
        Word carry[Q];
        gather_group<Algebra, Q>(sum_slot(tile, lane), group_slot_words(kWords * tuple), position,
                                 tile_table, carry);
        carry_of(lane, total, unit == 0, carry);
        accumulate<Algebra, Q>(base, carry);
      }
      if (unit < geometry.units) {
        unit_ahead.template advance_by<Algebra>(unit, base);
        copy_state<Q>(unit_state, base);
      }
    }
    __syncthreads();  // the state at the start of every unit is there

    if (owner) {
      accumulate<Algebra, Q>(state, unit_states + (place.unit * tuple + place.lane) * Q);
      run_ahead.template advance_by<Algebra>(place.group, state);
      const bool last = round + 1 == plan.rounds;
      rewrite_run<Algebra, Q, Run, Exact>(arguments.algebra, run, stride, plan.job.order,
                                          plan.job.exclusive && last, state);
    }
    __syncthreads();  // runs are rewritten; states of units may be overwritten
  }

  // ---- and leaves it
  if (plan.pitch) {
    for_each_column_value(plan.job, plan.pitch, chain, row, thread, kThreads,
                          [&](int slot, std::uint64_t index) {
                            static_cast<Storage*>(plan.job.out)[index] =
                                reinterpret_cast<const Storage*>(values)[slot];
                          });
  } else {
    store_span<Storage>(values, shift, plan.job.out, span, thread, kThreads);
  }
}

/// Fills the tables and launches; on devices that can, the scan starts while the scratch is still
/// being cleared.
template <class Algebra, int Q, bool Exact>
cudaError_t launch_group_kernel(const GroupPlan& plan, const Algebra& algebra,
                                cudaStream_t stream) {
  using Word = typename Algebra::Word;
  using Storage = typename Algebra::Storage;
  constexpr int kRun = group_run(sizeof(Storage));
  GroupArguments<Algebra, Q> arguments{plan, algebra, {}};
  const Geometry& geometry = plan.job.geometry;
  fill_tables<Algebra, Q>(arguments.tables, geometry, kRun, geometry.tile_values / geometry.tuple,
                          0, 0);
  const std::size_t states =
      (geometry.units * geometry.tuple * Q * sizeof(Word) + 15) & ~std::size_t{15};
  const std::size_t shared = states + geometry.tile_values * sizeof(Storage) + 32;
  const auto kernel = group_scan_kernel<Algebra, Q, kRun, Exact>;
  if (shared > 32 * 1024) {
    const cudaError_t error = cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
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

}  // namespace gdelta::scan
