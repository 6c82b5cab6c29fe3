// Scan at the speed of a copy: SAM's persistent blocks, fed and drained by bulk asynchronous copies
// (sm_90 and newer).
//
// Block b of k takes tiles b, b + k, b + 2k, ... Its warps have four jobs, joined by mbarriers only,
// so that each runs as far ahead as its input allows:
//   copy warp      loads tiles into a ring of slots and stores them from there;
//   workers        walk runs in shared memory: rewrite tile i - depth, whose carry is known by then,
//                  and summarise tile i;
//   publish warp   turns the units' states of a tile into sums before each unit and publishes the
//                  tile's sum; waits for no other block, else no step could be shorter than a hop;
//   gather warps   combine what the blocks before have published into the state at the start of
//                  every unit (scan_stream_exchange.cuh), tiles or lanes in turn.
// Some tiles (StreamShape::depth) lie between the summary of a tile and its rewriting, about 8 us,
// in which the exchange happens off the critical path.
//
// States of runs are pulled back to the start of their unit (P of a negative length), those of units
// to the start of the round. There they are plain vectors to add up, so a worker multiplies by a
// matrix twice a tile, not once a shuffle.
//
// Co-residency: the launch is cooperative, so all k blocks run at once. Workers summarise tile i
// once they have rewritten tile i - depth, so a sum of round i depends on carries of round i - depth
// only: by induction every awaited word comes.
//
// Epochs: a slot of the ring of sums is reused after kRingRounds = 16 tiles of a block; nobody may
// then still want the old word. A block that has published its sum of round n has carried round
// n - depth, and so has seen totals of round n - depth - 1 of every group. So every block has
// summarised round n - depth - 1 and carried round n - 2 depth - 1: the sums that are still wanted
// are of rounds n - 2 depth to n, fewer than 16. Totals of groups are not reused.
//
// With segments (algebra/segmented.cuh) the slot of a tile also holds the bits of its rows' heads,
// copied beside the values; walks start anew at a head, and states are combined as pairs.
#pragma once

#include "kernels/device/ptx.cuh"
#include "kernels/device/shared_limit.h"
#include "kernels/scan/scan_launch.cuh"
#include "kernels/scan/stream/scan_stream_exchange.cuh"
#include "kernels/scan/tile/scan_heads.cuh"
#include "kernels/scan/tile/scan_run.cuh"
#include "kernels/scan/tile/scan_span.cuh"

namespace gdelta::scan {

/// Matrices (first columns) for every distance inside a tile and between tiles.
template <class Word, int Q>
struct Tables {
  Word run_ahead[32][Q];                ///< g runs
  Word run_back[32][Q];                 ///< back over g + 1 runs
  Word unit_ahead[kMaxStreamUnits][Q];  ///< u units
  Word tile[kMaxGroupTiles][Q];         ///< p tiles
  Word group[kMaxGroups][Q];            ///< p groups of tiles
  Word round[Q];                        ///< as many tiles as there are blocks
};

/// Without orders there is nothing to advance.
template <class Word>
struct Tables<Word, 1> {
  static constexpr const Word (*run_ahead)[1] = nullptr;
  static constexpr const Word (*run_back)[1] = nullptr;
};

template <class Algebra, int Q>
struct StreamArguments {
  StreamPlan plan;
  Algebra algebra;
  Tables<typename Algebra::Word, Q> tables;
};

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

// ---- Kernel

template <class Algebra, int Q>
constexpr StreamShape kShape = kHasSegments<Algebra>
                                   ? segments_shape(sizeof(typename Algebra::Storage), Q)
                                   : stream_shape(sizeof(typename Algebra::Storage), Q);

template <class Algebra, int Q>
constexpr int kHelpers = stream_helpers(kHasSegments<Algebra>, sizeof(typename Algebra::Storage),
                                        Q);

/// Which units of a tile have a head.
template <bool kSegments>
struct StreamHeads {
  unsigned unit_heads[8][kMaxStreamUnits];
};
template <>
struct StreamHeads<false> {};

template <class Algebra, int Q>
struct StreamShared : StreamHeads<kHasSegments<Algebra>> {
  using Word = typename Algebra::Word;
  static constexpr int kBuffers = stream_buffers(kShape<Algebra, Q>.depth);
  unsigned long long loaded[kMaxStreamSlots];     ///< a tile has landed
  unsigned long long rewritten[kMaxStreamSlots];  ///< and may leave
  unsigned long long summarised[kBuffers];        ///< the units' states of a tile are there
  unsigned long long published[kBuffers];         ///< ... and are sums before each unit
  unsigned long long chained[kBuffers];           ///< the running prefix includes the tile's round
  unsigned long long carried[kBuffers];  ///< the states at the start of the units are there
  SharedTable<Word, Q, 32> run_ahead;
  SharedTable<Word, Q, 32> run_back;
  ColumnTable<Word, Q, kMaxStreamUnits>
      unit_away;  ///< takes a state from home to the start of a unit
  ColumnTable<Word, Q, kMaxStreamUnits> unit_home;  ///< and back
  ColumnTable<Word, Q, 1> round;                    ///< takes a state from home to home
};

/// What the four jobs share.
template <class Algebra, int Q>
struct StreamContext {
  using Word = typename Algebra::Word;
  using Storage = typename Algebra::Storage;
  static constexpr int kBuffers = StreamShared<Algebra, Q>::kBuffers;
  const StreamArguments<Algebra, Q>& arguments;
  StreamShared<Algebra, Q>& shared;
  unsigned char* slots;
  Word* unit_states;     ///< [buffers][units][tuple][Q]
  Word* tile_sums;       ///< [buffers][tuple][Q], if one block adds up a group
  Word* running_prefix;  ///< [tuple][Q]: state where the group of the last tile begins, at home
  unsigned tiles;        ///< this block has

  __device__ std::uint64_t tile(unsigned i) const {
    return static_cast<std::uint64_t>(i) * arguments.plan.blocks + blockIdx.x;
  }
  /// Bit u: unit u of a summarised tile has a head. For whole warps.
  __device__ unsigned heads_of_units(unsigned i) const {
    if constexpr (kHasSegments<Algebra>) {
      const int unit = threadIdx.x & 31;
      return __ballot_sync(~0u, unit < arguments.plan.job.geometry.units &&
                                    shared.unit_heads[i % kBuffers][unit] != 0);
    } else {
      return 0;
    }
  }
  __device__ std::uint32_t* heads_of_slot(int slot) const {
    return reinterpret_cast<std::uint32_t*>(slots + (slot + 1) * arguments.plan.slot_bytes -
                                            arguments.plan.head_bytes);
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
    if (s.load_bytes == 0) load_span<Storage>(target, plan.job.in, s.span, id, 32);
    std::intptr_t heads = 0;
    int head_bytes = 0;
    if constexpr (kHasSegments<Algebra>) {
      const HeadSpan span(plan.job, context.arguments.algebra, context.tile(i));
      heads = span.begin;
      head_bytes = load_heads(context.heads_of_slot(slot), context.arguments.algebra, span,
                              plan.head_bytes, id);
    }
    const int bytes = s.load_bytes + head_bytes;
    if (bytes != 0 && id == 0) {
      unsigned long long* const loaded = &context.shared.loaded[slot];
      device::barrier_expect(loaded, bytes);
      if (s.load_bytes != 0) device::bulk_load(target, s.load_begin, s.load_bytes, loaded);
      if (head_bytes != 0)
        device::bulk_load(context.heads_of_slot(slot), heads, head_bytes, loaded);
    } else {
      device::barrier_arrive(&context.shared.loaded[slot]);
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
    device::barrier_wait(&context.shared.rewritten[slot], parity);
    if (!congruent) {
      const int shift =
          static_cast<int>(byte_range(plan.job.in, span, sizeof(Storage)).origin & 15);
      store_span<Storage>(tile, shift, plan.job.out, span, id, 32);
    } else {
      if (id == 0 && out.inner_begin < out.inner_end) {
        device::bulk_store(out.inner_begin, slot0 + (out.inner_begin - out.origin),
                           static_cast<int>(out.inner_end - out.inner_begin));
      }
      if (out.begin != out.inner_begin || out.end != out.inner_end) {
        for_each_edge_value<Storage>(out, id, 32, [&](std::intptr_t a) {
          *reinterpret_cast<Storage*>(a) =
              *reinterpret_cast<const Storage*>(slot0 + (a - out.origin));
        });
      }
    }
    device::bulk_wait_until_read();  // the slot may be loaded again
    __syncwarp();
    load(i + plan.slots, slot);
    if (++slot == plan.slots) slot = 0, parity ^= 1;
  }
  device::bulk_wait();
}

template <class Algebra, int Q, int Run>
__device__ __forceinline__ void walk_tiles(const StreamContext<Algebra, Q>& context) {
  using Word = typename Algebra::Word;
  constexpr int kDepth = kShape<Algebra, Q>.depth;
  constexpr int kBuffers = stream_buffers(kDepth);
  static_assert(2 * kDepth < kRingRounds);
  using Storage = typename Algebra::Storage;
  constexpr bool kExact = Algebra::kExact;
  constexpr bool kPackable = sizeof(Storage) < 4 && std::is_integral_v<Storage>;
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
  const bool packed = kPackable && tuple == 1 && !reversed && ((first_shift | shift_step) & 3) == 0;
  const auto run_of = [&](unsigned i, int slot) {
    const int shift = (first_shift + static_cast<int>(i) * (shift_step & 15)) & 15;
    return reinterpret_cast<Storage*>(context.slots + slot * plan.slot_bytes + shift + offset);
  };
  const auto states_of = [&](unsigned i) {
    return context.unit_states + (i % kBuffers) * geometry.units * tuple * Q + state_index;
  };

  // Heads: bits of a run's rows, and threads of its lane in the unit.
  constexpr bool kSegments = kHasSegments<Algebra>;
  const int rows = geometry.tile_values / tuple;
  int first_bit = 0;
  int bit_step = 0;
  int run_bit = 0;
  unsigned lane_places = 0;
  if constexpr (kSegments) {
    const int row = (place.unit * geometry.groups + place.group) * Run;
    first_bit = HeadSpan(plan.job, context.arguments.algebra, context.tile(0)).shift;
    bit_step = (reversed ? -1 : 1) * plan.blocks * rows & 127;
    run_bit = reversed ? rows - row - Run : row;
    lane_places = places_of_lane(place.index, tuple) & places(0, geometry.groups * tuple);
  }
  const auto window_of = [&](unsigned i, int slot) {
    if constexpr (kSegments) {
      const int shift = (first_bit + static_cast<int>(i & 127) * bit_step) & 127;
      return head_window<Run>(context.heads_of_slot(slot), shift + run_bit, reversed);
    }
  };
  unsigned pending_heads =
      0;  // of tiles, the oldest in bit 0: a head lies before the run in its unit

  Word pending[kDepth][Q];  // states before this thread's run inside its unit, of unfinished tiles
#pragma unroll
  for (int d = 0; d < kDepth; ++d) clear<Algebra, Q>(pending[d]);
  int slot = 0;
  int parity = 0;
  int ready_slot = 0;
  for (unsigned i = 0; i < context.tiles + kDepth; ++i) {
    if (i >= kDepth) {
      const unsigned ready = i - kDepth;
      device::barrier_wait(&context.shared.carried[ready % kBuffers], ready / kBuffers & 1);
      if (place.active) {
        Word state[Q];
        copy_state<Q>(state, pending[0]);
        if constexpr (kSegments) {
          accumulate_unless<Algebra, Q>(pending_heads & 1, state, states_of(ready));
        } else {
          accumulate<Algebra, Q>(state, states_of(ready));
        }
        context.shared.run_ahead.template advance_by<Algebra>(place.group, state);
        Storage* const run = run_of(ready, ready_slot);
        if constexpr (kSegments) {
          rewrite_segments<Algebra, Q, Run>(context.arguments.algebra, run, stride,
                                            plan.job.exclusive, window_of(ready, ready_slot),
                                            state);
        } else if constexpr (kPackable) {
          if (packed) {
            rewrite_packed_run<Algebra, Q, Run>(context.arguments.algebra,
                                                reinterpret_cast<std::uint32_t*>(run),
                                                plan.job.order, plan.job.exclusive, state);
          }
        }
        if (!kSegments && !packed) {
          rewrite_run<Algebra, Q, Run, kExact>(context.arguments.algebra, run, stride,
                                               plan.job.order, plan.job.exclusive, state);
        }
      }
      device::fence_bulk();  // the bulk store reads what was just written
      device::barrier_arrive(&context.shared.rewritten[ready_slot]);
      if (++ready_slot == plan.slots) ready_slot = 0;
    }
#pragma unroll
    for (int d = 0; d + 1 < kDepth; ++d) copy_state<Q>(pending[d], pending[d + 1]);
    pending_heads >>= 1;
    if (i < context.tiles) {
      device::barrier_wait(&context.shared.loaded[slot], parity);
      Word* const state = pending[kDepth - 1];
      clear<Algebra, Q>(state);
      bool head = false;
      if (place.active) {
        const Storage* const run = run_of(i, slot);
        if constexpr (kSegments) {
          const HeadWindow<Run> heads = window_of(i, slot);
          head = heads != 0;
          summarise_segments<Algebra, Q, Run>(context.arguments.algebra, run, stride, heads, state);
        } else if constexpr (kPackable) {
          if (packed) {
            summarise_packed_run<Algebra, Q, Run>(
                context.arguments.algebra, reinterpret_cast<const std::uint32_t*>(run), state);
          }
        }
        if (!kSegments && !packed)
          summarise_run<Algebra, Q, Run>(context.arguments.algebra, run, stride, state);
        context.shared.run_back.template advance_by<Algebra>(place.group, state);
      }
      if (++slot == plan.slots) slot = 0, parity ^= 1;
      __syncwarp();
      unsigned heads = 0;
      if constexpr (kSegments) {
        heads = __ballot_sync(~0u, head) & lane_places;
        const unsigned before = heads & up_to(place.index) & ~(1u << place.index);
        if (before != 0) pending_heads |= 1u << (kDepth - 1);
        scan_threads<Algebra, Q>(place.index - segment_start(heads, place.index), tuple,
                                 tuple * geometry.groups, state);
      } else {
        scan_unit<Algebra, Q>(geometry, place, state);
      }
      if (place.active && place.group == geometry.groups - 1) {
        if constexpr (kSegments) {
          if (place.lane == 0) context.shared.unit_heads[i % kBuffers][place.unit] = heads;
        }
        copy_state<Q>(states_of(i), state);
        device::barrier_arrive(&context.shared.summarised[i % kBuffers]);
      }
      shift_unit<Algebra, Q>(geometry, place, state);
    }
  }
}

template <class Algebra, int Q, int Run>
__global__ void __launch_bounds__(32 * (kShape<Algebra, Q>.workers + kHelpers<Algebra, Q>), 1)
    stream_scan_kernel(const __grid_constant__ StreamArguments<Algebra, Q> arguments) {
#if __CUDA_ARCH__ >= 900
  using Word = typename Algebra::Word;
  constexpr int kBuffers = StreamShared<Algebra, Q>::kBuffers;
  unsigned char* const dynamic = device::dynamic_shared();
  __shared__ StreamShared<Algebra, Q> shared;
  const StreamPlan& plan = arguments.plan;
  const Geometry& geometry = plan.job.geometry;
  const int thread = threadIdx.x;
  const int threads = blockDim.x;
  const int lane_states = geometry.tuple * Q;
  const int worker_warps = geometry.units * geometry.unit_warps;
  const unsigned block = blockIdx.x;

  Word* const unit_states = reinterpret_cast<Word*>(dynamic + plan.slots * plan.slot_bytes);
  Word* const tile_sums = unit_states + kBuffers * geometry.units * lane_states;
  Word* const running_prefix = tile_sums + kBuffers * lane_states;
  const unsigned tiles =
      plan.tiles > block
          ? static_cast<unsigned>((plan.tiles - block + plan.blocks - 1) / plan.blocks)
          : 0;
  const StreamContext<Algebra, Q> context{.arguments = arguments,
                                          .shared = shared,
                                          .slots = dynamic,
                                          .unit_states = unit_states,
                                          .tile_sums = tile_sums,
                                          .running_prefix = running_prefix,
                                          .tiles = tiles};
  if (thread == 0) {
    for (int s = 0; s < plan.slots; ++s) {
      device::barrier_init(&shared.loaded[s], 32);
      device::barrier_init(&shared.rewritten[s], 32 * worker_warps);
    }
    for (int i = 0; i < kBuffers; ++i) {
      device::barrier_init(&shared.summarised[i], geometry.units * geometry.tuple);
      device::barrier_init(&shared.published[i], 32);
      device::barrier_init(&shared.chained[i], 32);
      device::barrier_init(&shared.carried[i],
                           32 * (shares_tiles<Q>(geometry.tuple) ? 1 : kGatherWarps<Algebra, Q>));
    }
    device::fence_barrier_init();
  }
  shared.run_ahead.load(arguments.tables.run_ahead, thread, threads);
  shared.run_back.load(arguments.tables.run_back, thread, threads);
  for (int i = thread; i < lane_states; i += threads) running_prefix[i] = Algebra::identity();
  const int group = static_cast<int>(block) / plan.group_tiles;
  const int state_words = lane_states * kSlotWords<Word>;
  const ExchangePlace at{.blocks = plan.blocks,
                         .block = static_cast<int>(block),
                         .groups = plan.blocks / plan.group_tiles,
                         .group = group,
                         .position = static_cast<int>(block) - group * plan.group_tiles,
                         .spacing = (state_words + kSlotSpacing - 1) / kSlotSpacing * kSlotSpacing};
  if constexpr (Q > 1) {
    if (thread < geometry.units) {
      CarryMatrix<Word, Q> to_group, to_tile, to_unit;
      if (kHasSegments<Algebra> && plan.group_tiles == 1) {  // more groups than the table has rows
        copy_state<Q>(to_group.c, arguments.tables.group[1]);
        to_group = power(to_group, at.group);
      } else {
        copy_state<Q>(to_group.c, arguments.tables.group[at.group]);
      }
      copy_state<Q>(to_tile.c, arguments.tables.tile[at.position]);
      copy_state<Q>(to_unit.c, arguments.tables.unit_ahead[thread]);
      const CarryMatrix<Word, Q> away = multiply(multiply(to_group, to_tile), to_unit);
      shared.unit_away.set(thread, away.c);
      shared.unit_home.set(thread, inverse(away).c);
    }
    if (thread == 0) shared.round.set(0, arguments.tables.round);
  }
  __syncthreads();  // tables and barriers are there

  const int warp = thread >> 5;
  if (warp < worker_warps) {
    walk_tiles<Algebra, Q, Run>(context);
  } else if (warp == worker_warps) {
    copy_tiles(context);
  } else {
    if (warp == worker_warps + 1) {
      publish_tiles<Algebra, Q>(context, at);
    } else {
      gather_tiles<Algebra, Q>(context, at, warp - worker_warps - 2);
    }
  }
#endif
}

template <class Algebra, int Q, class Word = typename Algebra::Word>
void fill_tables(Tables<Word, Q>& tables, const StreamPlan& plan, int run) {
  if constexpr (Q > 1) {
    const Geometry& geometry = plan.job.geometry;
    const std::int64_t tile = geometry.tile_values / geometry.tuple;
    Algebra::template powers<Q>(run, 32, tables.run_ahead);
    Word back[33][Q];
    Algebra::template powers<Q>(-run, 33, back);
    for (int g = 0; g < 32; ++g) copy_state<Q>(tables.run_back[g], back[g + 1]);
    Algebra::template powers<Q>(std::int64_t(geometry.groups) * run, kMaxStreamUnits,
                                tables.unit_ahead);
    Algebra::template powers<Q>(tile, kMaxGroupTiles, tables.tile);
    Algebra::template powers<Q>(tile * plan.group_tiles, kMaxGroups, tables.group);
    Algebra::template coefficients<Q>(tile * plan.blocks, tables.round);
  }
}

/// Fills the tables and launches, all blocks at once.
template <class Algebra, int Q>
cudaError_t launch_stream_kernel(const StreamPlan& plan, const Algebra& algebra,
                                 cudaStream_t stream) {
  constexpr int kRun = kShape<Algebra, Q>.run;
  StreamArguments<Algebra, Q> arguments{plan, algebra, {}};
  const Geometry& geometry = plan.job.geometry;
  fill_tables<Algebra, Q>(arguments.tables, plan, kRun);
  const auto kernel = stream_scan_kernel<Algebra, Q, kRun>;
  const cudaError_t error = device::raise_shared_limit(kernel);
  if (error != cudaSuccess) return error;
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(plan.blocks);
  config.blockDim = dim3(32 * (geometry.units * geometry.unit_warps + kHelpers<Algebra, Q>));
  config.dynamicSmemBytes = plan.shared_bytes;
  config.stream = stream;
  config.attrs = &cooperative;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, arguments);
}

/// The same for orders 1 to 8, each compiled.
template <class Algebra>
cudaError_t launch_stream_orders(int order, const StreamPlan& plan, cudaStream_t stream) {
  using Launch = cudaError_t (*)(const StreamPlan&, const Algebra&, cudaStream_t);
  constexpr Launch kLaunch[kMaxOrder] = {
      launch_stream_kernel<Algebra, 1>, launch_stream_kernel<Algebra, 2>,
      launch_stream_kernel<Algebra, 3>, launch_stream_kernel<Algebra, 4>,
      launch_stream_kernel<Algebra, 5>, launch_stream_kernel<Algebra, 6>,
      launch_stream_kernel<Algebra, 7>, launch_stream_kernel<Algebra, 8>};
  return kLaunch[order - 1](plan, {}, stream);
}

}  // namespace gdelta::scan
