// Scan at the speed of a copy: SAM's persistent blocks, fed and drained by bulk asynchronous copies (sm_90 and newer).
//
// Block b of k takes tiles b, b + k, b + 2k, ... Its warps have two jobs. Workers walk runs in shared memory: in step i
// they rewrite tile i - 3, whose carry is known, and summarise tile i, which has just landed. Exchange warps turn the
// units' states of tile i - 1 into prefixes and publish the tile's sum, finish the carry of tile i - 2, and combine the
// sums inside the group of tile i - 1. One barrier a step joins them, so every word read from another block was
// published a whole step (about 2 us) earlier, and the exchange is off the critical path.
//
// Exchange in two levels. Tiles come in groups of `group_tiles` (12 of 132 blocks). A block reads the sums of the tiles
// before it in its own group, and the totals of the k / group_tiles groups since its previous tile; the last tile of a
// group publishes the total. That is about 2 sqrt(k) states a tile instead of SAM's k - 1. Every state carries all
// orders of a lane (carry_matrix.h): one exchange, whatever the order. The tree is fixed, hence the same bits always.
//
// Co-residency: the launch is cooperative, so all k blocks run at once, and a block never waits for anything but a word
// that another block publishes before it waits for that block. Epochs: a slot is reused after kRingRounds = 8 tiles of
// a block. Suppose a block waits in step j for a sum of round j - 1. It has not published round j, so no group that it
// belongs to has a total for round j, so no other block gets past the carry of round j + 1 (read in step j + 3), where
// it has published no sum later than round j + 2. Totals are read one round later and lag one more; 8 > 5 covers both.
#pragma once

#include "kernels/scan/scan_exchange.cuh"
#include "kernels/scan/scan_run.cuh"
#include "kernels/scan/scan_span.cuh"

namespace gdelta::scan {

template <class Algebra, int Q>
struct StreamArguments {
  StreamPlan plan;
  Algebra algebra;
  Tables<typename Algebra::Word, Q> tables;
};

// ---- Bulk copies and the barriers they complete on

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void barrier_init(unsigned long long* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
}

__device__ __forceinline__ void barrier_expect(unsigned long long* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void barrier_wait(unsigned long long* barrier, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

__device__ __forceinline__ void bulk_load(void* shared, std::intptr_t global, int bytes, unsigned long long* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(shared)),
      "l"(global), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

__device__ __forceinline__ void bulk_store(std::intptr_t global, const void* shared, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
               "r"(shared_address(shared)), "r"(bytes)
               : "memory");
}

/// A tile as a bulk copy sees it: whole granules around its values, if they all lie inside the array.
struct BulkSpan {
  Span span;
  ByteRange bytes;
  std::intptr_t load_begin;
  int load_bytes;  ///< 0: the granules reach outside the array, load value by value
};

__device__ __forceinline__ BulkSpan bulk_span(const Job& job, std::uint64_t tile, int value_bytes) {
  BulkSpan s;
  s.span = tile_span(job, tile);
  s.bytes = byte_range(job.in, s.span, value_bytes);
  s.load_begin = s.bytes.begin & ~std::intptr_t{15};
  const std::intptr_t load_end = (s.bytes.end + 15) & ~std::intptr_t{15};
  const std::intptr_t array_begin = reinterpret_cast<std::intptr_t>(job.in);
  const std::intptr_t array_end = array_begin + static_cast<std::intptr_t>(job.count) * value_bytes;
  const bool whole = s.span.low == 0 && s.span.high == job.geometry.tile_values;
  const bool inside = s.load_begin >= array_begin && load_end <= array_end;
  s.load_bytes = whole && inside ? static_cast<int>(load_end - s.load_begin) : 0;
  return s;
}

// ---- Exchange warps

template <class Word, int Q>
struct ExchangeTables {  // what threads index differently lies in shared memory, one word off to spread over banks
  Word tile[16][Q + 1];
  Word group[16][Q + 1];
};

/// Combines `count` states of one lane, the nearest at slot `nearest`, in 16 threads; all 16 get the result.
template <class Algebra, int Q, class Slot, class Word = typename Algebra::Word>
__device__ __forceinline__ void gather_sixteen(int p, bool wanted, const unsigned long long* ring,
                                               const Word (*table)[Q + 1], Slot slot, Word* sum) {
  constexpr int kWords = Q * kSlotWords<Word>;
  clear<Algebra, Q>(sum);
  if (wanted) {
    Word state[Q];
    Word c[Q];
    std::uint32_t epoch;
    const std::uint64_t index = slot(epoch);
    await<Word, Q>(ring + index * kWords, epoch, state);
#pragma unroll
    for (int m = 0; m < Q; ++m) c[m] = table[p][m];
    prepend<Algebra, Q>(c, state, sum);
  }
  __syncwarp();
  combine_across<Algebra, Q, 16>(sum);
}

// ---- Kernel

template <class Algebra, int Q, int Run, int MaxWorkers>
__global__ void __launch_bounds__(32 * (MaxWorkers + kMaxExchangeWarps), 1)
    stream_scan_kernel(const __grid_constant__ StreamArguments<Algebra, Q> arguments) {
#if __CUDA_ARCH__ >= 900
  using Word = typename Algebra::Word;
  using Storage = typename Algebra::Storage;
  constexpr int kWords = Q * kSlotWords<Word>;
  constexpr bool kExact = sizeof(Storage) >= 4;
  extern __shared__ __align__(128) unsigned char shared[];
  __shared__ unsigned long long full[kMaxStreamSlots];
  __shared__ ExchangeTables<Word, Q> exchange_tables;
  __shared__ Word run_table[32][Q + 1];

  const StreamPlan& plan = arguments.plan;
  const Geometry& geometry = plan.job.geometry;
  const int tuple = geometry.tuple;
  const int thread = threadIdx.x;
  const int workers = geometry.units * geometry.unit_warps * 32;
  const int blocks = plan.blocks;
  const int block = blockIdx.x;
  const int groups = blocks / plan.group_tiles;  // in a round
  const int position = block % plan.group_tiles;

  unsigned char* const slots = shared;
  const int lane_states = tuple * Q;
  Word* const unit_states = reinterpret_cast<Word*>(shared + plan.slots * plan.slot_bytes);  // [4][units][tuple][Q]
  Word* const tile_sums = unit_states + 4 * geometry.units * lane_states;                    // [tuple][Q]
  Word* const group_sums = tile_sums + lane_states;                                          // [2][tuple][Q]
  Word* const group_prefix = group_sums + 2 * lane_states;                                   // [tuple][Q]

  if (thread == 0) {
    for (int s = 0; s < plan.slots; ++s) barrier_init(&full[s]);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (thread < 32) {
    for (int m = 0; m < Q; ++m) run_table[thread][m] = arguments.tables.run[thread][m];
    for (int m = 0; m < Q; ++m) {
      if (thread < 16) exchange_tables.tile[thread][m] = arguments.tables.tile[thread][m];
      if (thread < 16) exchange_tables.group[thread][m] = arguments.tables.group[thread][m];
    }
  }
  for (int i = thread; i < lane_states; i += blockDim.x) group_prefix[i] = Algebra::identity();
  __syncthreads();  // barriers and tables are there

  const std::int64_t tiles_here =
      plan.tiles > static_cast<std::uint64_t>(block) ? (plan.tiles - block + blocks - 1) / blocks : 0;
  const auto tile_at = [&](std::int64_t i) { return static_cast<std::uint64_t>(i) * blocks + block; };
  const auto slot_at = [&](std::int64_t i) { return slots + (i % plan.slots) * plan.slot_bytes; };
  const auto start_load = [&](std::int64_t i) {
    if (i >= tiles_here) return;
    const BulkSpan s = bulk_span(plan.job, tile_at(i), sizeof(Storage));
    unsigned long long* const barrier = &full[i % plan.slots];
    barrier_expect(barrier, s.load_bytes);
    if (s.load_bytes > 0) bulk_load(slot_at(i), s.load_begin, s.load_bytes, barrier);
  };
  if (thread == 0) {
    for (int i = 0; i < plan.slots - 5; ++i) start_load(i);
  }

  if (thread < workers) {
    const ThreadPlace place = thread_place(geometry, thread);
    const bool reversed = plan.job.backward;
    const int start = place.unit * geometry.unit_values + place.group * Run * tuple + place.lane;
    const int offset = (reversed ? geometry.tile_values - 1 - start : start) * static_cast<int>(sizeof(Storage));
    const int stride = reversed ? -tuple : tuple;
    const int state_index = (place.unit * tuple + place.lane) * Q;
    const auto run_of = [&](std::int64_t i) {
      const Span span = tile_span(plan.job, tile_at(i));
      const int shift = static_cast<int>(byte_range(plan.job.in, span, sizeof(Storage)).origin & 15);
      return reinterpret_cast<Storage*>(slot_at(i) + shift + offset);
    };
    const auto states_of = [&](std::int64_t i) {
      return unit_states + (i & 3) * geometry.units * lane_states + state_index;
    };

    // Tile i leaves shared memory: whole granules by a bulk copy, the values at its edges by the first warp. Buffers that
    // lie differently mod 16 are stored value by value.
    const bool congruent = ((reinterpret_cast<std::intptr_t>(plan.job.in) ^
                             reinterpret_cast<std::intptr_t>(plan.job.out)) & 15) == 0;
    const auto send = [&](std::int64_t i) {
      const Span span = tile_span(plan.job, tile_at(i));
      const ByteRange out = byte_range(plan.job.out, span, sizeof(Storage));
      if (!congruent) {
        const int shift = static_cast<int>(byte_range(plan.job.in, span, sizeof(Storage)).origin & 15);
        store_span<Storage>(slot_at(i), shift, plan.job.out, span, thread, workers);
      } else if (thread < 32) {
        const unsigned char* const slot0 = slot_at(i) + (out.origin & 15);
        if (thread == 0 && out.inner_begin < out.inner_end) {
          bulk_store(out.inner_begin, slot0 + (out.inner_begin - out.origin),
                     static_cast<int>(out.inner_end - out.inner_begin));
        }
        if (out.begin != out.inner_begin || out.end != out.inner_end) {
          for_each_edge_value<Storage>(out, thread, 32, [&](std::intptr_t a) {
            *reinterpret_cast<Storage*>(a) = *reinterpret_cast<const Storage*>(slot0 + (a - out.origin));
          });
        }
      }
    };

    Word pending[3][Q];  // states before this thread's run inside its unit, of the last three tiles
#pragma unroll
    for (int d = 0; d < 3; ++d) clear<Algebra, Q>(pending[d]);
    int slot = 0;
    int parity = 0;
    for (std::int64_t i = 0; i < tiles_here + 4; ++i) {
      // Tile i - 4 was rewritten before the last barrier: send it off. Its slot is loaded again a step later.
      const std::int64_t sent = i - 4;
      if (sent >= 0) send(sent);
      if (thread == 0) {
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        start_load(i - 5 + plan.slots);
      }

      const std::int64_t ready = i - 3;
      if (ready >= 0 && ready < tiles_here && place.active) {
        Word state[Q];
        Word base[Q];
        Word c[Q];
#pragma unroll
        for (int q = 0; q < Q; ++q) state[q] = pending[0][q], base[q] = states_of(ready)[q];
#pragma unroll
        for (int m = 0; m < Q; ++m) c[m] = run_table[place.group][m];
        prepend<Algebra, Q>(c, base, state);
        rewrite_run<Algebra, Q, Run, kExact>(arguments.algebra, run_of(ready), stride, plan.job.order,
                                             plan.job.exclusive, state);
      }
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // the bulk store reads what was just written
#pragma unroll
      for (int q = 0; q < Q; ++q) pending[0][q] = pending[1][q], pending[1][q] = pending[2][q];

      if (i < tiles_here) {
        barrier_wait(&full[slot], parity);
        if (++slot == plan.slots) slot = 0, parity ^= 1;
        const BulkSpan s = bulk_span(plan.job, tile_at(i), sizeof(Storage));
        if (s.load_bytes == 0) {
          unsigned char* const slot0 = slot_at(i) + (s.bytes.origin & 15);
          for (int v = s.span.low + thread; v < s.span.high; v += workers) {
            reinterpret_cast<Storage*>(slot0)[v] = reinterpret_cast<const Storage*>(s.bytes.origin)[v];
          }
          asm volatile("bar.sync 1, %0;" ::"r"(workers) : "memory");  // the cut tile is loaded by all workers
        }
        Word* const state = pending[2];
        clear<Algebra, Q>(state);
        if (place.active) summarise_run<Algebra, Q, Run>(arguments.algebra, run_of(i), stride, state);
        scan_unit<Algebra, Q>(geometry, place, arguments.tables.step, state);
        if (place.active && place.group == geometry.groups - 1) {
#pragma unroll
          for (int q = 0; q < Q; ++q) states_of(i)[q] = state[q];
        }
        shift_unit<Algebra, Q>(geometry, place, state);
      }
      __syncthreads();  // units' states of tile i, carries of tile i - 2, rewritten tile i - 3
    }
    if (thread == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  } else {
    const int warp = (thread - workers) >> 5;
    const int id = thread & 31;
    const int p = id & 15;
    const int share = (tuple + plan.exchange_warps - 1) / plan.exchange_warps;
    const int lane_begin = min(warp * share, tuple);
    const int lane_end = min(lane_begin + share, tuple);
    for (std::int64_t i = 0; i < tiles_here + 4; ++i) {
      const std::int64_t summed = i - 1;
      const std::int64_t carried = i - 2;
      if (summed >= 0 && summed < tiles_here) {
        // Prefixes of units, and the tile's sum for the others.
        const std::uint64_t slot = (summed % kRingRounds) * blocks + block;
        const std::uint32_t epoch = static_cast<std::uint32_t>(summed / kRingRounds) + 1;
        for (int lane = lane_begin + id; lane < lane_end; lane += 32) {
          Word sum[Q];
          clear<Algebra, Q>(sum);
          Word* unit_state = unit_states + (summed & 3) * geometry.units * lane_states + lane * Q;
          for (int unit = 0; unit < geometry.units; ++unit, unit_state += lane_states) {
            Word next[Q];
#pragma unroll
            for (int q = 0; q < Q; ++q) next[q] = unit_state[q], unit_state[q] = sum[q];
            prepend<Algebra, Q>(arguments.tables.unit[1], sum, next);
#pragma unroll
            for (int q = 0; q < Q; ++q) sum[q] = next[q];
          }
          publish<Word, Q>(plan.sums + (slot * tuple + lane) * kWords, sum, epoch);
#pragma unroll
          for (int q = 0; q < Q; ++q) tile_sums[lane * Q + q] = sum[q];
        }
        __syncwarp();
      }
      if (carried >= 0 && carried < tiles_here) {
        // Totals of the groups since the previous tile, then the carry of every unit.
        const std::int64_t group = carried * groups + block / plan.group_tiles;
        for (int first = lane_begin; first < lane_end; first += 2) {
          const int lane = first + (id >> 4);
          const bool mine = lane < lane_end;
          Word prefix[Q];
          gather_sixteen<Algebra, Q>(p, mine && p < groups && group - 1 - p >= 0, plan.totals, exchange_tables.group,
                                     [&](std::uint32_t& epoch) {
                                       const std::int64_t g = group - 1 - p;
                                       const std::int64_t ring = static_cast<std::int64_t>(groups) * kRingRounds;
                                       epoch = static_cast<std::uint32_t>(g / ring) + 1;
                                       return static_cast<std::uint64_t>(g % ring) * tuple + lane;
                                     },
                                     prefix);
          if (mine) {
            Word before[Q];
            Word carry[Q];
#pragma unroll
            for (int q = 0; q < Q; ++q) before[q] = group_prefix[lane * Q + q];
            prepend<Algebra, Q>(arguments.tables.round, before, prefix);
            const Word* const in_group = group_sums + (carried & 1) * lane_states + lane * Q;
#pragma unroll
            for (int q = 0; q < Q; ++q) carry[q] = in_group[q];
            prepend<Algebra, Q>(arguments.tables.tile[position], prefix, carry);
            for (int unit = p; unit < geometry.units; unit += 16) {
              Word* const unit_state =
                  unit_states + ((carried & 3) * geometry.units + unit) * lane_states + lane * Q;
              Word base[Q];
#pragma unroll
              for (int q = 0; q < Q; ++q) base[q] = unit_state[q];
              prepend<Algebra, Q>(arguments.tables.unit[unit], carry, base);
#pragma unroll
              for (int q = 0; q < Q; ++q) unit_state[q] = base[q];
            }
          }
          __syncwarp();
          if (mine && p == 0) {
#pragma unroll
            for (int q = 0; q < Q; ++q) group_prefix[lane * Q + q] = prefix[q];
          }
          __syncwarp();
        }
      }
      if (summed >= 0 && summed < tiles_here) {
        // Sums of the tiles before this one in its group; the last tile publishes the total.
        const std::uint64_t slot = (summed % kRingRounds) * blocks + block;
        const std::uint32_t epoch = static_cast<std::uint32_t>(summed / kRingRounds) + 1;
        const std::uint64_t group_slot =
            (summed % kRingRounds) * static_cast<std::uint64_t>(groups) + block / plan.group_tiles;
        for (int first = lane_begin; first < lane_end; first += 2) {
          const int lane = first + (id >> 4);
          const bool mine = lane < lane_end;
          Word sum[Q];
          gather_sixteen<Algebra, Q>(p, mine && p < position, plan.sums, exchange_tables.tile,
                                     [&](std::uint32_t& wanted) {
                                       wanted = epoch;
                                       return (slot - 1 - p) * tuple + lane;
                                     },
                                     sum);
          if (mine && p == 0) {
#pragma unroll
            for (int q = 0; q < Q; ++q) group_sums[(summed & 1) * lane_states + lane * Q + q] = sum[q];
            if (position == plan.group_tiles - 1) {
              Word total[Q];
#pragma unroll
              for (int q = 0; q < Q; ++q) total[q] = tile_sums[lane * Q + q];
              prepend<Algebra, Q>(arguments.tables.tile[1], sum, total);
              publish<Word, Q>(plan.totals + (group_slot * tuple + lane) * kWords, total, epoch);
            }
          }
        }
        __syncwarp();
      }
      __syncthreads();  // the workers' barrier of this step
    }
  }
#endif
}

/// Fills the tables and launches, all blocks at once.
template <class Algebra, int Q>
cudaError_t launch_stream_kernel(const StreamPlan& plan, const Algebra& algebra, cudaStream_t stream) {
  using Storage = typename Algebra::Storage;
  constexpr int kRun = stream_run(sizeof(Storage), Q);
  StreamArguments<Algebra, Q> arguments{plan, algebra, {}};
  const Geometry& geometry = plan.job.geometry;
  fill_tables<Algebra, Q>(arguments.tables, geometry, kRun, std::uint64_t(geometry.tile_values) / geometry.tuple,
                          plan.group_tiles, plan.blocks);
  const auto kernel = stream_scan_kernel<Algebra, Q, kRun, kMaxStreamWorkers>;
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, plan.shared_bytes);
  if (error != cudaSuccess) return error;
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(plan.blocks);
  config.blockDim = dim3(32 * (geometry.units * geometry.unit_warps + plan.exchange_warps));
  config.dynamicSmemBytes = plan.shared_bytes;
  config.stream = stream;
  config.attrs = &cooperative;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, arguments);
}

}  // namespace gdelta::scan
