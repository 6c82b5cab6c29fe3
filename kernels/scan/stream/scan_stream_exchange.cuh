// How the blocks of the stream kernel exchange carries: two levels, a thread a word.
//
// Home of a round is where its first tile begins. Everything that blocks exchange is pulled back
// there (P of a negative length, carry_matrix.h), so that states of different tiles are plain
// vectors of tuple * order words to add up. Whoever adds needs no matrix and no other word of the
// lane: a warp gives every word a thread, for a share of the states.
//
// Tiles come in groups of `group_tiles` (12 of 132 blocks). A block publishes its tile's sum and
// adds it to the total of its group. It reads the sums of the tiles before its own in the group and
// the totals of all groups since its previous tile. That is about 2 sqrt(k) states a tile instead of
// SAM's k - 1. Every state carries all orders of a lane: one exchange, whatever the order. The tree
// is fixed, hence the same bits always.
//
// Matrices are left where a state moves: from its unit to the home of the round, from there to its
// unit, and from one home to the next. The only chain between tiles is the block's running prefix.
//
// With segments (algebra/segmented.cuh) a state carries in its tag whether a head lies inside, and
// parts are combined in order: a part holds neighbouring states, and those before the last head
// count for nothing.
#pragma once

#include "kernels/device/host_device.h"
#include "kernels/device/ptx.cuh"
#include "kernels/scan/algebra/segmented.cuh"
#include "kernels/scan/tile/scan_exchange.cuh"
#include "kernels/scan/tile/scan_run.cuh"

namespace gdelta::scan {

template <class Algebra, int Q>
constexpr int kGatherWarps = stream_gather_warps(kHasSegments<Algebra>,
                                                 sizeof(typename Algebra::Storage), Q);

/// Where a block stands in the two levels, and where states lie in scratch.
struct ExchangePlace {
  int blocks;
  int block;
  int groups;    ///< a round has
  int group;     ///< the block's
  int position;  ///< the block's, in its group
  /// 64-bit words from a block's state to the next: whole cache lines, because blocks that write
  /// and poll one line slow each other down.
  int spacing;

  __device__ static std::uint32_t epoch(unsigned round) { return round / kRingRounds + 1; }
  /// The sum of the tile `back` before this block's own of `round`.
  __device__ std::uint32_t sum_slot(unsigned round, int back) const {
    return (round % kRingRounds * blocks + block - back) * static_cast<unsigned>(spacing);
  }
  /// The total of the group `back` before this block's own; those of the rounds before continue
  /// those of `round`. Totals are not reused.
  __device__ std::size_t total_slot(unsigned round, int back) const {
    return (static_cast<std::size_t>(round) * groups + group - back) *
           static_cast<unsigned>(spacing);
  }
};

/// What a thread of an exchange warp works on: one word of a lane's state, in its share of the
/// units, or of the states to read. Neighbouring threads have neighbouring words.
struct Team {
  int width;      ///< threads of a part: a word each of a batch of lanes
  int parts_log;  ///< parts of the warp: a power of two
  int part;       ///< the one this thread takes
  int lane;
  int word;        ///< the one of the lane's state
  bool mine;       ///< the thread has a word
  unsigned peers;  ///< threads with the same word in all parts; for segments

  __device__ int parts() const { return 1 << parts_log; }
  /// Items that a part gets of `count`, at most.
  __device__ int share_of(int count) const { return (count + parts() - 1) >> parts_log; }
  /// The thread with the same word in another part.
  __device__ int peer(int other) const {
    return static_cast<int>(threadIdx.x & 31) + (part < parts() ? (other - part) * width : 0);
  }
};

/// Whole lanes that a warp has threads for.
template <int Q>
constexpr int kBatchLanes = 32 / Q;

template <int Q>
GDELTA_HD constexpr int lane_batches(int tuple) {
  return (tuple + kBatchLanes<Q> - 1) / kBatchLanes<Q>;
}

/// The gather warps take tiles in turn if a warp has threads for all lanes; else each has lanes
/// of its own in all tiles.
template <int Q>
GDELTA_HD constexpr bool shares_tiles(int tuple) {
  return lane_batches<Q>(tuple) == 1;
}

/// For the first batch of lanes.
template <int Q>
__device__ __forceinline__ Team make_team(int tuple) {
  Team team;
  const int id = threadIdx.x & 31;
  team.width = min(tuple, kBatchLanes<Q>) * Q;
  team.parts_log = 0;
  while (2 * team.parts() * team.width <= 32) ++team.parts_log;
  team.part = id / team.width;
  const int place = id - team.part * team.width;
  team.lane = place / Q;
  team.word = place % Q;
  team.mine = team.part < team.parts() && team.lane < tuple;
  team.peers = team.part < team.parts()
                   ? places_of_lane(id, team.width) & places(0, team.parts() * team.width)
                   : 1u << id;
  return team;
}

/// The same for any batch. Everything that follows from it is computed anew for every tile: there
/// are more such values than registers.
template <int Q>
__device__ __forceinline__ Team team_of_batch(const Team& first, int batch, int tuple) {
  Team team;
  team.width = device::forget(first.width);
  team.parts_log = device::forget(first.parts_log);
  team.part = device::forget(first.part);
  const int first_lane = batch * kBatchLanes<Q>;
  team.lane = device::forget(first.lane) + first_lane;
  team.word = device::forget(first.word);
  team.peers = first.peers;
  team.mine = team.part < team.parts() && team.lane < tuple;
  // Who has no word looks at one of this warp's and writes nowhere.
  team.lane = team.mine ? team.lane : first_lane;
  return team;
}

/// Calls run(batch, done) until `share` items are done, so many at once that their loads overlap:
/// batch is an integral constant.
template <int Most, class Run>
__device__ __forceinline__ void in_batches(int share, Run run) {
  if (share <= 1) {
    run(std::integral_constant<int, 1>{}, 0);
  } else if (share == 2) {
    run(std::integral_constant<int, 2>{}, 0);
  } else {
    for (int done = 0; done < share; done += Most) run(std::integral_constant<int, Most>{}, done);
  }
}

/// Inclusive sum over the parts up to this one, from the last that has a head on.
template <class Algebra, class Word = typename Algebra::Word>
__device__ __forceinline__ Word scan_parts(const Team& team, Word sum, bool head) {
  int back = team.part;  // threads are `width` apart
  if constexpr (kHasSegments<Algebra>) {
    const int id = static_cast<int>(threadIdx.x & 31);
    const unsigned heads = __ballot_sync(~0u, head) & team.peers & up_to(id);
    if (heads != 0) back = (id - (31 - __clz(static_cast<int>(heads)))) / team.width;
  }
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    if (d < team.parts()) {
      const Word earlier = __shfl_sync(~0u, sum, team.peer(max(team.part - d, 0)));
      if (back >= d) sum = Algebra::add(earlier, sum);
    }
  }
  return sum;
}

/// Every part gets the sums over all parts, of N independent words, by a fixed tree.
template <class Algebra, int N, class Word = typename Algebra::Word>
__device__ __forceinline__ void combine_parts(const Team& team, Word (&sums)[N], bool (&heads)[N]) {
  if constexpr (kHasSegments<Algebra>) {
    // Higher parts are farther away: those behind the first with a head count for nothing.
    const int id = static_cast<int>(threadIdx.x & 31);
#pragma unroll
    for (int n = 0; n < N; ++n) {
      const unsigned with_head = __ballot_sync(~0u, heads[n]) & team.peers;
      const unsigned nearest = with_head & (0u - with_head);
      if (nearest != 0 && 1u << id > nearest) sums[n] = Algebra::identity();
      heads[n] = with_head != 0;
    }
  }
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    if (d < team.parts()) {
      const int peer = team.peer(team.part ^ d);
#pragma unroll
      for (int n = 0; n < N; ++n) sums[n] = Algebra::add(sums[n], __shfl_sync(~0u, sums[n], peer));
    }
  }
}

/// First columns of matrices, each behind as many zeros: a thread for every word of a state reads
/// its row of the matrix without a branch.
template <class Word, int Q, int Rows>
struct ColumnTable {
  Word rows[Q == 1 ? 1 : Rows][Q == 1 ? 1 : 2 * Q + 1];

  __device__ void set(int row, const Word* column) {
#pragma unroll
    for (int m = 0; m < Q; ++m) {
      rows[row][m] = 0;
      rows[row][Q + m] = column[m];
    }
  }
  /// Word `word` of P state.
  template <class Algebra>
  __device__ Word advanced_word(int row, int word, const Word* state) const {
    Word sum = 0;
#pragma unroll
    for (int m = 0; m < Q; ++m)
      sum = Algebra::add(sum, Algebra::mul(rows[row][Q + word - m], state[m]));
    return sum;
  }
};

/// Words that several blocks add up: the number of blocks above, the sum of their 32-bit parts
/// below.
constexpr int kCountShift = 48;

/// The 64-bit words of scratch that carry one word of a state: 32 bits each below a tag.
template <int Shift, class Word, class Write>
__device__ __forceinline__ void write_word(Word word, unsigned long long tag, Write write) {
  std::uint32_t part[kSlotWords<Word>];
  memcpy(part, &word, sizeof(Word));
#pragma unroll
  for (int h = 0; h < kSlotWords<Word>; ++h) write(h, tag << Shift | part[h]);
}

/// The word that they carry.
template <int Shift, class Word>
__device__ __forceinline__ Word read_word(const unsigned long long* v) {
  if constexpr (std::is_integral_v<Word>) {  // the low part of a total may exceed 32 bits
    Word word = static_cast<Word>(v[0] & ((1ull << Shift) - 1));
    if constexpr (sizeof(Word) == 8) word += static_cast<Word>(v[1]) << 32;
    return word;
  } else {
    return word_of_halves<Word>(v);
  }
}

/// In the tag of a state of segments: a head lies inside.
constexpr unsigned long long kHeadBit = 1ull << 63;
GDELTA_HD constexpr std::uint32_t tag_with_head(std::uint32_t tag, bool head) {
  return head ? tag | 0x80000000u : tag;
}

/// States of one level that a tile has to read: `count` of them, `spacing` words apart, the nearest
/// one first; they are there once their bits from Shift on equal `tag`.
template <int Shift>
struct Level {
  const unsigned long long* nearest;  ///< this thread's word in it
  int count;
  std::uint32_t tag;

  template <bool kSegments>
  __device__ bool is_there(const unsigned long long* words, int count_words) const {
    constexpr unsigned long long kMask = kSegments ? ~kHeadBit : ~0ull;
    bool there = true;
    for (int w = 0; w < count_words; ++w) there &= (words[w] & kMask) >> Shift == tag;
    return there;
  }
};

/// Waits for the states of two levels, reading both at once, and hands every word that this thread
/// has a share in to a(place, head, word) and b(place, head, word); places count from the nearest.
template <class Algebra, int Q, int ShiftA, int ShiftB, class A, class B>
__device__ __forceinline__ void await_levels(const Team& team, int spacing,
                                             const Level<ShiftA>& level_a,
                                             const Level<ShiftB>& level_b, A a, B b) {
  using Word = typename Algebra::Word;
  constexpr int kWords = kSlotWords<Word>;
  constexpr bool kSegments = kHasSegments<Algebra>;
  const int share = team.share_of(max(level_a.count, level_b.count));
  in_batches<gather_batch(sizeof(typename Algebra::Storage), Q)>(share, [&](auto batch, int done) {
    constexpr int kBatch = decltype(batch)::value;
    unsigned long long v[2 * kBatch][kWords];
    // The farthest first: they are there already, and the nearest arrive in the meantime.
    const auto place = [&](int k) {
      const int of_part = share - 1 - done - k;
      return kSegments ? team.part * share + of_part : of_part * team.parts() + team.part;
    };
    unsigned wanted = 0;
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      const bool exists = team.mine && done + k < share;
      if (exists && place(k) < level_a.count) wanted |= 1u << k;
      if (exists && place(k) < level_b.count) wanted |= 1u << (kBatch + k);
    }
    for (unsigned missing = wanted; missing != 0;) {  // only what is not there yet is read again
      const std::size_t step = static_cast<unsigned>(device::forget(spacing));
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        if (missing >> k & 1) load_words<kWords>(level_a.nearest - place(k) * step, 1, v[k]);
        if (missing >> (kBatch + k) & 1)
          load_words<kWords>(level_b.nearest - place(k) * step, 1, v[kBatch + k]);
      }
      unsigned there = 0;
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        if (level_a.template is_there<kSegments>(v[k], kWords)) there |= 1u << k;
        if (level_b.template is_there<kSegments>(v[kBatch + k], kWords))
          there |= 1u << (kBatch + k);
      }
      missing &= ~there;
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      const auto has_head = [&](int n) { return kSegments && (v[n][0] & kHeadBit) != 0; };
      if (wanted >> k & 1) a(place(k), has_head(k), read_word<ShiftA, Word>(v[k]));
      if (wanted >> (kBatch + k) & 1)
        b(place(k), has_head(kBatch + k), read_word<ShiftB, Word>(v[kBatch + k]));
    }
  });
  __syncwarp();
}

/// A thread's share of the units of a tile.
template <class Word>
struct UnitShare {
  Word* states;  ///< word 0 of the lane in the first unit
  int stride;    ///< how far units lie apart
  int first;
  int count;
  int share;  ///< the longest of all parts
};

template <int Q, class Context, class Word = typename Context::Word>
__device__ __forceinline__ UnitShare<Word> unit_share(const Context& context, const Team& team,
                                                      unsigned i) {
  const int all = context.arguments.plan.job.geometry.units;
  const int tuple = device::forget(context.arguments.plan.job.geometry.tuple);
  UnitShare<Word> units;
  units.share = team.share_of(all);
  units.stride = tuple * Q;
  units.first = team.part * units.share;
  units.count = team.mine ? min(units.share, all - units.first) : 0;
  units.first = units.count > 0 ? units.first : 0;
  const int buffer = static_cast<int>(i % Context::kBuffers);
  units.states = context.unit_states + (buffer * all + units.first) * units.stride + team.lane * Q;
  return units;
}

/// Multiplies the states of the units by a matrix each, in place.
template <class Algebra, int Q, class Table, class Word = typename Algebra::Word>
__device__ __forceinline__ void advance_units(const Team& team, const UnitShare<Word>& units,
                                              const Table& table) {
  in_batches<4>(units.share, [&](auto batch, int done) {
    constexpr int kBatch = decltype(batch)::value;
    Word own[kBatch];
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      const int unit = max(min(done + u, units.count - 1), 0);
      own[u] = table.template advanced_word<Algebra>(units.first + unit, team.word,
                                                     units.states + unit * units.stride);
    }
    __syncwarp();  // other threads have read what is overwritten
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      if (done + u < units.count) units.states[(done + u) * units.stride + team.word] = own[u];
    }
    __syncwarp();
  });
}

/// Turns the units' states of every tile into sums before each unit, at home, and publishes the
/// tile's sum: as a state of its own and, if blocks may add up words in any order, as a part of
/// the group's total. Waits for nobody but the workers.
template <class Algebra, int Q, class Context>
__device__ __forceinline__ void publish_tiles(const Context& context, const ExchangePlace& at) {
  using Word = typename Algebra::Word;
  constexpr int kBuffers = Context::kBuffers;
  const StreamPlan& plan = context.arguments.plan;
  const int tuple = plan.job.geometry.tuple;
  const Team first_team = make_team<Q>(tuple);

  for (unsigned i = 0; i < context.tiles; ++i) {
    device::barrier_wait(&context.shared.summarised[i % kBuffers], i / kBuffers & 1);
    const unsigned heads = context.heads_of_units(i);
    for (int batch = 0; batch < lane_batches<Q>(tuple); ++batch) {
      const Team team = team_of_batch<Q>(first_team, batch, tuple);
      const UnitShare<Word> units = unit_share<Q>(context, team, i);
      if constexpr (Q > 1) advance_units<Algebra, Q>(team, units, context.shared.unit_home);
      Word sum = Algebra::identity();  // of this thread's units
      const unsigned own_heads = (heads >> units.first) & places(0, units.count);
      const auto has_head = [&](int unit) {
        return kHasSegments<Algebra> && (own_heads >> unit & 1) != 0;
      };
      const auto visit = [&](bool write) {
        in_batches<4>(units.share, [&](auto batch_units, int done) {
          constexpr int kBatch = decltype(batch_units)::value;
          Word own[kBatch];
#pragma unroll
          for (int u = 0; u < kBatch; ++u) {
            own[u] = Algebra::identity();
            if (done + u < units.count)
              own[u] = units.states[(done + u) * units.stride + team.word];
          }
#pragma unroll
          for (int u = 0; u < kBatch; ++u) {
            if (write && done + u < units.count)
              units.states[(done + u) * units.stride + team.word] = sum;
            sum = has_head(done + u) ? own[u] : Algebra::add(sum, own[u]);
          }
        });
      };
      visit(false);
      __syncwarp();
      sum = scan_parts<Algebra>(team, sum, own_heads != 0);
      const Word total = __shfl_sync(~0u, sum, team.peer(team.parts() - 1));
      const int offset = (team.lane * Q + team.word) * kSlotWords<Word>;
      if (team.mine && team.part == team.parts() - 1) {
        unsigned long long* const slot = plan.sums + at.sum_slot(i, 0) + offset;
        write_word<32>(total, tag_with_head(at.epoch(i), heads != 0),
                       [&](int h, unsigned long long v) { device::store_relaxed(slot + h, v); });
      }
      if (team.mine && team.part == 0) {
        if constexpr (Algebra::kCounted) {
          unsigned long long* const slot = plan.totals + at.total_slot(i, 0) + offset;
          write_word<kCountShift>(
              total, 1, [&](int h, unsigned long long v) { device::add_relaxed(slot + h, v); });
        } else {
          context.tile_sums[(i % kBuffers * tuple + team.lane) * Q + team.word] = total;
        }
      }
      const Word before = __shfl_sync(~0u, sum, team.peer(max(team.part - 1, 0)));
      sum = team.part == 0 ? Algebra::identity() : before;
      visit(true);
    }
    device::barrier_arrive(&context.shared.published[i % kBuffers]);
  }
}

/// Gathers what came before the tiles of this block and turns the sums before their units into the
/// states at their start.
template <class Algebra, int Q, class Context>
__device__ __forceinline__ void gather_tiles(const Context& context, const ExchangePlace& at,
                                             int warp) {
  using Word = typename Algebra::Word;
  constexpr int kBuffers = Context::kBuffers;
  const StreamPlan& plan = context.arguments.plan;
  const int tuple = plan.job.geometry.tuple;
  const bool share_tiles = shares_tiles<Q>(tuple);
  const Team first_team = make_team<Q>(tuple);

  const auto gather_lanes = [&](unsigned i, const Team& team) {
    // ---- the tiles before this one in its group, and the groups since the block's previous tile
    enum { kOld, kFresh, kNear };  // totals of the round before and of this round; tiles
    Word found[3] = {Algebra::identity(), Algebra::identity(), Algebra::identity()};
    bool heads[3] = {false, false, false};
    const auto add_to = [&](int kind, bool head, Word word) {
      found[kind] = head ? word : Algebra::add(found[kind], word);
      heads[kind] |= head;
    };
    const int offset = (team.lane * Q + team.word) * kSlotWords<Word>;
    const Level<32> tiles{plan.sums + at.sum_slot(i, 1) + offset, at.position, at.epoch(i)};
    const auto of_tile = [&](int, bool head, Word word) { add_to(kNear, head, word); };
    constexpr int kShift = Algebra::kCounted ? kCountShift : 32;
    const Level<kShift> groups{
        plan.totals + at.total_slot(i, 1) + offset, i == 0 ? at.group : at.groups,
        Algebra::kCounted ? static_cast<std::uint32_t>(plan.group_tiles) : 1u};
    const auto of_group = [&](int back, bool head, Word word) {
      if (back < at.group) add_to(kFresh, head, word);
      if (back >= at.group) add_to(kOld, head, word);
    };
    if constexpr (Algebra::kCounted) {
      await_levels<Algebra, Q>(team, at.spacing, groups, tiles, of_group, of_tile);
      combine_parts<Algebra>(team, found, heads);
      device::barrier_wait(&context.shared.published[i % kBuffers], i / kBuffers & 1);
    } else if (kHasSegments<Algebra> && plan.group_tiles == 1) {
      // One level: all tiles since the block's previous one, without a hop to sum them up in order.
      const Level<32> fresh{plan.sums + at.sum_slot(i, 1) + offset, at.block, at.epoch(i)};
      const Level<32> old{plan.sums + at.sum_slot(i - 1, at.block - at.blocks + 1) + offset,
                          i == 0 ? 0 : at.blocks - at.block, at.epoch(i - 1)};
      await_levels<Algebra, Q>(
          team, at.spacing, fresh, old,
          [&](int, bool head, Word word) { add_to(kFresh, head, word); },
          [&](int, bool head, Word word) { add_to(kOld, head, word); });
      combine_parts<Algebra>(team, found, heads);
      device::barrier_wait(&context.shared.published[i % kBuffers], i / kBuffers & 1);
    } else {
      const Level<32> none{nullptr, 0, 0};
      await_levels<Algebra, Q>(team, at.spacing, none, tiles, of_group, of_tile);
      combine_parts<Algebra>(team, found, heads);
      const Word near = found[kNear];
      const bool near_head = heads[kNear];
      device::barrier_wait(&context.shared.published[i % kBuffers], i / kBuffers & 1);
      const bool own_head = context.heads_of_units(i) != 0;
      if (at.position == plan.group_tiles - 1 && team.mine && team.part == 0) {
        // The total of a group has one author, who does not wait for other groups.
        const Word own = context.tile_sums[(i % kBuffers * tuple + team.lane) * Q + team.word];
        unsigned long long* const slot = plan.totals + at.total_slot(i, 0) + offset;
        write_word<32>(fold<Algebra>(near, own_head, own), tag_with_head(1, near_head || own_head),
                       [&](int h, unsigned long long v) { device::store_relaxed(slot + h, v); });
      }
      __syncwarp();
      await_levels<Algebra, Q>(team, at.spacing, groups, none, of_group, of_tile);
      combine_parts<Algebra>(team, found, heads);
      found[kNear] = near;
      heads[kNear] = near_head;
    }

    // ---- the chain between this block's tiles: the state where their groups begin, at home
    if (share_tiles && i > 0)
      device::barrier_wait(&context.shared.chained[(i - 1) % kBuffers], (i - 1) / kBuffers & 1);
    Word* const running = context.running_prefix + team.lane * Q;
    Word state = found[kFresh];
    if (i > 0) {
      Word earlier = fold<Algebra>(running[team.word], heads[kOld], found[kOld]);
      if constexpr (Q > 1) {
        __syncwarp();
        if (team.mine && team.part == 0) running[team.word] = earlier;
        __syncwarp();
        earlier = context.shared.round.template advanced_word<Algebra>(0, team.word, running);
      }
      state = fold<Algebra>(earlier, heads[kFresh], state);
    }
    __syncwarp();
    if (team.mine && team.part == 0) running[team.word] = state;
    __syncwarp();
    if (share_tiles) device::barrier_arrive(&context.shared.chained[i % kBuffers]);

    // ---- the states at the start of the units
    state = fold<Algebra>(state, heads[kNear], found[kNear]);
    const UnitShare<Word> units = unit_share<Q>(context, team, i);
    const unsigned unit_heads = context.heads_of_units(i);
    in_batches<4>(units.share, [&](auto batch, int done) {
      constexpr int kBatch = decltype(batch)::value;
      Word own[kBatch];
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {
        if (done + u < units.count) own[u] = units.states[(done + u) * units.stride + team.word];
      }
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {
        if (done + u < units.count)
          units.states[(done + u) * units.stride + team.word] =
              fold<Algebra>(state, (unit_heads & places(0, units.first + done + u)) != 0, own[u]);
      }
    });
    if constexpr (Q > 1) {
      __syncwarp();
      advance_units<Algebra, Q>(team, units, context.shared.unit_away);
    }
  };

  if (share_tiles) {
    for (unsigned i = warp; i < context.tiles; i += kGatherWarps<Algebra, Q>) {
      gather_lanes(i, team_of_batch<Q>(first_team, 0, tuple));
      device::barrier_arrive(&context.shared.carried[i % kBuffers]);
    }
  } else {
    for (unsigned i = 0; i < context.tiles; ++i) {
      for (int batch = warp; batch < lane_batches<Q>(tuple); batch += kGatherWarps<Algebra, Q>)
        gather_lanes(i, team_of_batch<Q>(first_team, batch, tuple));
      device::barrier_arrive(&context.shared.carried[i % kBuffers]);
    }
  }
}

}  // namespace gdelta::scan
