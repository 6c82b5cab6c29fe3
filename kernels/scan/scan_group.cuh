// Scan with a block a tile: small inputs, large strides, unaligned buffers, iterated operators, and any device.
//
// Tiles are taken in order from a counter, so a block only ever waits for blocks that already run: it makes progress
// whatever else the device does. A tile's carry is combined from a fixed set of words: the sums of the tiles before it
// in its group of `group_tiles`, read side by side, and the prefix at the end of the group before, which the last tile
// of that group publishes. Nothing depends on which word happens to be there first (no opportunistic look-back), so
// floating-point results are the same bits on every run.
//
// Operators without a matrix reach higher orders by `rounds`: the tile stays in shared memory and is scanned again.
// A stride beyond 64 is cut into columns, 32 to a tile, each with its own chain of tiles.
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

/// Prefix of one lane before this tile, by one warp. `index`: number of the slot of this tile and lane; tiles of one
/// chain lie `stride` slots apart.
template <class Algebra, int Q, class Word = typename Algebra::Word>
__device__ __forceinline__ void gather_group(const GroupArguments<Algebra, Q>& arguments, std::uint64_t index,
                                             std::uint64_t stride, int position, bool has_earlier_group,
                                             std::uint64_t prefix_index, Word* carry) {
  constexpr int kWords = Q * kSlotWords<Word>;
  const int p = threadIdx.x & 31;
  Word sum[Q];
  clear<Algebra, Q>(sum);
  for (int far = ((position + 31) / 32 - 1) * 32; far >= 0; far -= 32) {
    Word tile[Q];
    clear<Algebra, Q>(tile);
    const int back = far + p;
    if (back < position) {
      await<Word, Q>(arguments.plan.sums + (index - stride * (back + 1)) * kWords, 1, tile);
    }
    prepend<Algebra, Q>(arguments.tables.tile[32], sum, tile);
#pragma unroll
    for (int q = 0; q < Q; ++q) sum[q] = tile[q];
  }
  Word term[Q];
  clear<Algebra, Q>(term);
  prepend<Algebra, Q>(arguments.tables.tile[p], sum, term);
  combine_across<Algebra, Q, 32>(term);
  clear<Algebra, Q>(carry);
  if (has_earlier_group) await<Word, Q>(arguments.plan.prefixes + prefix_index * kWords, 1, carry);
  for (int ahead = position; ahead > 0;) {
    const int hop = ahead < 32 ? ahead : 32;
    Word moved[Q];
    clear<Algebra, Q>(moved);
    prepend<Algebra, Q>(arguments.tables.tile[hop], carry, moved);
#pragma unroll
    for (int q = 0; q < Q; ++q) carry[q] = moved[q];
    ahead -= hop;
  }
#pragma unroll
  for (int q = 0; q < Q; ++q) carry[q] = Algebra::add(carry[q], term[q]);
}

template <class Algebra, int Q, int Run, bool Exact>
__global__ void __launch_bounds__(32 * kGroupWarps)
    group_scan_kernel(const __grid_constant__ GroupArguments<Algebra, Q> arguments) {
  using Word = typename Algebra::Word;
  using Storage = typename Algebra::Storage;
  constexpr int kThreads = 32 * kGroupWarps;
  constexpr int kWords = Q * kSlotWords<Word>;
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ unsigned long long shared_tile;

  const GroupPlan& plan = arguments.plan;
  const Geometry& geometry = plan.job.geometry;
  const int tuple = geometry.tuple;
  Word* const unit_states = reinterpret_cast<Word*>(shared);         // [units][tuple][Q]
  Word* const tile_sums = unit_states + geometry.units * tuple * Q;  // [tuple][Q]
  unsigned char* const values = shared + (((geometry.units + 1) * tuple * Q * sizeof(Word) + 15) & ~std::size_t{15});
  const int thread = threadIdx.x;

  std::uint64_t tile = 0;
  if (plan.counter != nullptr) {
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
    for_each_column_value(plan.job, plan.pitch, chain, row, thread, kThreads, [&](int slot, std::uint64_t index) {
      reinterpret_cast<Storage*>(values)[slot] = static_cast<const Storage*>(plan.job.in)[index];
    });
  } else {
    span = tile_span(plan.job, tile);
    shift = static_cast<int>(byte_range(plan.job.in, span, sizeof(Storage)).origin & 15);
    load_span<Storage>(values, plan.job.in, span, thread, kThreads);
  }
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

  for (int round = 0; round < plan.rounds; ++round) {
    Word state[Q];
    clear<Algebra, Q>(state);
    if (owner) summarise_run<Algebra, Q, Run>(arguments.algebra, run, stride, state);
    scan_unit<Algebra, Q>(geometry, place, arguments.tables.step, state);
    if (owner && place.group == geometry.groups - 1) {
#pragma unroll
      for (int q = 0; q < Q; ++q) unit_states[(place.unit * tuple + place.lane) * Q + q] = state[q];
    }
    shift_unit<Algebra, Q>(geometry, place, state);
    __syncthreads();  // every unit's state is there

    // ---- prefixes of units, and the sum of the tile for the others
    const std::uint64_t slot = ((round * plan.tiles + tile) * tuple);
    if (thread < tuple) {
      Word sum[Q];
      clear<Algebra, Q>(sum);
      for (int unit = 0; unit < geometry.units; ++unit) {
        Word* const unit_state = unit_states + (unit * tuple + thread) * Q;
        Word next[Q];
#pragma unroll
        for (int q = 0; q < Q; ++q) next[q] = unit_state[q], unit_state[q] = sum[q];
        prepend<Algebra, Q>(arguments.tables.unit[1], sum, next);
#pragma unroll
        for (int q = 0; q < Q; ++q) sum[q] = next[q];
      }
      if (!alone) {
        publish<Word, Q>(plan.sums + (slot + thread) * kWords, sum, 1);
#pragma unroll
        for (int q = 0; q < Q; ++q) tile_sums[thread * Q + q] = sum[q];
      }
    }
    __syncthreads();  // prefixes of units are there

    // ---- carry from the tiles before, a warp for each lane in turn
    if (!alone) {
      for (int lane = thread >> 5; lane < tuple; lane += kGroupWarps) {
        const std::uint64_t groups = (plan.tiles / plan.chains + plan.group_tiles - 1) / plan.group_tiles;
        const auto prefix_index = [&](std::uint64_t g) {
          return ((round * groups + g) * plan.chains + chain) * tuple + lane;
        };
        Word carry[Q];
        gather_group<Algebra, Q>(arguments, slot + lane, plan.chains * tuple, position, group > 0,
                                 prefix_index(group - 1), carry);
        if (position == plan.group_tiles - 1 && (thread & 31) == 0) {
          Word total[Q];
#pragma unroll
          for (int q = 0; q < Q; ++q) total[q] = tile_sums[lane * Q + q];
          prepend<Algebra, Q>(arguments.tables.tile[1], carry, total);
          publish<Word, Q>(plan.prefixes + prefix_index(group) * kWords, total, 1);
        }
        const int unit = thread & 31;
        if (unit < geometry.units) {
          Word base[Q];
          Word* const unit_state = unit_states + (unit * tuple + lane) * Q;
#pragma unroll
          for (int q = 0; q < Q; ++q) base[q] = unit_state[q];
          prepend<Algebra, Q>(arguments.tables.unit[unit], carry, base);
#pragma unroll
          for (int q = 0; q < Q; ++q) unit_state[q] = base[q];
        }
      }
      __syncthreads();  // carries are in the prefixes of units
    }

    if (owner) {
      Word base[Q];
#pragma unroll
      for (int q = 0; q < Q; ++q) base[q] = unit_states[(place.unit * tuple + place.lane) * Q + q];
      prepend<Algebra, Q>(arguments.tables.run[place.group], base, state);
      const bool last = round + 1 == plan.rounds;
      rewrite_run<Algebra, Q, Run, Exact>(arguments.algebra, run, stride, plan.job.order, plan.job.exclusive && last,
                                          state);
    }
    __syncthreads();  // runs are rewritten; prefixes of units may be overwritten
  }

  // ---- and leaves it
  if (plan.pitch) {
    for_each_column_value(plan.job, plan.pitch, chain, row, thread, kThreads, [&](int slot, std::uint64_t index) {
      static_cast<Storage*>(plan.job.out)[index] = reinterpret_cast<const Storage*>(values)[slot];
    });
  } else {
    store_span<Storage>(values, shift, plan.job.out, span, thread, kThreads);
  }
}

/// Fills the tables and launches.
template <class Algebra, int Q, bool Exact>
cudaError_t launch_group_kernel(const GroupPlan& plan, const Algebra& algebra, cudaStream_t stream) {
  using Word = typename Algebra::Word;
  using Storage = typename Algebra::Storage;
  constexpr int kRun = group_run(sizeof(Storage));
  GroupArguments<Algebra, Q> arguments{plan, algebra, {}};
  const Geometry& geometry = plan.job.geometry;
  fill_tables<Algebra, Q>(arguments.tables, geometry, kRun, std::uint64_t(geometry.tile_values) / geometry.tuple, 0, 0);
  const std::size_t states = ((geometry.units + 1) * geometry.tuple * Q * sizeof(Word) + 15) & ~std::size_t{15};
  const std::size_t shared = states + geometry.tile_values * sizeof(Storage) + 32;
  const auto kernel = group_scan_kernel<Algebra, Q, kRun, Exact>;
  if (shared > 48 * 1024) {
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
    if (error != cudaSuccess) return error;
  }
  kernel<<<static_cast<unsigned>(plan.tiles), 32 * kGroupWarps, shared, stream>>>(arguments);
  return cudaGetLastError();
}

}  // namespace gdelta::scan
