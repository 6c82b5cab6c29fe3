// Scan of an input that fits on the chip: every block keeps its share in shared memory, once read
// and once written.
//
// A unit (one or two warps) reads a slice of its own with 16-byte loads and starts to sum when that
// slice is there, without waiting for the block. Then the blocks exchange one state a lane:
//   cluster  the blocks of one cluster write their totals into the shared memory of those after
//            them and meet at the cluster's barrier; no scratch, one launch;
//   words    up to one block a multiprocessor publish totals as words in scratch; every block reads
//            those of all blocks before it at once, in one hop.
// One block needs neither.
//
// All states are pulled back before they are added (P of a negative length): those of runs to the
// start of their unit, those of units to the start of their block, those of blocks to the start of
// the array. There they are plain vectors, summed in a fixed tree.
//
// Forward progress: a cluster is scheduled as a whole. With words, a block waits for blocks of a
// lower number only; all fit on the device at once, and the hardware starts blocks in the order of
// their numbers, so whoever is waited for runs already, whatever else the device does. A block
// publishes a round before it waits for words of that round.
//
// Overlap (programmatic launch): the kernel lets its successor start at once and waits for its
// predecessor before it touches memory. With words the predecessor is the kernel that clears the
// scratch. That one lets this kernel start only after everything before it is done, so values are
// read at once and the wait comes just before the exchange. Every block waits, so whoever waits for
// this kernel has waited for all of them.
#pragma once

#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/shared_limit.h"
#include "kernels/scan/on_chip/scan_direct.cuh"
#include "kernels/scan/on_chip/scan_resident.h"
#include "kernels/scan/tile/scan_exchange.cuh"
#include "kernels/scan/tile/scan_run.cuh"
#include "kernels/scan/tile/scan_span.cuh"

namespace gdelta::scan {

/// Matrices for every distance inside a block and between blocks (block b = 16 high + low), in one
/// table: it enters shared memory in one sweep.
enum ResidentRow {
  kRunAhead = 0,
  kRunBack = kRunAhead + 32,  ///< back over g + 1 runs
  kUnitAhead = kRunBack + 32,
  kUnitBack = kUnitAhead + kResidentWarps,
  kBlockAhead = kUnitBack + kResidentWarps,
  kBlockBack = kBlockAhead + 32,
  kRows = kBlockBack + 32,
};
static_assert(kRows == kResidentTableRows);

template <class Word, int Q>
struct ResidentTable {
  Word rows[Q == 1 ? 1 : kRows][Q];
};

template <class Algebra, int Q>
struct ResidentArguments {
  ResidentPlan plan;
  Algebra algebra;
  ResidentTable<typename Algebra::Word, Q> table;
};

// ---- A unit's slice

/// Where the values outside whole granules are: at most one for each of 32 threads.
template <class Storage>
__device__ __forceinline__ std::intptr_t edge_address(const ByteRange& r, int index) {
  constexpr int kBytes = sizeof(Storage);
  std::intptr_t a;
  std::intptr_t end = r.end;
  if (r.inner_begin >= r.inner_end) {
    a = r.begin + index * kBytes;
  } else if (index < 16) {
    a = r.begin + index * kBytes;
    end = r.inner_begin;
  } else {
    a = r.inner_end + (index - 16) * kBytes;
  }
  return index < 32 && a < end ? a : 0;
}

/// Array to shared memory: all loads of a thread are under way before the first is needed. Slot i
/// lies at slots + (origin mod 16) + i values.
template <class Storage, int kBatch>
__device__ __forceinline__ void load_slice(unsigned char* slots, const void* in, const Span& span,
                                           int index, int threads) {
  const ByteRange r = byte_range(in, span, sizeof(Storage));
  unsigned char* const slot0 = slots + (r.origin & 15);
  const std::intptr_t edge = edge_address<Storage>(r, index);
  Storage edge_value;
  if (edge != 0) edge_value = *reinterpret_cast<const Storage*>(edge);
  load_granules<kBatch>(slot0, r, index, threads);
  if (edge != 0) *reinterpret_cast<Storage*>(slot0 + (edge - r.origin)) = edge_value;
}

/// And back. Buffers that differ mod 16 are stored value by value.
template <class Storage>
__device__ __forceinline__ void store_slice(const unsigned char* slots, int shift, void* out,
                                            const Span& span, int index, int threads) {
  const ByteRange r = byte_range(out, span, sizeof(Storage));
  const unsigned char* const slot0 = slots + shift;
  if ((r.origin & 15) != shift) {
    for (int i = span.low + index; i < span.high; i += threads) {
      reinterpret_cast<Storage*>(r.origin)[i] = reinterpret_cast<const Storage*>(slot0)[i];
    }
    return;
  }
#pragma unroll 4
  for (std::intptr_t a = r.inner_begin + index * 16; a < r.inner_end; a += threads * 16) {
    __stcs(reinterpret_cast<uint4*>(a), *reinterpret_cast<const uint4*>(slot0 + (a - r.origin)));
  }
  if (const std::intptr_t a = edge_address<Storage>(r, index); a != 0) {
    *reinterpret_cast<Storage*>(a) = *reinterpret_cast<const Storage*>(slot0 + (a - r.origin));
  }
}

// ---- Runs whose length is known at run time, in batches: no load waits for a store

constexpr int kResidentBatch = 8;

/// Calls f(position of x[0], how many) for the values of a run, read into x.
template <class Storage, class F>
__device__ __forceinline__ void for_each_batch(const Storage* values, int stride, int run, F f) {
  Storage x[kResidentBatch];
  int first = 0;
  for (; first + kResidentBatch <= run; first += kResidentBatch) {
#pragma unroll
    for (int j = 0; j < kResidentBatch; ++j) x[j] = values[(first + j) * stride];
    f(first, kResidentBatch, x);
  }
  if (first < run) {
#pragma unroll
    for (int j = 0; j < kResidentBatch - 1; ++j) {
      if (first + j < run) x[j] = values[(first + j) * stride];
    }
    f(first, run - first, x);
  }
}

template <class Algebra, int Q, class Word = typename Algebra::Word>
__device__ __forceinline__ void summarise_run(const Algebra& algebra,
                                              const typename Algebra::Storage* values, int stride,
                                              int run, Word* state) {
  for_each_batch(values, stride, run, [&](int, int count, const auto* x) {
#pragma unroll
    for (int j = 0; j < kResidentBatch; ++j) {
      if (j < count) step<Algebra, Q>(algebra.load(x[j]), state);
    }
  });
}

template <class Algebra, int Q, bool Exact, class Word = typename Algebra::Word>
__device__ __forceinline__ void rewrite_run(const Algebra& algebra,
                                            typename Algebra::Storage* values, int stride, int run,
                                            int order, bool exclusive, Word* state) {
  for_each_batch(values, stride, run, [&](int first, int count, const auto* x) {
#pragma unroll
    for (int j = 0; j < kResidentBatch; ++j) {
      if (j < count) {
        const Word before = result_of<Q, Exact>(order, state);
        step<Algebra, Q>(algebra.load(x[j]), state);
        const Word after = result_of<Q, Exact>(order, state);
        values[(first + j) * stride] = algebra.store(exclusive ? before : after);
      }
    }
  });
}

// ---- Kernel

template <class Algebra, int Q, bool Exact>
__global__ void __launch_bounds__(32 * kResidentWarps, 1)
    resident_scan_kernel(const __grid_constant__ ResidentArguments<Algebra, Q> arguments) {
  using Word = typename Algebra::Word;
  using Storage = typename Algebra::Storage;
  constexpr int kWords = Q * kSlotWords<Word>;
  unsigned char* const shared = device::dynamic_shared();
  __shared__ SharedTable<Word, Q, kRows> table;

  const ResidentPlan& plan = arguments.plan;
  const Geometry& geometry = plan.job.geometry;
  const int tuple = geometry.tuple;
  const int run = plan.run;
  const int thread = threadIdx.x;
  const int warps = blockDim.x / 32;
  const int block = blockIdx.x;
  const ResidentExchange& exchange = plan.exchange;
  const int blocks = exchange.blocks;
  const bool clustered = exchange.clustered();
  const bool worded = exchange.worded();
  Word* const unit_states =
      reinterpret_cast<Word*>(shared + geometry.units * plan.slice_bytes);  // [units][tuple][Q]
  Word* const totals = unit_states + geometry.units * tuple * Q;  // of earlier blocks, see below

  device::start_successor();
  if (clustered) device::cluster_arrive();               // this block runs and can be written to
  table.load(arguments.table.rows, thread, blockDim.x);  // overlaps with the kernel before
  if (!worded) device::wait_for_predecessor();

  // ---- the slice of the unit enters shared memory; geometry.tile_values is the length of a slice
  const ThreadPlace place = thread_place(geometry, thread);
  const bool has_slice = place.unit < geometry.units;
  unsigned char* const slots = shared + place.unit * plan.slice_bytes;
  const Span span =
      tile_span(plan.job, static_cast<std::uint64_t>(block) * geometry.units + place.unit);
  const int shift = static_cast<int>(byte_range(plan.job.in, span, sizeof(Storage)).origin & 15);
  const int unit_threads = 32 * geometry.unit_warps;
  const auto sync_unit = [&] {  // a slice is written by all and read by all threads of a unit
    if (geometry.unit_warps == 1) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  };
  if (has_slice) {
    load_slice<Storage, Q * sizeof(Word) <= 16 ? 8 : 4>(slots, plan.job.in, span, place.index,
                                                        unit_threads);
  }
  if constexpr (Q > 1) __syncthreads();  // tables are there
  sync_unit();

  const int start = place.group * run * tuple + place.lane;
  const int stride = plan.job.backward ? -tuple : tuple;
  Storage* const values = reinterpret_cast<Storage*>(slots + shift) +
                          (plan.job.backward ? geometry.unit_values - 1 - start : start);
  const bool owner = place.active && has_slice;
  const int warp = thread >> 5;
  const int at = thread & 31;
  const int chunks = worded ? (block + 31) / 32 : 0;

  for (int round = 0; round < plan.rounds; ++round) {
    Word state[Q];
    clear<Algebra, Q>(state);
    if (owner) {
      summarise_run<Algebra, Q>(arguments.algebra, values, stride, run, state);
      table.template advance_by<Algebra>(kRunBack + place.group, state);
    }
    __syncwarp();
    scan_unit<Algebra, Q>(geometry, place, state);
    if (owner && place.group == geometry.groups - 1) {
      copy_state<Q>(unit_states + (place.unit * tuple + place.lane) * Q, state);
    }
    shift_unit<Algebra, Q>(geometry, place, state);
    __syncthreads();  // every unit's state is there
    if (round == 0) {
      if (clustered) device::cluster_wait();  // every block of the cluster runs
      if (worded) device::wait_for_predecessor();
    }

    // ---- a warp a lane, a thread a unit: sums of the units before, the total of the block
    Word* const cluster_totals = totals + (round & 1) * blocks * tuple * Q;
    for (int lane = warp; lane < tuple; lane += warps) {
      Word* const unit_state = unit_states + (at * tuple + lane) * Q;
      Word base[Q];
      Word total[Q];
      clear<Algebra, Q>(base);
      if (at < geometry.units) {
        copy_state<Q>(base, unit_state);
        table.template advance_by<Algebra>(kUnitBack + at, base);
      }
      __syncwarp();
      scan_across<Algebra, Q, kResidentWarps>(at % kResidentWarps, base, total);
      if (at < geometry.units) copy_state<Q>(unit_state, base);
      if (blocks > 1) {
        table.template advance_by<Algebra>(kBlockBack + (block & 15), total);
        table.template advance_by<Algebra>(kBlockBack + 16 + (block >> 4), total);
      }
      if (clustered && at > block && at < blocks) {
#pragma unroll
        for (int q = 0; q < Q; ++q) {
          device::store_remote(cluster_totals + (block * tuple + lane) * Q + q, at, total[q]);
        }
      }
      if (worded && at == 0) {
        publish<Word, Q>(
            exchange.sums +
                (static_cast<std::size_t>(round) * blocks + block) * exchange.slot_words +
                lane * kWords,
            1, total, 1);
      }
    }
    // ---- a warp for each lane of each 32 earlier blocks, the last warps first
    for (int task = warps - 1 - warp; task < chunks * tuple; task += warps) {
      const int chunk = task / tuple;
      const int lane = task - chunk * tuple;
      const int of_block = chunk * 32 + at;
      const unsigned long long* slot =
          of_block < block
              ? exchange.sums +
                    (static_cast<std::size_t>(round) * blocks + of_block) * exchange.slot_words +
                    lane * kWords
              : nullptr;
      const std::uint32_t epoch = 1;
      Word earlier[1][Q];
      await<Algebra, Q, 1>(&slot, 1, &epoch, earlier);
      __syncwarp();
      combine_across<Algebra, Q, 32>(earlier[0]);
      if (at == 0) copy_state<Q>(totals + task * Q, earlier[0]);
    }
    if (clustered) {
      device::cluster_arrive();
      device::cluster_wait();  // totals of earlier blocks, and sums of units, are there
    } else {
      __syncthreads();  // the same
    }
    // ---- and the state at the start of every unit
    for (int lane = warp; lane < tuple; lane += warps) {
      Word carry[Q];
      clear<Algebra, Q>(carry);
      if (clustered && at < block) copy_state<Q>(carry, cluster_totals + (at * tuple + lane) * Q);
      if (at < chunks) copy_state<Q>(carry, totals + (at * tuple + lane) * Q);
      if (blocks > 1) {
        __syncwarp();
        combine_across<Algebra, Q, 32>(carry);
        table.template advance_by<Algebra>(kBlockAhead + (block & 15), carry);
        table.template advance_by<Algebra>(kBlockAhead + 16 + (block >> 4), carry);
      }
      if (at < geometry.units) {
        Word* const unit_state = unit_states + (at * tuple + lane) * Q;
        accumulate<Algebra, Q>(carry, unit_state);
        table.template advance_by<Algebra>(kUnitAhead + at, carry);
        copy_state<Q>(unit_state, carry);
      }
    }
    __syncthreads();  // the state at the start of every unit is there

    if (owner) {
      accumulate<Algebra, Q>(state, unit_states + (place.unit * tuple + place.lane) * Q);
      table.template advance_by<Algebra>(kRunAhead + place.group, state);
      const bool last = round + 1 == plan.rounds;
      rewrite_run<Algebra, Q, Exact>(arguments.algebra, values, stride, run, plan.job.order,
                                     plan.job.exclusive && last, state);
    }
    if (round + 1 < plan.rounds) __syncthreads();  // states of units may be overwritten
  }
  sync_unit();
  if (has_slice) store_slice<Storage>(slots, shift, plan.job.out, span, place.index, unit_threads);
}

/// Fills the tables and launches.
template <class Algebra, int Q, bool Exact>
cudaError_t launch_resident_kernel(const ResidentPlan& plan, const Algebra& algebra,
                                   cudaStream_t stream) {
  using Word = typename Algebra::Word;
  ResidentArguments<Algebra, Q> arguments{plan, algebra, {}};
  if constexpr (Q > 1) {
    Word(*const rows)[Q] = arguments.table.rows;
    const std::int64_t run = plan.run;
    const std::int64_t unit = plan.job.geometry.groups * run;
    const std::int64_t block = plan.job.geometry.units * unit;
    Algebra::template powers<Q>(run, 32, rows + kRunAhead);
    Word back[33][Q];
    Algebra::template powers<Q>(-run, 33, back);
    memcpy(rows + kRunBack, back + 1, 32 * sizeof back[0]);
    Algebra::template powers<Q>(unit, kResidentWarps, rows + kUnitAhead);
    Algebra::template powers<Q>(-unit, kResidentWarps, rows + kUnitBack);
    for (const int step : {1, 16}) {
      const int half = step == 1 ? 0 : 16;
      Algebra::template powers<Q>(step * block, 16, rows + kBlockAhead + half);
      Algebra::template powers<Q>(-step * block, 16, rows + kBlockBack + half);
    }
  }
  const auto kernel = resident_scan_kernel<Algebra, Q, Exact>;
  const ResidentExchange& exchange = plan.exchange;
  const cudaError_t error = device::raise_shared_limit(kernel);
  if (error != cudaSuccess) return error;
  return device::launch_together(kernel, exchange.blocks, 32 * exchange.warps, plan.shared_bytes,
                                 exchange.clustered(), stream, arguments);
}

/// Order 1 from registers if the plan says so.
struct OnChipLauncher {
  const OnChipPlan& plan;
  cudaStream_t stream;

  template <class Algebra, int Q, bool Exact>
  cudaError_t run(const Algebra& algebra) const {
    if constexpr (Q == 1) {
      if (plan.direct) return launch_direct_kernel(plan.in_registers, algebra, stream);
    }
    return launch_resident_kernel<Algebra, Q, Exact>(plan.in_shared, algebra, stream);
  }
};

}  // namespace gdelta::scan
