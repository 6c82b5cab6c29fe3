// How the blocks of the stream kernel exchange carries: two levels, a warp a tile.
//
// Tiles come in groups of `group_tiles` (12 of 132 blocks). A block reads the sums of the tiles
// before its own in the group, and the totals of the k / group_tiles groups since its previous tile;
// the last tile of a group publishes the total. That is about 2 sqrt(k) states a tile instead of
// SAM's k - 1. Every state carries all orders of a lane (carry_matrix.h): one exchange, whatever the
// order. The tree is fixed, hence the same bits always.
//
// An exchange warp follows one tile from the workers' summary to the states at the start of its
// units: two hops between blocks, some microseconds. There are as many such warps as tiles between
// a summary and its use, so a tile always finds a free one, and a step is bound by a hop's latency
// only if all of them wait. The only chain between tiles is the block's running prefix.
#pragma once

#include "kernels/scan/ptx.cuh"
#include "kernels/scan/scan_exchange.cuh"
#include "kernels/scan/scan_run.cuh"

namespace gdelta::scan {

/// Where a block stands in the two levels, and where states lie in scratch.
struct ExchangePlace {
  int blocks;
  int block;
  int groups;    ///< in a round
  int group;     ///< of the block
  int position;  ///< of the block in its group
  int tuple;
  int words;  ///< 64-bit words of a lane's state

  __device__ static std::uint32_t epoch(unsigned round) { return round / kRingRounds + 1; }
  /// A block's state lies in cache lines of its own: blocks that write and poll one line slow each
  /// other down.
  __device__ std::uint32_t slot(unsigned round, int part, int parts, int lane) const {
    const unsigned spaced = (words * tuple + kSlotSpacing - 1) / kSlotSpacing * kSlotSpacing;
    return (round % kRingRounds * parts + part) * spaced + lane * words;
  }
  /// The sum of this block's tile of `round`, or of the tile `back` before it in the group.
  __device__ std::uint32_t sum_slot(unsigned round, int back, int lane) const {
    return slot(round, block - back, blocks, lane);
  }
  /// The total of a group; groups below 0 belong to the round before. Totals are not reused.
  __device__ std::size_t total_slot(unsigned round, int of_group, int lane) const {
    const std::size_t spaced = (words * tuple + kSlotSpacing - 1) / kSlotSpacing * kSlotSpacing;
    return (static_cast<std::size_t>(round) * groups + of_group) * spaced + lane * words;
  }
};

/// How the threads of an exchange warp share a batch of lanes: `parts` threads a lane, each for its
/// share of the units or of the states to read. Neighbouring threads have neighbouring lanes. A
/// single lane leaves half of the warp free: then the two halves share the two levels.
struct Team {
  int lanes;  ///< of the batch: a power of two up to 32
  int parts;  ///< a power of two up to 16
  int part;   ///< of this thread
  int lane;
  bool mine;   ///< the thread has a lane
  bool split;  ///< the lower half works on tiles, the upper on groups; else all threads on both
  bool upper;

  /// Threads that have a lane in common, and this one's place among them.
  __device__ int members() const { return split ? 2 * parts : parts; }
  __device__ int member() const { return split && upper ? parts + part : part; }
};

constexpr int lane_batches(int tuple) { return (tuple + 31) / 32; }
static_assert(lane_batches(kMaxInterleavedTuple) <= kStreamGatherWarps, "a gather warp a batch");

template <class Algebra>
__device__ __forceinline__ Team make_team(int tuple, int batch) {
  Team team;
  const int id = threadIdx.x & 31;
  team.lanes = 1;
  while (team.lanes < tuple && team.lanes < 32) team.lanes *= 2;
  team.parts = min(32 / team.lanes, 16);
  team.part = id / team.lanes % team.parts;
  team.lane = batch * 32 + id % team.lanes;
  team.upper = id >= team.lanes * team.parts;
  team.split = Algebra::kCounted && tuple == 1;
  team.mine = team.lane < tuple && (team.split || !team.upper);
  return team;
}

/// Items that one of `threads` gets of `count`, at most.
__device__ __forceinline__ int share_of(int count, int threads) {
  return (count + threads - 1) / threads;
}

/// Every thread's state becomes the sum over the parts of its lane up to its own.
template <class Algebra, int Q, class Word = typename Algebra::Word>
__device__ __forceinline__ void scan_team(const Team& team, Word* state) {
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    if (d >= team.lanes && d < team.lanes * team.parts) {
#pragma unroll
      for (int q = 0; q < Q; ++q) {
        const Word earlier = __shfl_up_sync(~0u, state[q], d);
        if (team.part >= d / team.lanes) state[q] = Algebra::add(earlier, state[q]);
      }
    }
  }
}

/// Every part gets the sum over the parts of its lane, by a fixed tree.
template <class Algebra, int Q, class Word = typename Algebra::Word>
__device__ __forceinline__ void combine_team(const Team& team, Word* state) {
#pragma unroll
  for (int d = 16; d > 0; d /= 2) {
    if (d >= team.lanes && d < team.lanes * team.parts) {
#pragma unroll
      for (int q = 0; q < Q; ++q)
        state[q] = Algebra::add(state[q], __shfl_xor_sync(~0u, state[q], d));
    }
  }
}

/// States that a thread reads at once, and unit states that it holds at once.
constexpr int gather_batch(int words, int workers) {
  const int most = workers <= 8 ? 6 : 2;  // few warps have more registers each
  return words <= 1 ? 4 : words <= most ? 2 : 1;
}
constexpr int unit_batch(int words) { return words <= 1 ? 8 : words <= 2 ? 4 : words <= 4 ? 2 : 1; }

/// Words that several blocks add up: the number of blocks above, the sum of their 32-bit parts below.
constexpr int kCountShift = 48;

/// The word in scratch that carries the 32-bit part `index` of a state.
template <class Word, int Q>
__device__ __forceinline__ unsigned long long tagged_part(const Word* state, int index,
                                                          unsigned long long tag, int shift) {
  std::uint32_t part = 0;
#pragma unroll
  for (int q = 0; q < Q; ++q) {
    std::uint32_t half[sizeof(Word) / 4];
    memcpy(half, &state[q], sizeof(Word));
#pragma unroll
    for (int h = 0; h < kSlotWords<Word>; ++h) {
      if (index == q * kSlotWords<Word> + h) part = half[h];
    }
  }
  return tag << shift | part;
}

/// Calls write(index, word) for every word of a lane's state; the parts share the words.
template <class Word, int Q, class Write>
__device__ __forceinline__ void write_state(const Team& team, const Word* state,
                                            unsigned long long tag, int shift, Write write) {
  constexpr int kWords = Q * kSlotWords<Word>;
  if (team.parts >= kWords) {
    if (team.part < kWords) write(team.part, tagged_part<Word, Q>(state, team.part, tag, shift));
  } else if (team.part == 0) {
#pragma unroll
    for (int w = 0; w < kWords; ++w) write(w, tagged_part<Word, Q>(state, w, tag, shift));
  }
}

/// Waits until N * Batch states are there and reads them, all at once; a null one reads as nothing.
/// The words of level n are there once their bits from shift[n] on equal tag[n].
template <class Algebra, int Q, int N, int Batch, class Word = typename Algebra::Word>
__device__ __forceinline__ void await_levels(const unsigned long long* const (&words)[N * Batch],
                                             const std::uint32_t (&tag)[N], const int (&shift)[N],
                                             Word (&states)[N * Batch][Q]) {
  unsigned long long v[N * Batch][Q * kSlotWords<Word>];
  await_words(
      words, 1,
      [&](int b, unsigned long long word) { return word >> shift[b / Batch] == tag[b / Batch]; },
      v);
#pragma unroll
  for (int b = 0; b < N * Batch; ++b) {
    if constexpr (Algebra::kCounted) {  // the low part of a total may exceed 32 bits
      const unsigned long long part = (1ull << shift[b / Batch]) - 1;
#pragma unroll
      for (int q = 0; q < Q; ++q) {
        states[b][q] = static_cast<Word>(v[b][q * kSlotWords<Word>] & part);
        if constexpr (sizeof(Word) == 8) states[b][q] += static_cast<Word>(v[b][2 * q + 1]) << 32;
      }
    } else {
      state_of_words<Word, Q>(v[b], states[b]);
    }
    if (words[b] == nullptr) clear<Algebra, Q>(states[b]);
  }
}

/// One of the two levels, as the block of a tile sees it: `count` states, the one `back` places
/// before at words(back), advanced by row `back + first_row` of the table.
template <class Algebra, class Context>
struct Level {
  const Context& context;
  const ExchangePlace& at;
  unsigned round;
  int lane;
  bool of_tile;  ///< the tiles before in the group; else the groups back to the previous tile

  __device__ int count() const { return of_tile ? at.position : round == 0 ? at.group : at.groups; }
  __device__ int first_row() const { return of_tile ? 1 : 0; }
  __device__ const auto& table() const {
    return of_tile ? context.shared.tile_table : context.shared.group_table;
  }
  __device__ std::uint32_t tag() const {
    if (of_tile) return at.epoch(round);
    return Algebra::kCounted ? context.arguments.plan.group_tiles : 1;
  }
  __device__ int shift() const { return !of_tile && Algebra::kCounted ? kCountShift : 32; }
  __device__ const unsigned long long* words(int back) const {
    const StreamPlan& plan = context.arguments.plan;
    if (of_tile) return plan.sums + at.sum_slot(round, back + 1, lane);
    return plan.totals + at.total_slot(round, at.group - 1 - back, lane);
  }
};

/// Combines the states of N levels, waiting for all at once. Every part of the lane gets the
/// results.
template <class Algebra, int Q, int N, class L, class Word = typename Algebra::Word>
__device__ __forceinline__ void gather(const Team& team, const L (&levels)[N], Word (&sums)[N][Q]) {
  int share = 0;  // of the longer level
  int nearest[N];
  int end[N];
  std::uint32_t tag[N];
  int shift[N];
#pragma unroll
  for (int n = 0; n < N; ++n) {
    const int own_share = share_of(levels[n].count(), team.parts);
    nearest[n] = team.part * own_share;
    end[n] = team.mine ? min(nearest[n] + own_share, levels[n].count()) : 0;
    tag[n] = levels[n].tag();
    shift[n] = levels[n].shift();
    share = max(share, own_share);
    clear<Algebra, Q>(sums[n]);
  }
  const auto read = [&](auto batch, int far) {
    constexpr int kBatch = decltype(batch)::value;
    const unsigned long long* words[N * kBatch];
    Word states[N * kBatch][Q];
#pragma unroll
    for (int n = 0; n < N; ++n) {
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        const int back = nearest[n] + far - 1 - k;
        const bool exists = back >= nearest[n] && back < end[n];
        words[n * kBatch + k] = exists ? levels[n].words(back) : nullptr;
      }
    }
    await_levels<Algebra, Q, N, kBatch>(words, tag, shift, states);
#pragma unroll
    for (int n = 0; n < N; ++n) {
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        const int near = far - 1 - k;  // a state's place in the share
        if (near >= 0) {
          if (near < share - 1) levels[n].table().template advance_by<Algebra>(1, sums[n]);
          accumulate<Algebra, Q>(sums[n], states[n * kBatch + k]);
        }
      }
    }
  };
  if (share <= 1) {
    read(std::integral_constant<int, 1>{}, 1);
  } else {
    constexpr int kWorkers = stream_shape(sizeof(typename Algebra::Storage), Q).workers;
    constexpr int kBatch = gather_batch(Q * kSlotWords<Word>, kWorkers);
    for (int far = share; far > 0; far -= kBatch) read(std::integral_constant<int, kBatch>{}, far);
  }
#pragma unroll
  for (int n = 0; n < N; ++n) {
    if (nearest[n] < end[n]) {
      levels[n].table().template advance_by<Algebra>(nearest[n] + levels[n].first_row(), sums[n]);
    }
    __syncwarp();
    combine_team<Algebra, Q>(team, sums[n]);
  }
}

/// Turns the units' states of every tile into sums before each unit, and publishes the tile's sum:
/// as a state of its own and, where blocks may add up words in any order, as a part of the group's
/// total. Waits for nobody but the workers.
template <class Algebra, int Q, class Context>
__device__ __forceinline__ void publish_tiles(const Context& context, const ExchangePlace& at) {
  using Word = typename Algebra::Word;
  constexpr int kBuffers = Context::kBuffers;
  constexpr int kUnitBatch = unit_batch(Q * kSlotWords<Word>);
  const auto& shared = context.shared;
  const StreamPlan& plan = context.arguments.plan;
  const Geometry& geometry = plan.job.geometry;
  const int lane_states = geometry.tuple * Q;

  for (unsigned i = 0; i < context.tiles; ++i) {
    barrier_wait(&context.shared.summarised[i % kBuffers], i / kBuffers & 1);
    for (int batch = 0; batch < lane_batches(geometry.tuple); ++batch) {
      const Team team = make_team<Algebra>(geometry.tuple, batch);
      const bool of_tile = !(team.split && team.upper);
      const auto& to_common_place = of_tile ? shared.unit_back : shared.unit_to_end;
      const int share = share_of(geometry.units, team.parts);
      const int first_unit = team.part * share;
      const int end_unit = team.mine ? min(first_unit + share, geometry.units) : 0;
      Word* const unit_states =
          context.unit_states + (i % kBuffers * geometry.units * geometry.tuple + team.lane) * Q;
      Word state[Q];  // of this thread's units
      clear<Algebra, Q>(state);
      for (int unit = first_unit; unit < end_unit; unit += kUnitBatch) {
        Word own[kUnitBatch][Q];  // read before anything is written: loads do not wait for stores
#pragma unroll
        for (int u = 0; u < kUnitBatch; ++u) {
          if (unit + u < end_unit) copy_state<Q>(own[u], unit_states + (unit + u) * lane_states);
        }
#pragma unroll
        for (int u = 0; u < kUnitBatch; ++u) {
          if (unit + u >= end_unit) break;
          to_common_place.template advance_by<Algebra>(unit + u, own[u]);
          if (share > 1) copy_state<Q>(unit_states + (unit + u) * lane_states, state);
          accumulate<Algebra, Q>(state, own[u]);
        }
      }
      __syncwarp();
      scan_team<Algebra, Q>(team, state);
      Word total[Q];
      const int last = (team.split ? threadIdx.x & 16 : 0) + team.lanes * (team.parts - 1) +
                       team.lane % team.lanes;
#pragma unroll
      for (int q = 0; q < Q; ++q) total[q] = __shfl_sync(~0u, state[q], last);
      unsigned long long* const sum = plan.sums + at.sum_slot(i, 0, team.lane);
      if (team.mine && of_tile) {
        write_state<Word, Q>(team, total, at.epoch(i), 32,
                             [&](int w, unsigned long long v) { store_relaxed(sum + w, v); });
      }
      if constexpr (Algebra::kCounted) {
        if (!team.split) {
          shared.tile_table.template advance_by<Algebra>(plan.group_tiles - at.position, total);
        }
        unsigned long long* const group = plan.totals + at.total_slot(i, at.group, team.lane);
        if (team.mine && !(team.split && of_tile)) {
          write_state<Word, Q>(team, total, 1, kCountShift,
                               [&](int w, unsigned long long v) { add_relaxed(group + w, v); });
        }
      } else if (team.mine && team.part == 0) {
        copy_state<Q>(context.tile_sums + i % kBuffers * lane_states + team.lane * Q, total);
      }
#pragma unroll
      for (int q = 0; q < Q; ++q) {
        state[q] = __shfl_up_sync(~0u, state[q], team.lanes);
        if (team.part == 0) state[q] = Algebra::identity();
      }
      if (of_tile) {
        for (int unit = first_unit; unit < end_unit; ++unit) {
          Word own[Q];
          copy_state<Q>(own, state);
          if (share > 1) accumulate<Algebra, Q>(own, unit_states + unit * lane_states);
          copy_state<Q>(unit_states + unit * lane_states, own);
        }
      }
      __syncwarp();
    }
    barrier_arrive(&context.shared.published[i % kBuffers]);
  }
}

/// Gathers what came before the tiles of this block and turns the sums before their units into the
/// states at their start. The kStreamGatherWarps warps share the tiles or, in wide tuples, the
/// lanes.
template <class Algebra, int Q, class Context>
__device__ __forceinline__ void gather_tiles(const Context& context, const ExchangePlace& at,
                                             int warp) {
  using Word = typename Algebra::Word;
  constexpr int kBuffers = Context::kBuffers;
  constexpr int kUnitBatch = unit_batch(Q * kSlotWords<Word>);
  const auto& shared = context.shared;
  const StreamPlan& plan = context.arguments.plan;
  const Geometry& geometry = plan.job.geometry;
  const int lane_states = geometry.tuple * Q;
  const bool share_tiles = lane_batches(geometry.tuple) == 1;
  const Team team = make_team<Algebra>(geometry.tuple, share_tiles ? 0 : warp);
  const int share = share_of(geometry.units, team.members());
  const int first_unit = team.member() * share;
  const int end_unit = team.mine ? min(first_unit + share, geometry.units) : 0;

  for (unsigned i = share_tiles ? warp : 0; i < context.tiles;
       i += share_tiles ? kStreamGatherWarps : 1) {
    // ---- the tiles before this one in the group, and the groups before it, back to this block's
    // previous tile
    using L = Level<Algebra, Context>;
    Word found[2][Q];  // in the group of tiles, and the groups before
    if (team.split) {
      const L level[1] = {{context, at, i, team.lane, !team.upper}};
      Word own[1][Q];
      gather<Algebra, Q>(team, level, own);
#pragma unroll
      for (int q = 0; q < Q; ++q) {
        const Word other = __shfl_xor_sync(~0u, own[0][q], 16);
        found[0][q] = team.upper ? other : own[0][q];
        found[1][q] = team.upper ? own[0][q] : other;
      }
      barrier_wait(&context.shared.published[i % kBuffers], i / kBuffers & 1);
    } else if constexpr (Algebra::kCounted) {
      const L levels[2] = {{context, at, i, team.lane, true}, {context, at, i, team.lane, false}};
      gather<Algebra, Q>(team, levels, found);
      barrier_wait(&context.shared.published[i % kBuffers], i / kBuffers & 1);
    } else {
      const L tiles_level[1] = {{context, at, i, team.lane, true}};
      Word own[1][Q];
      gather<Algebra, Q>(team, tiles_level, own);
      copy_state<Q>(found[0], own[0]);
      barrier_wait(&context.shared.published[i % kBuffers], i / kBuffers & 1);
      if (at.position == plan.group_tiles - 1 && team.mine && team.part == 0) {
        // The total of a group has one author, who does not wait for other groups.
        accumulate<Algebra, Q>(own[0],
                               context.tile_sums + i % kBuffers * lane_states + team.lane * Q);
        shared.tile_table.template advance_by<Algebra>(1, own[0]);
        publish<Word, Q>(plan.totals + at.total_slot(i, at.group, team.lane), 1, own[0], 1);
      }
      __syncwarp();
      const L groups_level[1] = {{context, at, i, team.lane, false}};
      gather<Algebra, Q>(team, groups_level, own);
      copy_state<Q>(found[1], own[0]);
    }
    Word* const state = found[1];

    // ---- the chain between this block's tiles: the state where their groups begin
    if (i > 0) barrier_wait(&context.shared.chained[(i - 1) % kBuffers], (i - 1) / kBuffers & 1);
    Word* const running = context.running_prefix + team.lane * Q;
    Word earlier[Q];
    clear<Algebra, Q>(earlier);
    if (team.mine) copy_state<Q>(earlier, running);
    __syncwarp();
    if constexpr (Q > 1) advance<Algebra, Q>(context.arguments.tables.round, earlier);
    accumulate<Algebra, Q>(state, earlier);
    if (team.mine && team.member() == 0) copy_state<Q>(running, state);
    __syncwarp();
    barrier_arrive(&context.shared.chained[i % kBuffers]);

    // ---- the states at the start of this thread's units
    shared.tile_table.template advance_by<Algebra>(at.position, state);
    accumulate<Algebra, Q>(state, found[0]);
    Word* const unit_states =
        context.unit_states + (i % kBuffers * geometry.units * geometry.tuple + team.lane) * Q;
    for (int unit = first_unit; unit < end_unit; unit += kUnitBatch) {
      Word base[kUnitBatch][Q];
#pragma unroll
      for (int u = 0; u < kUnitBatch; ++u) {
        if (unit + u < end_unit) copy_state<Q>(base[u], unit_states + (unit + u) * lane_states);
      }
#pragma unroll
      for (int u = 0; u < kUnitBatch; ++u) {
        if (unit + u >= end_unit) break;
        accumulate<Algebra, Q>(base[u], state);
        shared.unit_ahead.template advance_by<Algebra>(unit + u, base[u]);
        copy_state<Q>(unit_states + (unit + u) * lane_states, base[u]);
      }
    }
    barrier_arrive(&context.shared.carried[i % kBuffers]);
  }
}

}  // namespace gdelta::scan
