// The exchange of the group and column kernels: three levels in a fixed tree.
//
// Tiles on one chain come in groups, groups in chapters. The carry of a tile is combined from the
// sums of the tiles before it in its group, the totals of the groups before in its chapter, and the
// prefix at the end of the chapter before, all read side by side. The last tile of a group
// publishes the group's total as soon as it knows the sums; only chapters wait for one another, a
// hop of about 2 us for every hundreds of tiles. Nothing depends on which word happens to be there
// first (no opportunistic look-back), so floating-point results are the same bits on every run.
//
// A tile publishes its sum before it waits, and waits for tiles with smaller numbers only.
#pragma once

#include "kernels/scan/tile/scan_exchange.cuh"

namespace gdelta::scan {

/// Where a tile stands in the three levels.
struct Levels {
  unsigned tile;
  unsigned group;
  unsigned chapter;
  int position;       ///< the tile's, in its group
  int groups_before;  ///< how many of its chapter come before
  bool ends_group;
  bool ends_chapter;

  __device__ Levels(unsigned of_tile, int group_tiles, int chapter_groups)
      : tile(of_tile),
        group(tile / group_tiles),
        chapter(group / chapter_groups),
        position(static_cast<int>(tile - group * group_tiles)),
        groups_before(static_cast<int>(group - chapter * chapter_groups)),
        ends_group(position == group_tiles - 1),
        ends_chapter(ends_group && groups_before == chapter_groups - 1) {}
};

/// Words of one lane on every level.
struct LevelWords {
  unsigned long long* sums;
  unsigned long long* totals;
  unsigned long long* prefixes;
  std::size_t spacing;  ///< how far one tile, group or chapter is from the next
  std::size_t stride;   ///< how far the words of a state lie apart

  /// What tile `at` combines, nearest first: sums, then totals, then a prefix.
  __device__ int items(const Levels& at) const {
    return at.position + at.groups_before + (at.chapter > 0);
  }
  __device__ const unsigned long long* item(const Levels& at, int i) const {
    if (i < at.position) return sums + (at.tile - 1 - i) * spacing;
    i -= at.position;
    if (i < at.groups_before) return totals + (at.group - 1 - i) * spacing;
    return prefixes + (at.chapter - 1) * spacing;
  }
};

/// The carry of one lane by one warp; every thread gets it. Groups and chapters have at most 32
/// members. `total` is the tile's own sum, at its start. `Tables`: row p of `tile` and `group`
/// crosses p tiles, p groups.
template <class Algebra, int Q, class Tables, class Word = typename Algebra::Word>
__device__ __forceinline__ void exchange_by_warp(const LevelWords& words, const Levels& at,
                                                 const Tables& tables, Word* total, Word* carry) {
  // A state of one word: all levels are read at once.
  constexpr bool kAtOnce = Q * kSlotWords<Word> == 1;
  const int p = threadIdx.x & 31;
  if (p == 0) publish<Word, Q>(words.sums + at.tile * words.spacing, words.stride, total, 1);
  const std::uint32_t epoch[3] = {1, 1, 1};
  const unsigned long long* from[3] = {nullptr, nullptr, nullptr};
  if (p < at.position) from[0] = words.item(at, p);
  if (p < at.groups_before) from[1] = words.item(at, at.position + p);
  if (p == 0 && at.chapter > 0) from[2] = words.item(at, at.position + at.groups_before);
  Word states[3][Q];
  const bool publishes_total = at.ends_group && !at.ends_chapter;
  if (kAtOnce && !publishes_total) {
    await<Algebra, Q, 3>(from, words.stride, epoch, states);
  } else {
    await<Algebra, Q, 1>(from, words.stride, epoch, states);
  }
  __syncwarp();
  tables.tile.template advance_by<Algebra>(p + 1, states[0]);
  combine_across<Algebra, Q, 32>(states[0]);
  copy_state<Q>(carry, states[0]);
  if (publishes_total) {
    accumulate<Algebra, Q>(states[0], total);
    tables.tile.template advance_by<Algebra>(1, states[0]);
    if (p == 0) {
      publish<Word, Q>(words.totals + at.group * words.spacing, words.stride, states[0], 1);
    }
  }
  if (at.group == 0) return;
  if (!kAtOnce || publishes_total) {
    await<Algebra, Q, 1>(from + 1, words.stride, epoch, states + 1);
    await<Algebra, Q, 1>(from + 2, words.stride, epoch, states + 2);
    __syncwarp();
  }
  tables.group.template advance_by<Algebra>(p, states[1]);
  tables.group.template advance_by<Algebra>(at.groups_before, states[2]);
  accumulate<Algebra, Q>(states[1], states[2]);
  combine_across<Algebra, Q, 32>(states[1]);
  tables.tile.template advance_by<Algebra>(at.position, states[1]);
  accumulate<Algebra, Q>(carry, states[1]);
  if (at.ends_chapter && p == 0) {
    accumulate<Algebra, Q>(total, carry);
    tables.tile.template advance_by<Algebra>(1, total);
    publish<Word, Q>(words.prefixes + at.chapter * words.spacing, words.stride, total, 1);
  }
}

/// How the threads of a block share many lanes: thread h * lanes + l helps lane l.
struct Helpers {
  int lanes;
  int count;   ///< so many help each lane
  int helper;  ///< of this thread; `count` or more if it has no lane
  int lane;
};

/// Adds up what all helpers of this thread's lane left, in order; `before` gets the part of those
/// before this one.
template <class Algebra, int Q, int Threads, class Word = typename Algebra::Word>
__device__ __forceinline__ void sum_helpers(const Word (*states)[Threads], const Helpers& helpers,
                                            Word* before, Word* total) {
  clear<Algebra, Q>(total);
  clear<Algebra, Q>(before);
  for (int h = 0; h < helpers.count; ++h) {
    if (h == helpers.helper) copy_state<Q>(before, total);
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      total[q] = Algebra::add(total[q], states[q][h * helpers.lanes + helpers.lane]);
    }
  }
}

/// States that a thread reads at once.
constexpr int level_batch(int words) { return words >= 8 ? 1 : words >= 2 ? 2 : 4; }

/// Waits for items `first`, first + step, ... below `end` and adds them up: sums in `near`, at the
/// start of the tile, the others in `far`, at the start of the group.
template <class Algebra, int Q, class Tables, class Word = typename Algebra::Word>
__device__ __forceinline__ void gather_items(const LevelWords& words, const Levels& at,
                                             const Tables& tables, int first, int step, int end,
                                             Word* near, Word* far) {
  constexpr int kBatch = level_batch(Q * kSlotWords<Word>);
  for (int item = first; item < end; item += kBatch * step) {
    const unsigned long long* from[kBatch];
    std::uint32_t epoch[kBatch];
    Word states[kBatch][Q];
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      epoch[b] = 1;
      from[b] = item + b * step < end ? words.item(at, item + b * step) : nullptr;
    }
    await<Algebra, Q, kBatch>(from, words.stride, epoch, states);
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      const int i = item + b * step;
      if (i < at.position) {
        tables.tile.template advance_by<Algebra>(i + 1, states[b]);
        accumulate<Algebra, Q>(near, states[b]);
      } else if (i < end) {
        tables.group.template advance_by<Algebra>(i - at.position, states[b]);
        accumulate<Algebra, Q>(far, states[b]);
      }
    }
  }
}

/// The carries of all lanes by the whole block (it synchronises); every thread gets its lane's.
/// `exists`: the lane has words. `total` counts for helper 0.
template <class Algebra, int Q, int Threads, class Tables, class Word = typename Algebra::Word>
__device__ __forceinline__ void exchange_by_block(const LevelWords& words, const Levels& at,
                                                  const Tables& tables, const Helpers& helpers,
                                                  bool exists, Word (*partials)[Threads],
                                                  Word* total, Word* carry) {
  const bool speaks = exists && helpers.helper == 0;
  if (speaks) publish<Word, Q>(words.sums + at.tile * words.spacing, words.stride, total, 1);
  Word near[Q];
  Word far[Q];
  clear<Algebra, Q>(near);
  clear<Algebra, Q>(far);
  const auto leave = [&](const Word* state) {
#pragma unroll
    for (int q = 0; q < Q; ++q) partials[q][threadIdx.x] = state[q];
    __syncthreads();  // what every helper gathered is there
  };
  const int items = exists ? words.items(at) : 0;
  int first = helpers.helper;
  if (at.ends_group && !at.ends_chapter) {
    const int sums = exists ? at.position : 0;
    gather_items<Algebra, Q>(words, at, tables, first, helpers.count, sums, near, far);
    while (first < at.position) first += helpers.count;
    leave(near);
    if (speaks) {
      Word ignored[Q];
      sum_helpers<Algebra, Q, Threads>(partials, helpers, ignored, carry);
      accumulate<Algebra, Q>(carry, total);
      tables.tile.template advance_by<Algebra>(1, carry);
      publish<Word, Q>(words.totals + at.group * words.spacing, words.stride, carry, 1);
    }
    __syncthreads();  // read; may be overwritten
  }
  gather_items<Algebra, Q>(words, at, tables, first, helpers.count, items, near, far);
  tables.tile.template advance_by<Algebra>(at.position, far);
  accumulate<Algebra, Q>(near, far);
  leave(near);
  Word ignored[Q];
  sum_helpers<Algebra, Q, Threads>(partials, helpers, ignored, carry);
  if (speaks && at.ends_chapter) {
    accumulate<Algebra, Q>(total, carry);
    tables.tile.template advance_by<Algebra>(1, total);
    publish<Word, Q>(words.prefixes + at.chapter * words.spacing, words.stride, total, 1);
  }
}

}  // namespace gdelta::scan
