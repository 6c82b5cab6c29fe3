// Scan at the speed of a copy: SAM's persistent blocks, fed and drained by bulk asynchronous copies
// (sm_90 and newer).
//
// Block b of k takes tiles b, b + k, b + 2k, ... Its warps have five jobs, joined by mbarriers
// only, so that each runs as far ahead as its input allows:
//   copy warp     loads tiles into a ring of slots and stores them from there;
//   workers       walk runs in shared memory: rewrite tile i - 4, whose carry is known by then, and
//                 summarise tile i;
//   publish warp  turns the units' states of a tile into prefixes and publishes the tile's sum;
//                 waits for nobody else;
//   group warp    combines the sums of the tiles before this one in its group;
//   carry warp    combines the groups' totals into the state at the start of every unit.
// Four tiles (three where registers are short) lie between a summary and its use, about 8 us, in
// which the exchange happens off the critical path. That the publish warp never waits for another
// block matters: else no step could be shorter than a hop between blocks.
//
// Exchange in two levels. Tiles come in groups of `group_tiles` (12 of 132 blocks). A block reads
// the sums of the tiles before it in its own group, and the totals of the k / group_tiles groups
// since its previous tile; the last tile of a group publishes the total. That is about 2 sqrt(k)
// states a tile instead of SAM's k - 1. Every state carries all orders of a lane (carry_matrix.h):
// one exchange, whatever the order. The tree is fixed, hence the same bits always.
//
// States of runs are pulled back to the start of their unit, those of units to the start of the
// tile (P of a negative length). There they are plain vectors to add up, so a worker multiplies by
// a matrix twice a tile, not once a shuffle.
//
// Co-residency: the launch is cooperative, so all k blocks run at once. Workers summarise tile i
// once they have rewritten tile i - 4, so a sum of round i depends on carries of round i - 4 only:
// by induction every awaited word comes.
//
// Epochs: a slot of the ring is reused after kRingRounds = 16 tiles of a block; nobody may then
// still want the old word. A block that waits for a word in order to carry round r (sums of round
// r, totals of rounds r - 1 and r) has summarised round r + 3 at most. So its group has no total of
// round r + 4, nobody has a carry of round r + 5, nobody summarises round r + 9, and the newest
// word in the ring is of round r + 8, the oldest wanted of round r - 1: 10 rounds, fewer than 16.
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

__device__ __forceinline__ void barrier_init(unsigned long long* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}

/// One arrival for the whole warp, after everything its threads have written.
__device__ __forceinline__ void barrier_arrive_warp(unsigned long long* barrier) {
  __syncwarp();
  if ((threadIdx.x & 31) == 0) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
                 : "memory");
  }
}

__device__ __forceinline__ void barrier_expect(unsigned long long* barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
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

__device__ __forceinline__ void bulk_load(void* shared, std::intptr_t global, int bytes,
                                          unsigned long long* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(shared)),
      "l"(global), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

__device__ __forceinline__ void bulk_store(std::intptr_t global, const void* shared, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
               "r"(shared_address(shared)), "r"(bytes)
               : "memory");
}

/// A tile as a bulk copy sees it: whole granules around its values, if they all lie inside the
/// array.
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
  int group;     ///< of the block
  int position;  ///< of the block in its group
  int tuple;
  int words;  ///< 64-bit words of a state
  bool wide;

  __device__ static std::uint32_t epoch(unsigned round) { return round / kRingRounds + 1; }
  /// Lanes that an exchange warp handles at once, this thread's among them, and who speaks for it.
  __device__ int lanes_at_once() const { return wide ? 32 : 2; }
  __device__ int lane_offset() const { return wide ? threadIdx.x & 31 : (threadIdx.x & 31) >> 4; }
  __device__ bool speaks(bool mine) const { return mine && (wide || (threadIdx.x & 15) == 0); }
  /// A block's state lies in cache lines of its own: blocks that write and poll one line slow each
  /// other down. Words of a lane lie `stride()` apart: together where one thread reads a lane's
  /// state, else beside those of the other lanes.
  __device__ std::uint32_t stride() const { return wide ? tuple : 1; }
  __device__ std::uint32_t slot(unsigned round, int part, int parts, int lane) const {
    const unsigned spaced = (words * tuple + kSlotSpacing - 1) / kSlotSpacing * kSlotSpacing;
    return (round % kRingRounds * parts + part) * spaced + (wide ? lane : lane * words);
  }
  /// The sum of this block's tile of `round`, or of the tile `back` before it in the group.
  __device__ std::uint32_t sum_slot(unsigned round, int back, int lane) const {
    return slot(round, block - back, blocks, lane);
  }
  /// The total of a group; groups below 0 belong to the round before.
  __device__ std::uint32_t total_slot(unsigned round, int of_group, int lane,
                                      std::uint32_t& epoch_of_slot) const {
    if (of_group < 0) --round, of_group += groups;
    epoch_of_slot = epoch(round);
    return slot(round, of_group, groups, lane);
  }
};

/// Narrow tuples: 16 threads a lane, one for each state to be read. Wide ones: a thread a lane.
template <int Q>
constexpr int widest_narrow_tuple = Q <= 4 ? 2 : 4;
constexpr int unit_batch(int words) { return words <= 1 ? 8 : words <= 2 ? 4 : words <= 4 ? 2 : 1; }

/// Combines up to 16 states: the one `back` places before is at slot(back, epoch) and is advanced
/// by row `back` of the table. All threads of a half warp get the result.
template <class Algebra, int Q, class Table, class Slot, class Word = typename Algebra::Word>
__device__ __forceinline__ void gather_narrow(int p, int count, const Table& table, int first_row,
                                              std::size_t stride, Slot slot, Word* sum) {
  const unsigned long long* from = nullptr;
  std::uint32_t epoch = 0;
  if (p < count) from = slot(p, epoch);
  Word state[1][Q];
  await<Algebra, Q, 1>(&from, stride, &epoch, state);
  copy_state<Q>(sum, state[0]);
  __syncwarp();
  table.template advance_by<Algebra>(p + first_row, sum);
  combine_across<Algebra, Q, 16>(sum);
}

// ---- Kernel

template <class Word, int Q>
struct StreamShared {
  static constexpr int kBuffers = stream_buffers(stream_depth(sizeof(Word), Q));
  unsigned long long loaded[kMaxStreamSlots];     ///< a tile has landed
  unsigned long long rewritten[kMaxStreamSlots];  ///< and may leave
  unsigned long long summarised[kBuffers];        ///< the units' states of a tile are there
  unsigned long long published[kBuffers];         ///< their prefixes and the tile's sum are there
  unsigned long long grouped[kBuffers];           ///< the sum inside the group is there
  unsigned long long carried[kBuffers];  ///< the states at the start of the units are there
  SharedTable<Word, Q, 32> run_ahead;
  SharedTable<Word, Q, 32> run_back;
  SharedTable<Word, Q, kMaxStreamUnits> unit_ahead;
  SharedTable<Word, Q, kMaxStreamUnits> unit_back;
  SharedTable<Word, Q, 17> tile_table;
  SharedTable<Word, Q, 16> group_table;
};

/// What the four jobs share.
template <class Algebra, int Q>
struct StreamContext {
  using Word = typename Algebra::Word;
  using Storage = typename Algebra::Storage;
  const StreamArguments<Algebra, Q>& arguments;
  StreamShared<Word, Q>& shared;
  unsigned char* slots;
  Word* unit_states;   ///< [buffers][units][tuple][Q]
  Word* tile_sums;     ///< [buffers][tuple][Q]
  Word* group_sums;    ///< [buffers][tuple][Q]
  Word* group_prefix;  ///< [tuple][Q]
  unsigned tiles;      ///< of this block

  __device__ std::uint64_t tile(unsigned i) const {
    return static_cast<std::uint64_t>(i) * arguments.plan.blocks + blockIdx.x;
  }
};

/// Loads and stores, by one warp.
template <class Algebra, int Q>
__device__ __forceinline__ void copy_tiles(const StreamContext<Algebra, Q>& context) {
  using Storage = typename Algebra::Storage;
  const StreamPlan& plan = context.arguments.plan;
  const int id = threadIdx.x & 31;
  const bool congruent = ((reinterpret_cast<std::intptr_t>(plan.job.in) ^
                           reinterpret_cast<std::intptr_t>(plan.job.out)) &
                          15) == 0;
  const auto load = [&](unsigned i, int slot) {
    if (i >= context.tiles) return;
    const BulkSpan s = bulk_span(plan.job, context.tile(i), sizeof(Storage));
    unsigned char* const target = context.slots + slot * plan.slot_bytes;
    if (s.load_bytes == 0) {
      load_span<Storage>(target, plan.job.in, s.span, id, 32);
      barrier_arrive_warp(&context.shared.loaded[slot]);
    } else if (id == 0) {
      barrier_expect(&context.shared.loaded[slot], s.load_bytes);
      bulk_load(target, s.load_begin, s.load_bytes, &context.shared.loaded[slot]);
    }
  };
  for (int slot = 0; slot < plan.slots; ++slot) load(slot, slot);
  int slot = 0;
  int parity = 0;
  for (unsigned i = 0; i < context.tiles; ++i) {
    const Span span = tile_span(plan.job, context.tile(i));
    const ByteRange out = byte_range(plan.job.out, span, sizeof(Storage));
    const unsigned char* const tile = context.slots + slot * plan.slot_bytes;
    const unsigned char* const slot0 = tile + (out.origin & 15);
    barrier_wait(&context.shared.rewritten[slot], parity);
    if (!congruent) {
      const int shift =
          static_cast<int>(byte_range(plan.job.in, span, sizeof(Storage)).origin & 15);
      store_span<Storage>(tile, shift, plan.job.out, span, id, 32);
    } else {
      if (id == 0 && out.inner_begin < out.inner_end) {
        bulk_store(out.inner_begin, slot0 + (out.inner_begin - out.origin),
                   static_cast<int>(out.inner_end - out.inner_begin));
      }
      if (out.begin != out.inner_begin || out.end != out.inner_end) {
        for_each_edge_value<Storage>(out, id, 32, [&](std::intptr_t a) {
          *reinterpret_cast<Storage*>(a) =
              *reinterpret_cast<const Storage*>(slot0 + (a - out.origin));
        });
      }
    }
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");  // the slot may be loaded again
    __syncwarp();
    load(i + plan.slots, slot);
    if (++slot == plan.slots) slot = 0, parity ^= 1;
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

template <class Algebra, int Q, int Run>
__device__ __forceinline__ void walk_tiles(const StreamContext<Algebra, Q>& context) {
  using Word = typename Algebra::Word;
  constexpr int kDepth = stream_depth(sizeof(Word), Q);
  constexpr int kBuffers = stream_buffers(kDepth);
  using Storage = typename Algebra::Storage;
  constexpr bool kExact = sizeof(Storage) >= 4;
  const StreamPlan& plan = context.arguments.plan;
  const Geometry& geometry = plan.job.geometry;
  const int tuple = geometry.tuple;
  const ThreadPlace place = thread_place(geometry, threadIdx.x);
  const bool reversed = plan.job.backward;
  const int start = place.unit * geometry.unit_values + place.group * Run * tuple + place.lane;
  const int offset =
      (reversed ? geometry.tile_values - 1 - start : start) * static_cast<int>(sizeof(Storage));
  const int stride = reversed ? -tuple : tuple;
  const int state_index = (place.unit * tuple + place.lane) * Q;
  // Slot 0 of a tile lies at its address mod 16, which moves by the same amount from tile to tile.
  const int first_shift = static_cast<int>(
      byte_range(plan.job.in, tile_span(plan.job, context.tile(0)), sizeof(Storage)).origin & 15);
  const int shift_step =
      (reversed ? -1 : 1) * plan.blocks * geometry.tile_values * static_cast<int>(sizeof(Storage));
  const bool packed = !kExact && tuple == 1 && !reversed && ((first_shift | shift_step) & 3) == 0;
  const auto run_of = [&](unsigned i, int slot) {
    const int shift = (first_shift + static_cast<int>(i) * (shift_step & 15)) & 15;
    return reinterpret_cast<Storage*>(context.slots + slot * plan.slot_bytes + shift + offset);
  };
  const auto states_of = [&](unsigned i) {
    return context.unit_states + (i % kBuffers) * geometry.units * tuple * Q + state_index;
  };

  Word pending[kDepth]
              [Q];  // states before this thread's run inside its unit, of the last three tiles
#pragma unroll
  for (int d = 0; d < kDepth; ++d) clear<Algebra, Q>(pending[d]);
  int slot = 0;
  int parity = 0;
  int ready_slot = 0;
  for (unsigned i = 0; i < context.tiles + kDepth; ++i) {
    if (i >= kDepth) {
      const unsigned ready = i - kDepth;
      barrier_wait(&context.shared.carried[ready % kBuffers], ready / kBuffers & 1);
      if (place.active) {
        Word state[Q];
        copy_state<Q>(state, pending[0]);
        accumulate<Algebra, Q>(state, states_of(ready));
        context.shared.run_ahead.template advance_by<Algebra>(place.group, state);
        Storage* const run = run_of(ready, ready_slot);
        if constexpr (!kExact) {
          if (packed) {
            rewrite_packed_run<Algebra, Q, Run>(context.arguments.algebra,
                                                reinterpret_cast<std::uint32_t*>(run),
                                                plan.job.order, plan.job.exclusive, state);
          }
        }
        if (!packed) {
          rewrite_run<Algebra, Q, Run, kExact>(context.arguments.algebra, run, stride,
                                               plan.job.order, plan.job.exclusive, state);
        }
      }
      asm volatile("fence.proxy.async.shared::cta;" ::
                       : "memory");  // the bulk store reads what was just written
      barrier_arrive_warp(&context.shared.rewritten[ready_slot]);
      if (++ready_slot == plan.slots) ready_slot = 0;
    }
#pragma unroll
    for (int d = 0; d + 1 < kDepth; ++d) copy_state<Q>(pending[d], pending[d + 1]);
    if (i < context.tiles) {
      barrier_wait(&context.shared.loaded[slot], parity);
      Word* const state = pending[kDepth - 1];
      clear<Algebra, Q>(state);
      if (place.active) {
        const Storage* const run = run_of(i, slot);
        if constexpr (!kExact) {
          if (packed) {
            summarise_packed_run<Algebra, Q, Run>(
                context.arguments.algebra, reinterpret_cast<const std::uint32_t*>(run), state);
          }
        }
        if (!packed) summarise_run<Algebra, Q, Run>(context.arguments.algebra, run, stride, state);
        context.shared.run_back.template advance_by<Algebra>(place.group, state);
      }
      if (++slot == plan.slots) slot = 0, parity ^= 1;
      __syncwarp();
      scan_unit<Algebra, Q>(geometry, place, state);
      if (place.active && place.group == geometry.groups - 1) copy_state<Q>(states_of(i), state);
      barrier_arrive_warp(&context.shared.summarised[i % kBuffers]);
      shift_unit<Algebra, Q>(geometry, place, state);
    }
  }
}

template <class Algebra, int Q>
__device__ __forceinline__ void publish_tiles(const StreamContext<Algebra, Q>& context,
                                              const ExchangePlace& at) {
  using Word = typename Algebra::Word;
  constexpr int kBuffers = StreamShared<Word, Q>::kBuffers;
  constexpr int kUnitBatch = unit_batch(Q * kSlotWords<Word>);
  const StreamPlan& plan = context.arguments.plan;
  const Geometry& geometry = plan.job.geometry;
  const int lane_states = geometry.tuple * Q;
  const int p = threadIdx.x & 15;
  const auto& shared = context.shared;
  for (unsigned i = 0; i < context.tiles; ++i) {
    barrier_wait(&context.shared.summarised[i % kBuffers], i / kBuffers & 1);
    for (int first = 0; first < at.tuple; first += at.lanes_at_once()) {
      const int lane = first + at.lane_offset();
      const bool mine = lane < at.tuple;
      Word* const unit_state =
          context.unit_states + ((i % kBuffers) * geometry.units * geometry.tuple + lane) * Q;
      Word total[Q];
      if (at.wide) {
        clear<Algebra, Q>(total);
        for (int first_unit = 0; mine && first_unit < geometry.units; first_unit += kUnitBatch) {
          Word own[kUnitBatch][Q];  // read before anything is written: loads do not wait for stores
#pragma unroll
          for (int u = 0; u < kUnitBatch; ++u) {
            const int unit = first_unit + u < geometry.units ? first_unit + u : first_unit;
            copy_state<Q>(own[u], unit_state + unit * lane_states);
          }
#pragma unroll
          for (int u = 0; u < kUnitBatch; ++u) {
            const int unit = first_unit + u;
            if (unit >= geometry.units) break;
            shared.unit_back.template advance_by<Algebra>(unit, own[u]);
            copy_state<Q>(unit_state + unit * lane_states, total);
            accumulate<Algebra, Q>(total, own[u]);
          }
        }
      } else {
        Word own[Q];
        clear<Algebra, Q>(own);
        if (mine && p < geometry.units) {
          copy_state<Q>(own, unit_state + p * lane_states);
          shared.unit_back.template advance_by<Algebra>(p, own);
        }
        __syncwarp();
        scan_across<Algebra, Q, 16>(p, own, total);
        if (mine && p < geometry.units) copy_state<Q>(unit_state + p * lane_states, own);
      }
      if (at.speaks(mine)) {
        publish<Word, Q>(plan.sums + at.sum_slot(i, 0, lane), at.stride(), total, at.epoch(i));
        copy_state<Q>(context.tile_sums + (i % kBuffers) * lane_states + lane * Q, total);
      }
      __syncwarp();
    }
    barrier_arrive_warp(&context.shared.published[i % kBuffers]);
  }
}

template <class Algebra, int Q>
__device__ __forceinline__ void combine_groups(const StreamContext<Algebra, Q>& context,
                                               const ExchangePlace& at) {
  using Word = typename Algebra::Word;
  constexpr int kBuffers = StreamShared<Word, Q>::kBuffers;
  const StreamPlan& plan = context.arguments.plan;
  const int lane_states = at.tuple * Q;
  const auto& table = context.shared.tile_table;
  for (unsigned i = 0; i < context.tiles; ++i) {
    barrier_wait(&context.shared.published[i % kBuffers], i / kBuffers & 1);
    for (int first = 0; first < at.tuple; first += at.lanes_at_once()) {
      const int lane = first + at.lane_offset();
      const bool mine = lane < at.tuple;
      Word before[Q];
      const auto slot = [&](int back, std::uint32_t& epoch) {
        epoch = at.epoch(i);
        return plan.sums + at.sum_slot(i, back + 1, lane);
      };
      const int count = mine ? at.position : 0;
      if (at.wide) {
        gather_wide<Algebra, Q>(count, table, 1, at.stride(), slot, before);
      } else {
        gather_narrow<Algebra, Q>(threadIdx.x & 15, count, table, 1, at.stride(), slot, before);
      }
      if (at.speaks(mine)) {
        copy_state<Q>(context.group_sums + (i % kBuffers) * lane_states + lane * Q, before);
        if (at.position == plan.group_tiles - 1) {
          accumulate<Algebra, Q>(before,
                                 context.tile_sums + (i % kBuffers) * lane_states + lane * Q);
          table.template advance_by<Algebra>(1, before);
          std::uint32_t epoch;
          const std::size_t total_slot = at.total_slot(i, at.group, lane, epoch);
          publish<Word, Q>(plan.totals + total_slot, at.stride(), before, epoch);
        }
      }
      __syncwarp();
    }
    barrier_arrive_warp(&context.shared.grouped[i % kBuffers]);
  }
}

template <class Algebra, int Q>
__device__ __forceinline__ void carry_tiles(const StreamContext<Algebra, Q>& context,
                                            const ExchangePlace& at) {
  using Word = typename Algebra::Word;
  constexpr int kBuffers = StreamShared<Word, Q>::kBuffers;
  constexpr int kUnitBatch = unit_batch(Q * kSlotWords<Word>);
  const StreamPlan& plan = context.arguments.plan;
  const Geometry& geometry = plan.job.geometry;
  const int lane_states = geometry.tuple * Q;
  const int p = threadIdx.x & 15;
  const auto& shared = context.shared;
  for (unsigned i = 0; i < context.tiles; ++i) {
    const int known = i == 0 ? at.group : at.groups;
    for (int first = 0; first < at.tuple; first += at.lanes_at_once()) {
      const int lane = first + at.lane_offset();
      const bool mine = lane < at.tuple;
      Word prefix[Q];
      const auto slot = [&](int back, std::uint32_t& epoch) {
        const std::size_t total_slot = at.total_slot(i, at.group - 1 - back, lane, epoch);
        return plan.totals + total_slot;
      };
      const int count = mine ? known : 0;
      if (at.wide) {
        gather_wide<Algebra, Q>(count, shared.group_table, 0, at.stride(), slot, prefix);
      } else {
        gather_narrow<Algebra, Q>(p, count, shared.group_table, 0, at.stride(), slot, prefix);
      }
      if (first == 0) barrier_wait(&context.shared.grouped[i % kBuffers], i / kBuffers & 1);
      if (mine) {
        Word carry[Q];
        copy_state<Q>(carry, context.group_prefix + lane * Q);
        if constexpr (Q > 1) advance<Algebra, Q>(context.arguments.tables.round, carry);
        accumulate<Algebra, Q>(prefix, carry);
        copy_state<Q>(carry, prefix);
        shared.tile_table.template advance_by<Algebra>(at.position, carry);
        accumulate<Algebra, Q>(carry, context.group_sums + (i % kBuffers) * lane_states + lane * Q);
        Word* const unit_state =
            context.unit_states + ((i % kBuffers) * geometry.units * geometry.tuple + lane) * Q;
        const int step = at.wide ? kUnitBatch : 16;
        for (int first_unit = at.wide ? 0 : p; first_unit < geometry.units; first_unit += step) {
          Word base[kUnitBatch][Q];
          const int last = at.wide ? min(first_unit + kUnitBatch, geometry.units) : first_unit + 1;
#pragma unroll
          for (int u = 0; u < kUnitBatch; ++u) {
            const int unit = first_unit + u < last ? first_unit + u : first_unit;
            copy_state<Q>(base[u], unit_state + unit * lane_states);
          }
#pragma unroll
          for (int u = 0; u < kUnitBatch; ++u) {
            const int unit = first_unit + u;
            if (unit >= last) break;
            accumulate<Algebra, Q>(base[u], carry);
            shared.unit_ahead.template advance_by<Algebra>(unit, base[u]);
            copy_state<Q>(unit_state + unit * lane_states, base[u]);
          }
        }
      }
      __syncwarp();
      if (at.speaks(mine)) copy_state<Q>(context.group_prefix + lane * Q, prefix);
      __syncwarp();
    }
    barrier_arrive_warp(&context.shared.carried[i % kBuffers]);
  }
}

template <class Algebra, int Q, int Run>
__global__ void __launch_bounds__(32 * (stream_workers(sizeof(typename Algebra::Storage), Q) +
                                        kStreamHelpers),
                                  1)
    stream_scan_kernel(const __grid_constant__ StreamArguments<Algebra, Q> arguments) {
#if __CUDA_ARCH__ >= 900
  using Word = typename Algebra::Word;
  constexpr int kBuffers = StreamShared<Word, Q>::kBuffers;
  extern __shared__ __align__(128) unsigned char dynamic[];
  __shared__ StreamShared<Word, Q> shared;
  const StreamPlan& plan = arguments.plan;
  const Geometry& geometry = plan.job.geometry;
  const int thread = threadIdx.x;
  const int threads = blockDim.x;
  const int lane_states = geometry.tuple * Q;
  const int worker_warps = geometry.units * geometry.unit_warps;
  const unsigned block = blockIdx.x;

  Word* const unit_states = reinterpret_cast<Word*>(dynamic + plan.slots * plan.slot_bytes);
  Word* const tile_sums = unit_states + kBuffers * geometry.units * lane_states;
  Word* const group_sums = tile_sums + kBuffers * lane_states;
  Word* const group_prefix = group_sums + kBuffers * lane_states;
  const unsigned tiles =
      plan.tiles > block
          ? static_cast<unsigned>((plan.tiles - block + plan.blocks - 1) / plan.blocks)
          : 0;
  const StreamContext<Algebra, Q> context{arguments, shared,     dynamic,      unit_states,
                                          tile_sums, group_sums, group_prefix, tiles};
  if (thread == 0) {
    for (int s = 0; s < plan.slots; ++s) {
      barrier_init(&shared.loaded[s], 1);
      barrier_init(&shared.rewritten[s], worker_warps);
    }
    for (int i = 0; i < kBuffers; ++i) {
      barrier_init(&shared.summarised[i], worker_warps);
      barrier_init(&shared.published[i], 1);
      barrier_init(&shared.grouped[i], 1);
      barrier_init(&shared.carried[i], 1);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  shared.run_ahead.load(arguments.tables.run_ahead, thread, threads);
  shared.run_back.load(arguments.tables.run_back, thread, threads);
  shared.unit_ahead.load(arguments.tables.unit_ahead, thread, threads);
  shared.unit_back.load(arguments.tables.unit_back, thread, threads);
  shared.tile_table.load(arguments.tables.tile, thread, threads);
  shared.group_table.load(arguments.tables.group, thread, threads);
  for (int i = thread; i < lane_states; i += threads) group_prefix[i] = Algebra::identity();
  __syncthreads();  // barriers and tables are there

  const int warp = thread >> 5;
  if (warp < worker_warps) {
    walk_tiles<Algebra, Q, Run>(context);
  } else if (warp == worker_warps) {
    copy_tiles(context);
  } else {
    const int group = static_cast<int>(block) / plan.group_tiles;
    const ExchangePlace at{plan.blocks,
                           static_cast<int>(block),
                           plan.blocks / plan.group_tiles,
                           group,
                           static_cast<int>(block) - group * plan.group_tiles,
                           geometry.tuple,
                           Q * kSlotWords<Word>,
                           geometry.tuple > widest_narrow_tuple<Q>};
    if (warp == worker_warps + 1) publish_tiles<Algebra, Q>(context, at);
    if (warp == worker_warps + 2) combine_groups<Algebra, Q>(context, at);
    if (warp == worker_warps + 3) carry_tiles<Algebra, Q>(context, at);
  }
#endif
}

/// Fills the tables and launches, all blocks at once.
template <class Algebra, int Q>
cudaError_t launch_stream_kernel(const StreamPlan& plan, const Algebra& algebra,
                                 cudaStream_t stream) {
  using Storage = typename Algebra::Storage;
  constexpr int kRun = stream_run(sizeof(Storage), Q);
  StreamArguments<Algebra, Q> arguments{plan, algebra, {}};
  const Geometry& geometry = plan.job.geometry;
  fill_tables<Algebra, Q>(arguments.tables, geometry, kRun, geometry.tile_values / geometry.tuple,
                          plan.group_tiles, plan.blocks);
  const auto kernel = stream_scan_kernel<Algebra, Q, kRun>;
  cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, plan.shared_bytes);
  if (error != cudaSuccess) return error;
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(plan.blocks);
  config.blockDim = dim3(32 * (geometry.units * geometry.unit_warps + kStreamHelpers));
  config.dynamicSmemBytes = plan.shared_bytes;
  config.stream = stream;
  config.attrs = &cooperative;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, arguments);
}

}  // namespace gdelta::scan
