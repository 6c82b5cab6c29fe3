// Sorts words in shared memory by teams of warps, all teams of a block side by side: in registers of threads first, then between
// the threads of a warp, then between warps. Each merge of two sorted halves compares one with the other turned round, then halves of
// halves, so that all compares put the lower word first.
#pragma once

#include <cstdint>

#include "kernels/device/warp_uniform.cuh"

namespace gdelta::device {

/// `kEach`: words of a thread, so that a team of kWarps has 32 × kEach × kWarps of them at the most.
template <class Word, int kEach, std::uint32_t kWarps>
class TeamSort {
 public:
  /// `words`: shared memory of the team for so many.
  __device__ explicit TeamSort(Word* words) : exchange_(words) {}

  /// Sorts the first `count`; what follows them is the highest number then, or nobody's. The block calls it when they
  /// are there for all, with the highest of all counts, and waits.
  __device__ void sort(std::uint32_t count, std::uint32_t highest) {
    std::uint32_t warps = 1;
    while (warps * kOfWarp < highest) warps *= 2;
    const bool mine = warp_ < warps && count > 0;
    Word* const own = exchange_ + warp_ * kOfWarp;
    const std::uint32_t begin = min(warp_ * kOfWarp, count), left = count - begin;
    if (mine) {
#pragma unroll
      for (int i = 0; i < kEach; ++i)
        words_[i] = 32 * i + thread_ < left ? own[32 * i + thread_] : ~Word{0};
      sort_of_warp();
    }
    for (std::uint32_t merged = 2; merged <= warps; merged *= 2) {
      exchange_with(mine, merged - 1, true);
      for (std::uint32_t distance = merged / 4; distance > 0; distance /= 2)
        exchange_with(mine, distance, false);
      if (mine) merge_of_warp(16);
    }
    __syncthreads();  // what was exchanged has been read
    if (mine) store(own + kEach * thread_);
    __syncthreads();  // all words are there
  }

 private:
  static constexpr std::uint32_t kOfWarp = 32 * kEach;

  __device__ void store(Word* to) const {
    constexpr int kVector = 16 / sizeof(Word);
#pragma unroll
    for (int i = 0; i < kEach; i += kVector) {
      union {
        uint4 vector;
        Word words[kVector];
      } piece;
#pragma unroll
      for (int j = 0; j < kVector; ++j) piece.words[j] = words_[i + j];
      *reinterpret_cast<uint4*>(to + i) = piece.vector;
    }
  }

  /// Takes the lower one of each pair, or the higher one.
  __device__ static Word chosen(bool lower, Word mine, Word other) {
    return (mine < other) == lower ? mine : other;
  }
  __device__ void order(int low, int high) {
    const Word a = words_[low], b = words_[high];
    words_[low] = min(a, b);
    words_[high] = max(a, b);
  }

  /// Merges runs of a thread's words; halves of `distance` and below are in order within themselves.
  __device__ void merge_of_thread(int distance) {
#pragma unroll
    for (; distance > 0; distance /= 2) {
#pragma unroll
      for (int i = 0; i < kEach; ++i)
        if ((i & distance) == 0) order(i, i + distance);
    }
  }
  __device__ void sort_of_thread() {
#pragma unroll
    for (int run = 2; run <= kEach; run *= 2) {
#pragma unroll
      for (int i = 0; i < kEach; ++i)
        if ((i & (run / 2)) == 0) order(i, i ^ (run - 1));
      merge_of_thread(run / 4);
    }
  }

  /// Compares with the thread so far away, then nearer ones.
  __device__ void merge_of_warp(std::uint32_t distance) {
#pragma unroll 1
    for (; distance > 0; distance /= 2) {
      const bool lower = (thread_ & distance) == 0;
#pragma unroll
      for (int i = 0; i < kEach; ++i)
        words_[i] = chosen(lower, words_[i],
                           __shfl_xor_sync(kWholeWarp, words_[i], static_cast<int>(distance)));
    }
    merge_of_thread(kEach / 2);
  }
  __device__ void sort_of_warp() {
    sort_of_thread();
#pragma unroll 1
    for (std::uint32_t run = 2; run <= 32; run *= 2) {
      const bool lower = (thread_ & (run / 2)) == 0;
      const int turned = static_cast<int>(run - 1);
#pragma unroll
      for (int i = 0; i < kEach / 2; ++i) {
        const Word first = words_[i], last = words_[kEach - 1 - i];
        const Word for_first = __shfl_xor_sync(kWholeWarp, last, turned);
        const Word for_last = __shfl_xor_sync(kWholeWarp, first, turned);
        words_[i] = chosen(lower, first, for_first);
        words_[kEach - 1 - i] = chosen(lower, last, for_last);
      }
      merge_of_warp(run / 4);
    }
  }

  /// Compares with the words of another warp, whose number differs by these bits; if `turned`, the other way
  /// round.
  __device__ void exchange_with(bool mine, std::uint32_t bits, bool turned) {
    __syncthreads();  // what was exchanged before has been read
    if (mine) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) exchange_[kOfWarp * warp_ + 32 * i + thread_] = words_[i];
    }
    __syncthreads();  // all words are there
    if (!mine) return;
    const std::uint32_t other = warp_ ^ bits, other_thread = turned ? 31 - thread_ : thread_;
    const bool lower = warp_ < other;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int other_word = turned ? kEach - 1 - i : i;
      words_[i] =
          chosen(lower, words_[i], exchange_[kOfWarp * other + 32 * other_word + other_thread]);
    }
  }

  Word* exchange_;
  std::uint32_t warp_ = warp_number() % kWarps, thread_ = threadIdx.x % 32;
  Word words_[kEach];
};

}  // namespace gdelta::device
