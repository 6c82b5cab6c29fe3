// The heads of segments of one lane, where they are whole words: summed along the lane by a block, without shared memory
// but for what warps tell each other. A thread takes a run of each tile, and the next one is on its way.
#pragma once

#include <cstdint>

#include "kernels/deltas/segment_pages.h"
#include "kernels/device/ptx.cuh"
#include "kernels/pages/page_limits.h"

namespace gdelta::cuda {

/// What the warps of a block tell each other.
template <class Word, int kThreads>
struct HeadSumsShared {
  Word warps[2][kThreads / 32];    // of passes that follow each other
  Word states[2][kMaxDeltaOrder];  // at the end of the tile before, of tiles that do
};

/// What a thread takes of a tile.
template <class Word>
struct HeadRun {
  static constexpr int kEach = 16 / sizeof(Word), kWords = 2 * kEach;  // of a vector, of a run

  /// Of so many words from `from` on; zeroes behind them.
  __device__ void load(const Word* from, int count) {
    if (count >= kWords) {
#pragma unroll
      for (int i = 0; i < kWords; i += kEach) load_vector(from + i, i);
    } else {
#pragma unroll
      for (int i = 0; i < kWords; ++i) words[i] = i < count ? from[i] : Word{0};
    }
  }
  __device__ void store(Word* to, int count) const {
    if (count >= kWords) {
#pragma unroll
      for (int i = 0; i < kWords; i += kEach) store_vector(to + i, i);
    } else {
#pragma unroll
      for (int i = 0; i < kWords; ++i)
        if (i < count) to[i] = words[i];
    }
  }

  Word words[kWords];

 private:
  __device__ void load_vector(const Word* from, int at) {
    if constexpr (sizeof(Word) == 8) {
      const ulonglong2 two = *reinterpret_cast<const ulonglong2*>(from);
      words[at] = two.x, words[at + 1] = two.y;
    } else {
      const uint4 four = *reinterpret_cast<const uint4*>(from);
      words[at] = four.x, words[at + 1] = four.y, words[at + 2] = four.z, words[at + 3] = four.w;
    }
  }
  __device__ void store_vector(Word* to, int at) const {
    if constexpr (sizeof(Word) == 8) {
      *reinterpret_cast<ulonglong2*>(to) = make_ulonglong2(words[at], words[at + 1]);
    } else {
      *reinterpret_cast<uint4*>(to) =
          make_uint4(words[at], words[at + 1], words[at + 2], words[at + 3]);
    }
  }
};

/// Sums `count` words `order` times, in place. The block calls it.
template <class Word, int kThreads>
__device__ void sum_head_words(Word* words, std::uint32_t count, int order,
                               HeadSumsShared<Word, kThreads>& shared) {
  using Run = HeadRun<Word>;
  const int id = static_cast<int>(threadIdx.x), thread = id & 31, warp = id / 32;
  if (id < kMaxDeltaOrder) shared.states[0][id] = 0;
  __syncthreads();  // states are there
  const auto left = [&](std::uint32_t first) {
    return static_cast<int>(count) - static_cast<int>(first);
  };
  std::uint32_t first = Run::kWords * id;
  Run next;
  next.load(words + first, left(first));
  int step = 0, slot = 0;
  for (std::uint32_t tile = 0; tile < count; tile += Run::kWords * kThreads) {
    Run run;
#pragma unroll
    for (int i = 0; i < Run::kWords; ++i) run.words[i] = next.words[i];
    const std::uint32_t behind = first + Run::kWords * kThreads;
    next.load(words + behind, left(behind));
    for (int pass = 0; pass < order; ++pass, step ^= 1) {
#pragma unroll
      for (int i = 1; i < Run::kWords; ++i) run.words[i] += run.words[i - 1];
      const Word own = run.words[Run::kWords - 1];
      Word sum = own;
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) device::add_from_below(sum, distance);
      if (thread == 31) shared.warps[step][warp] = sum;
      __syncthreads();  // the sums of all warps are there
      Word before = shared.states[slot][pass] + sum - own, all = shared.states[slot][pass];
#pragma unroll
      for (int w = 0; w < kThreads / 32; ++w) {
        const Word of_warp = shared.warps[step][w];
        if (w < warp) before += of_warp;
        all += of_warp;
      }
      if (id == 0) shared.states[slot ^ 1][pass] = all;
#pragma unroll
      for (Word& word : run.words) word += before;
    }
    run.store(words + first, left(first));
    first = behind;
    slot ^= 1;
  }
  __syncthreads();  // states have been read
}

}  // namespace gdelta::cuda
