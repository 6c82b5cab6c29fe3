// Scan at the speed of a copy: SAM's persistent blocks, fed and drained by bulk asynchronous copies (sm_90 and newer).
//
// Block b of k takes tiles b, b + k, b + 2k, ... Its warps have three jobs. Workers walk runs in shared memory: in step i
// they rewrite tile i - 3, whose carry is known, and summarise tile i, which has just landed. Sum warps turn the units'
// states of tile i - 1 into prefixes, publish the tile's sum and combine the sums inside its group. Carry warps finish
// the carry of tile i - 2. One barrier a step joins them, so a carry is read from words that other blocks published a
// whole step (about 2 us) earlier, and the exchange is off the critical path.
//
// Exchange in two levels. Tiles come in groups of `group_tiles` (12 of 132 blocks). A block reads the sums of the tiles
// before it in its own group, and the totals of the k / group_tiles groups since its previous tile; the last tile of a
// group publishes the total. That is about 2 sqrt(k) states a tile instead of SAM's k - 1. Every state carries all
// orders of a lane (carry_matrix.h): one exchange, whatever the order. The tree is fixed, hence the same bits always.
//
// States of runs are pulled back to the start of their unit, those of units to the start of the tile (P of a negative
// length). There they are plain vectors to add up, so a worker multiplies by a matrix twice a tile, not once a shuffle.
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

// ---- Exchange

/// Where a block stands in the two levels.
struct ExchangePlace {
  int blocks;
  int block;
  int groups;    ///< in a round
  int position;  ///< of the block in its group
  int tuple;

  __device__ std::uint64_t sum_slot(std::int64_t i, int back, int lane) const {
    return (static_cast<std::uint64_t>(i % kRingRounds) * blocks + block - back) * tuple + lane;
  }
  __device__ static std::uint32_t epoch(std::int64_t i) { return static_cast<std::uint32_t>(i / kRingRounds) + 1; }
  __device__ std::int64_t group_of(std::int64_t i) const { return i * groups + block * groups / blocks; }
  __device__ std::uint64_t total_slot(std::int64_t group, int lane) const {
    return static_cast<std::uint64_t>(group % (groups * kRingRounds)) * tuple + lane;
  }
  __device__ std::uint32_t total_epoch(std::int64_t group) const {
    return static_cast<std::uint32_t>(group / (groups * kRingRounds)) + 1;
  }
};

/// Narrow tuples: 16 threads a lane, one for each state to be read. Wide ones: a thread a lane, which reads its states
/// in batches, so that neighbouring threads read neighbouring words.
template <int Q>
constexpr int widest_narrow_tuple = Q <= 4 ? 4 : 8;
constexpr int wide_batch(int words) { return words >= 8 ? 2 : words >= 4 ? 3 : words >= 2 ? 6 : 12; }

/// Combines up to 16 states: the one `back` places before is at slot(back, epoch) and is advanced by row `back` of the
/// table. All threads of a half warp get the result.
template <class Algebra, int Q, class Table, class Slot, class Word = typename Algebra::Word>
__device__ __forceinline__ void gather_narrow(int p, int count, const Table& table, int first_row, Slot slot,
                                              Word* sum) {
  const unsigned long long* from = nullptr;
  std::uint32_t epoch = 0;
  if (p < count) from = slot(p, epoch);
  Word state[1][Q];
  await<Algebra, Q, 1>(&from, &epoch, state);
  copy_state<Q>(sum, state[0]);
  __syncwarp();
  table.template advance_by<Algebra>(p + first_row, sum);
  combine_across<Algebra, Q, 16>(sum);
}

template <class Algebra, int Q, class Table, class Slot, class Word = typename Algebra::Word>
__device__ __forceinline__ void gather_wide(int count, const Table& table, int first_row, Slot slot, Word* sum) {
  constexpr int kBatch = wide_batch(Q * kSlotWords<Word>);
  clear<Algebra, Q>(sum);
  for (int far = (count + kBatch - 1) / kBatch * kBatch; far > 0; far -= kBatch) {
    const unsigned long long* from[kBatch];
    std::uint32_t epoch[kBatch];
    Word states[kBatch][Q];
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      const int back = far - 1 - b;
      from[b] = nullptr;
      if (back < count) from[b] = slot(back, epoch[b]);
    }
    await<Algebra, Q, kBatch>(from, epoch, states);
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      table.template advance_by<Algebra>(1, sum);
      accumulate<Algebra, Q>(sum, states[b]);
    }
  }
  if (first_row == 1) table.template advance_by<Algebra>(1, sum);
}

// ---- Kernel

template <class Algebra, int Q, int Run>
__global__ void __launch_bounds__(32 * (kMaxStreamWorkers + kMaxExchangeWarps), 1)
    stream_scan_kernel(const __grid_constant__ StreamArguments<Algebra, Q> arguments) {
#if __CUDA_ARCH__ >= 900
  using Word = typename Algebra::Word;
  using Storage = typename Algebra::Storage;
  constexpr int kWords = Q * kSlotWords<Word>;
  constexpr bool kExact = sizeof(Storage) >= 4;
  extern __shared__ __align__(128) unsigned char shared[];
  __shared__ unsigned long long full[kMaxStreamSlots];
  __shared__ SharedTable<Word, Q, 32> run_ahead;
  __shared__ SharedTable<Word, Q, 32> run_back;
  __shared__ SharedTable<Word, Q, 8> unit_ahead;
  __shared__ SharedTable<Word, Q, 8> unit_back;
  __shared__ SharedTable<Word, Q, 17> tile_table;
  __shared__ SharedTable<Word, Q, 16> group_table;

  const StreamPlan& plan = arguments.plan;
  const Geometry& geometry = plan.job.geometry;
  const int tuple = geometry.tuple;
  const int thread = threadIdx.x;
  const int workers = geometry.units * geometry.unit_warps * 32;
  const int blocks = plan.blocks;
  const int block = blockIdx.x;

  unsigned char* const slots = shared;
  const int lane_states = tuple * Q;
  Word* const unit_states = reinterpret_cast<Word*>(shared + plan.slots * plan.slot_bytes);  // [4][units][tuple][Q]
  Word* const group_sums = unit_states + 4 * geometry.units * lane_states;                   // [2][tuple][Q]
  Word* const group_prefix = group_sums + 2 * lane_states;                                   // [tuple][Q]

  if (thread == 0) {
    for (int s = 0; s < plan.slots; ++s) barrier_init(&full[s]);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  run_ahead.load(arguments.tables.run_ahead, thread, blockDim.x);
  run_back.load(arguments.tables.run_back, thread, blockDim.x);
  unit_ahead.load(arguments.tables.unit_ahead, thread, blockDim.x);
  unit_back.load(arguments.tables.unit_back, thread, blockDim.x);
  tile_table.load(arguments.tables.tile, thread, blockDim.x);
  group_table.load(arguments.tables.group, thread, blockDim.x);
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
        copy_state<Q>(state, pending[0]);
        accumulate<Algebra, Q>(state, states_of(ready));
        run_ahead.template advance_by<Algebra>(place.group, state);
        rewrite_run<Algebra, Q, Run, kExact>(arguments.algebra, run_of(ready), stride, plan.job.order,
                                             plan.job.exclusive, state);
      }
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // the bulk store reads what was just written
      copy_state<Q>(pending[0], pending[1]);
      copy_state<Q>(pending[1], pending[2]);

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
        if (place.active) {
          summarise_run<Algebra, Q, Run>(arguments.algebra, run_of(i), stride, state);
          run_back.template advance_by<Algebra>(place.group, state);
        }
        __syncwarp();
        scan_unit<Algebra, Q>(geometry, place, state);
        if (place.active && place.group == geometry.groups - 1) copy_state<Q>(states_of(i), state);
        shift_unit<Algebra, Q>(geometry, place, state);
      }
      __syncthreads();  // units' states of tile i, carries of tile i - 2, rewritten tile i - 3
    }
    if (thread == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  } else {
    const ExchangePlace at{blocks, block, blocks / plan.group_tiles, block % plan.group_tiles, tuple};
    const int warp = (thread - workers) >> 5;
    const int id = thread & 31;
    const int p = id & 15;
    const bool wide = tuple > widest_narrow_tuple<Q>;
    const int pairs = plan.exchange_warps / 2;
    const int share = (tuple + pairs - 1) / pairs;
    const int lane_begin = min(warp / 2 * share, tuple);
    const int lane_end = min(lane_begin + share, tuple);
    const int lanes_at_once = wide ? 32 : 2;
    const int lane_offset = wide ? id : id >> 4;
    for (std::int64_t i = 0; i < tiles_here + 4; ++i) {
      const std::int64_t summed = i - 1;
      const std::int64_t carried = i - 2;
      if (warp % 2 == 0 && summed >= 0 && summed < tiles_here) {
        // Prefixes of units and the tile's sum, at the start of the tile; then the group's sum before this tile.
        for (int first = lane_begin; first < lane_end; first += lanes_at_once) {
          const int lane = first + lane_offset;
          const bool mine = lane < lane_end;
          Word* const unit_state = unit_states + ((summed & 3) * geometry.units * tuple + lane) * Q;
          Word total[Q];
          if (wide) {
            clear<Algebra, Q>(total);
            for (int unit = 0; mine && unit < geometry.units; ++unit) {
              Word own[Q];
              copy_state<Q>(own, unit_state + unit * lane_states);
              unit_back.template advance_by<Algebra>(unit, own);
              copy_state<Q>(unit_state + unit * lane_states, total);
              accumulate<Algebra, Q>(total, own);
            }
            __syncwarp();
          } else {
            Word own[Q];
            clear<Algebra, Q>(own);
            if (mine && p < geometry.units) {
              copy_state<Q>(own, unit_state + p * lane_states);
              unit_back.template advance_by<Algebra>(p, own);
            }
            __syncwarp();
            scan_across<Algebra, Q, 16>(p, own, total);
            if (mine && p < geometry.units) copy_state<Q>(unit_state + p * lane_states, own);
          }
          const bool speaks = mine && (wide || p == 0);
          if (speaks) publish<Word, Q>(plan.sums + at.sum_slot(summed, 0, lane) * kWords, total, at.epoch(summed));
          Word before[Q];
          const auto slot = [&](int back, std::uint32_t& epoch) {
            epoch = at.epoch(summed);
            return plan.sums + at.sum_slot(summed, back + 1, lane) * kWords;
          };
          if (wide) {
            gather_wide<Algebra, Q>(mine ? at.position : 0, tile_table, 1, slot, before);
          } else {
            gather_narrow<Algebra, Q>(p, mine ? at.position : 0, tile_table, 1, slot, before);
          }
          if (speaks) {
            copy_state<Q>(group_sums + (summed & 1) * lane_states + lane * Q, before);
            if (at.position == plan.group_tiles - 1) {
              accumulate<Algebra, Q>(total, before);
              tile_table.template advance_by<Algebra>(1, total);
              const std::int64_t group = at.group_of(summed);
              publish<Word, Q>(plan.totals + at.total_slot(group, lane) * kWords, total, at.total_epoch(group));
            }
          }
          __syncwarp();
        }
      }
      if (warp % 2 == 1 && carried >= 0 && carried < tiles_here) {
        // Totals of the groups since the block's previous tile, then the state at the start of every unit.
        const std::int64_t group = at.group_of(carried);
        const int known = static_cast<int>(group < at.groups ? group : at.groups);
        for (int first = lane_begin; first < lane_end; first += lanes_at_once) {
          const int lane = first + lane_offset;
          const bool mine = lane < lane_end;
          Word prefix[Q];
          const auto slot = [&](int back, std::uint32_t& epoch) {
            epoch = at.total_epoch(group - 1 - back);
            return plan.totals + at.total_slot(group - 1 - back, lane) * kWords;
          };
          if (wide) {
            gather_wide<Algebra, Q>(mine ? known : 0, group_table, 0, slot, prefix);
          } else {
            gather_narrow<Algebra, Q>(p, mine ? known : 0, group_table, 0, slot, prefix);
          }
          if (mine) {
            Word carry[Q];
            copy_state<Q>(carry, group_prefix + lane * Q);
            if constexpr (Q > 1) advance<Algebra, Q>(arguments.tables.round, carry);
            accumulate<Algebra, Q>(prefix, carry);
            copy_state<Q>(carry, prefix);
            tile_table.template advance_by<Algebra>(at.position, carry);
            accumulate<Algebra, Q>(carry, group_sums + (carried & 1) * lane_states + lane * Q);
            for (int unit = wide ? 0 : p; unit < geometry.units; unit += wide ? 1 : 16) {
              Word* const unit_state =
                  unit_states + (((carried & 3) * geometry.units + unit) * tuple + lane) * Q;
              Word base[Q];
              copy_state<Q>(base, carry);
              accumulate<Algebra, Q>(base, unit_state);
              unit_ahead.template advance_by<Algebra>(unit, base);
              copy_state<Q>(unit_state, base);
            }
          }
          __syncwarp();
          if (mine && (wide || p == 0)) copy_state<Q>(group_prefix + lane * Q, prefix);
          __syncwarp();
        }
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
  constexpr int kRun = stream_run(sizeof(Storage));
  StreamArguments<Algebra, Q> arguments{plan, algebra, {}};
  const Geometry& geometry = plan.job.geometry;
  fill_tables<Algebra, Q>(arguments.tables, geometry, kRun, geometry.tile_values / geometry.tuple, plan.group_tiles, plan.blocks);
  const auto kernel = stream_scan_kernel<Algebra, Q, kRun>;
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
