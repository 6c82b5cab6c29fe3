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
  /// 64-bit words from a block's state to the next: whole cache lines, because blocks that write
  /// and poll one line slow each other down.
  unsigned spacing;

  __device__ static std::uint32_t epoch(unsigned round) { return round / kRingRounds + 1; }
  /// The sum of the tile `back` before this block's own of `round`.
  __device__ std::uint32_t sum_slot(unsigned round, int back) const {
    return (round % kRingRounds * blocks + block - back) * spacing;
  }
  /// The total of the group `back` before this block's own; those of the rounds before continue
  /// those of `round`. Totals are not reused.
  __device__ std::size_t total_slot(unsigned round, int back) const {
    return (static_cast<std::size_t>(round) * groups + group - back) * spacing;
  }
};

/// What a thread of an exchange warp works on: one word of a lane's state, in its share of the
/// units, or of the states to read. Neighbouring threads have neighbouring words.
struct Team {
  int width;  ///< threads of a part: a word each of a batch of lanes
  int parts;  ///< a power of two
  int part;   ///< of this thread
  int lane;
  int word;   ///< of the lane's state
  bool mine;  ///< the thread has a word

  /// The thread with the same word in another part.
  __device__ int peer(int other) const {
    return (threadIdx.x & 31) + (mine_part() ? (other - part) * width : 0);
  }
  __device__ bool mine_part() const { return part < parts; }
};

/// Whole lanes that a warp has threads for.
template <int Q>
constexpr int kBatchLanes = 32 / Q;

template <int Q>
constexpr int lane_batches(int tuple) {
  return (tuple + kBatchLanes<Q> - 1) / kBatchLanes<Q>;
}

/// The gather warps take tiles in turn where a warp has threads for all lanes; else each has lanes
/// of its own in all tiles.
template <int Q>
constexpr bool shares_tiles(int tuple) {
  return lane_batches<Q>(tuple) == 1;
}

template <int Q>
__device__ __forceinline__ Team make_team(int tuple, int batch) {
  Team team;
  const int id = threadIdx.x & 31;
  const int lanes = min(tuple, kBatchLanes<Q>);
  team.width = lanes * Q;
  team.parts = 1;
  while (2 * team.parts * team.width <= 32) team.parts *= 2;
  team.part = id / team.width;
  const int place = id - team.part * team.width;
  team.lane = batch * lanes + place / Q;
  team.word = place % Q;
  team.mine = team.part < team.parts && team.lane < tuple;
  return team;
}

/// Items that one of `parts` gets of `count`, at most.
__device__ __forceinline__ int share_of(int count, int parts) {
  return (count + parts - 1) / parts;
}

/// Inclusive sum over the parts up to this one.
template <class Algebra, class Word = typename Algebra::Word>
__device__ __forceinline__ Word scan_parts(const Team& team, Word sum) {
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    if (d < team.parts) {
      const Word earlier =
          __shfl_sync(~0u, sum, team.peer(team.part >= d ? team.part - d : team.part));
      if (team.part >= d) sum = Algebra::add(earlier, sum);
    }
  }
  return sum;
}

/// Every part gets the sums over all parts, of N independent words, by a fixed tree.
template <class Algebra, int N, class Word = typename Algebra::Word>
__device__ __forceinline__ void combine_parts(const Team& team, Word (&sums)[N]) {
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    if (d < team.parts) {
      const int peer = team.peer(team.part ^ d);
#pragma unroll
      for (int n = 0; n < N; ++n) sums[n] = Algebra::add(sums[n], __shfl_sync(~0u, sums[n], peer));
    }
  }
}

/// Word `word` of P state, where `column` is the first column of P.
template <class Algebra, int Q, class Word = typename Algebra::Word>
__device__ __forceinline__ Word advanced_word(const Word* column, int word, const Word* state) {
  Word sum = state[word];
  if constexpr (Q > 1) {
#pragma unroll
    for (int m = 1; m < Q; ++m) {
      const Word c = m <= word ? column[m] : Word(0);
      sum = Algebra::add(sum, Algebra::mul(c, state[m <= word ? word - m : 0]));
    }
  }
  return sum;
}

/// Words that several blocks add up: the number of blocks above, the sum of their 32-bit parts
/// below.
constexpr int kCountShift = 48;

/// The 64-bit words of scratch that carry one word of a state: 32 bits each below a tag.
template <class Word, class Write>
__device__ __forceinline__ void write_word(Word word, unsigned long long tag, int shift,
                                           Write write) {
  std::uint32_t part[kSlotWords<Word>];
  memcpy(part, &word, sizeof(Word));
#pragma unroll
  for (int h = 0; h < kSlotWords<Word>; ++h) write(h, tag << shift | part[h]);
}

/// The word that they carry.
template <class Word>
__device__ __forceinline__ Word read_word(const unsigned long long* v, int shift) {
  if constexpr (std::is_integral_v<Word>) {  // the low part of a total may exceed 32 bits
    const unsigned long long below = (1ull << shift) - 1;
    Word word = static_cast<Word>(v[0] & below);
    if constexpr (sizeof(Word) == 8) word += static_cast<Word>(v[1]) << 32;
    return word;
  } else {
    std::uint32_t part[kSlotWords<Word>];
#pragma unroll
    for (int h = 0; h < kSlotWords<Word>; ++h) part[h] = static_cast<std::uint32_t>(v[h]);
    Word word;
    memcpy(&word, part, sizeof(Word));
    return word;
  }
}

/// What a tile has to read, in the order in which it comes: totals of the groups since the block's
/// previous tile, farthest first, then sums of the tiles before it in its group.
template <class Algebra>
struct Predecessors {
  const StreamPlan& plan;
  const ExchangePlace& at;
  unsigned round;
  int offset;  ///< 64-bit words to this thread's own in a state

  __device__ int totals() const { return round == 0 ? at.group : at.groups; }
  __device__ int count() const { return totals() + at.position; }
  __device__ bool is_total(int index) const { return index < totals(); }
  /// A total of the round before.
  __device__ bool is_old(int index) const { return index < totals() - at.group; }
  __device__ int shift(int index) const {
    return Algebra::kCounted && is_total(index) ? kCountShift : 32;
  }
  __device__ std::uint32_t tag(int index) const {
    if (!is_total(index)) return at.epoch(round);
    return Algebra::kCounted ? plan.group_tiles : 1;
  }
  __device__ const unsigned long long* words(int index) const {
    const unsigned long long* const slot =
        is_total(index) ? plan.totals + at.total_slot(round, totals() - index)
                        : plan.sums + at.sum_slot(round, index - totals() + 1);
    return slot + offset;
  }
};

/// Sums of what a tile has read.
enum Found { kOld, kFresh, kNear, kFounds };  ///< totals of the round before and of its own; tiles

/// Waits for predecessors first ... end - 1 and adds them up; every part gets the sums.
template <class Algebra, class Word = typename Algebra::Word>
__device__ __forceinline__ void gather(const Team& team, const Predecessors<Algebra>& from,
                                       int first, int end, Word (&found)[kFounds]) {
#pragma unroll
  for (int n = 0; n < kFounds; ++n) found[n] = Algebra::identity();
  const int share = share_of(end - first, team.parts);
  const auto read = [&](auto batch, int done) {
    constexpr int kBatch = decltype(batch)::value;
    const unsigned long long* words[kBatch];
    unsigned long long v[kBatch][kSlotWords<Word>];
    const auto index_of = [&](int b) { return first + (done + b) * team.parts + team.part; };
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      const bool exists = team.mine && index_of(b) < end;
      words[b] = exists ? from.words(index_of(b)) : nullptr;
    }
    await_words(
        words, 1,
        [&](int b, unsigned long long word) {
          return word >> from.shift(index_of(b)) == from.tag(index_of(b));
        },
        v);
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      if (words[b] == nullptr) continue;
      const int index = index_of(b);
      const Word word = read_word<Word>(v[b], from.shift(index));
      const int kind = from.is_old(index) ? kOld : from.is_total(index) ? kFresh : kNear;
#pragma unroll
      for (int n = 0; n < kFounds; ++n) {
        if (n == kind) found[n] = Algebra::add(found[n], word);
      }
    }
  };
  if (share <= 1) {
    read(std::integral_constant<int, 1>{}, 0);
  } else {
    constexpr int kBatch = 6;
    for (int done = 0; done < share; done += kBatch)
      read(std::integral_constant<int, kBatch>{}, done);
  }
  __syncwarp();
  combine_parts<Algebra>(team, found);
}

/// Units whose words a thread holds at once.
constexpr int kUnitBatch = 4;

/// Turns the units' states of every tile into sums before each unit, at home, and publishes the
/// tile's sum: as a state of its own and, where blocks may add up words in any order, as a part of
/// the group's total. Waits for nobody but the workers.
template <class Algebra, int Q, class Context>
__device__ __forceinline__ void publish_tiles(const Context& context, const ExchangePlace& at) {
  using Word = typename Algebra::Word;
  constexpr int kBuffers = Context::kBuffers;
  const StreamPlan& plan = context.arguments.plan;
  const Geometry& geometry = plan.job.geometry;
  const int lane_states = geometry.tuple * Q;

  for (unsigned i = 0; i < context.tiles; ++i) {
    barrier_wait(&context.shared.summarised[i % kBuffers], i / kBuffers & 1);
    for (int batch = 0; batch < lane_batches<Q>(geometry.tuple); ++batch) {
      const Team team = make_team<Q>(geometry.tuple, batch);
      const int share = share_of(geometry.units, team.parts);
      const int first_unit = team.part * share;
      const int units = team.mine ? min(share, geometry.units - first_unit) : 0;
      Word* const states = context.unit_states +
                           (i % kBuffers * geometry.units + first_unit) * lane_states +
                           team.lane * Q;
      Word sum = Algebra::identity();  // of this thread's units
      for (int done = 0; done < share; done += kUnitBatch) {
        Word own[kUnitBatch];
#pragma unroll
        for (int u = 0; u < kUnitBatch; ++u) {
          const int unit = done + u;
          own[u] = Algebra::identity();
          if (unit < units) {
            own[u] = advanced_word<Algebra, Q>(context.shared.unit_home.row(first_unit + unit),
                                               team.word, states + unit * lane_states);
          }
        }
        if constexpr (Q > 1) __syncwarp();  // other threads have read what is overwritten
#pragma unroll
        for (int u = 0; u < kUnitBatch; ++u) {
          if (share > 1 && done + u < units) states[(done + u) * lane_states + team.word] = sum;
          sum = Algebra::add(sum, own[u]);
        }
      }
      __syncwarp();
      sum = scan_parts<Algebra>(team, sum);
      const Word total = __shfl_sync(~0u, sum, team.peer(team.parts - 1));
      const int offset = (team.lane * Q + team.word) * kSlotWords<Word>;
      if (team.mine && team.part == team.parts - 1) {
        unsigned long long* const slot = plan.sums + at.sum_slot(i, 0) + offset;
        write_word(total, at.epoch(i), 32,
                   [&](int h, unsigned long long v) { store_relaxed(slot + h, v); });
      }
      if (team.mine && team.part == 0) {
        if constexpr (Algebra::kCounted) {
          unsigned long long* const slot = plan.totals + at.total_slot(i, 0) + offset;
          write_word(total, 1, kCountShift,
                     [&](int h, unsigned long long v) { add_relaxed(slot + h, v); });
        } else {
          context.tile_sums[i % kBuffers * lane_states + team.lane * Q + team.word] = total;
        }
      }
      Word before = __shfl_sync(~0u, sum, team.peer(max(team.part - 1, 0)));
      if (team.part == 0) before = Algebra::identity();
      for (int unit = 0; unit < units; ++unit) {
        Word& state = states[unit * lane_states + team.word];
        state = share > 1 ? Algebra::add(before, state) : before;
      }
    }
    barrier_arrive(&context.shared.published[i % kBuffers]);
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
  const Geometry& geometry = plan.job.geometry;
  const int lane_states = geometry.tuple * Q;
  const bool share_tiles = shares_tiles<Q>(geometry.tuple);

  const auto gather_lanes = [&](unsigned i, int batch) {
    const Team team = make_team<Q>(geometry.tuple, batch);
    const int offset = (team.lane * Q + team.word) * kSlotWords<Word>;
    const Predecessors<Algebra> from{plan, at, i, offset};
    Word found[kFounds];
    if constexpr (Algebra::kCounted) {
      gather<Algebra>(team, from, 0, from.count(), found);
      barrier_wait(&context.shared.published[i % kBuffers], i / kBuffers & 1);
    } else {
      gather<Algebra>(team, from, from.totals(), from.count(), found);
      const Word near = found[kNear];
      barrier_wait(&context.shared.published[i % kBuffers], i / kBuffers & 1);
      if (at.position == plan.group_tiles - 1 && team.mine && team.part == 0) {
        // The total of a group has one author, who does not wait for other groups.
        const Word total = Algebra::add(
            near, context.tile_sums[i % kBuffers * lane_states + team.lane * Q + team.word]);
        unsigned long long* const slot = plan.totals + at.total_slot(i, 0) + offset;
        write_word(total, 1, 32, [&](int h, unsigned long long v) { store_relaxed(slot + h, v); });
      }
      __syncwarp();
      gather<Algebra>(team, from, 0, from.totals(), found);
      found[kNear] = near;
    }

    // ---- the chain between this block's tiles: the state where their groups begin, at home
    if (share_tiles && i > 0)
      barrier_wait(&context.shared.chained[(i - 1) % kBuffers], (i - 1) / kBuffers & 1);
    Word* const running = context.running_prefix + team.lane * Q;
    Word state = found[kFresh];
    if (i > 0) {
      Word earlier = Algebra::identity();
      if (team.mine) earlier = Algebra::add(running[team.word], found[kOld]);
      if constexpr (Q > 1) {
        __syncwarp();
        if (team.mine && team.part == 0) running[team.word] = earlier;
        __syncwarp();
        if (team.mine)
          earlier = advanced_word<Algebra, Q>(context.shared.round.row(0), team.word, running);
      }
      state = Algebra::add(earlier, state);
    }
    __syncwarp();
    if (team.mine && team.part == 0) running[team.word] = state;
    __syncwarp();
    if (share_tiles) barrier_arrive(&context.shared.chained[i % kBuffers]);

    // ---- the states at the start of the units
    state = Algebra::add(state, found[kNear]);
    const int share = share_of(geometry.units, team.parts);
    const int first_unit = team.part * share;
    const int units = team.mine ? min(share, geometry.units - first_unit) : 0;
    Word* const states = context.unit_states +
                         (i % kBuffers * geometry.units + first_unit) * lane_states + team.lane * Q;
    for (int done = 0; done < share; done += kUnitBatch) {
#pragma unroll
      for (int u = 0; u < kUnitBatch; ++u) {
        if (done + u >= units) break;
        Word& own = states[(done + u) * lane_states + team.word];
        own = Algebra::add(state, own);
      }
      if constexpr (Q > 1) {
        __syncwarp();
        Word own[kUnitBatch];
#pragma unroll
        for (int u = 0; u < kUnitBatch; ++u) {
          const int unit = done + u;
          if (unit < units) {
            own[u] = advanced_word<Algebra, Q>(context.shared.unit_away.row(first_unit + unit),
                                               team.word, states + unit * lane_states);
          }
        }
        __syncwarp();
#pragma unroll
        for (int u = 0; u < kUnitBatch; ++u) {
          if (done + u < units) states[(done + u) * lane_states + team.word] = own[u];
        }
      }
    }
  };

  if (share_tiles) {
    for (unsigned i = warp; i < context.tiles; i += kStreamGatherWarps) {
      gather_lanes(i, 0);
      barrier_arrive(&context.shared.carried[i % kBuffers]);
    }
  } else {
    for (unsigned i = 0; i < context.tiles; ++i) {
      for (int batch = warp; batch < lane_batches<Q>(geometry.tuple); batch += kStreamGatherWarps)
        gather_lanes(i, batch);
      barrier_arrive(&context.shared.carried[i % kBuffers]);
    }
  }
}

}  // namespace gdelta::scan
