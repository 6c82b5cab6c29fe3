// Words that blocks exchange through the L2 cache: an epoch and 32 bits of payload in one 64-bit
// word, so that a reader knows from the word itself that it is there. No fence and no array of
// flags; relaxed order is enough, because nothing else is reached through the word.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/scan/ptx.cuh"
#include "kernels/scan/scan_algebra.cuh"

namespace gdelta::scan {

template <class Word>
constexpr int kSlotWords = sizeof(Word) / 4;  ///< 64-bit words that carry one Word

/// Reads N words `stride` apart, two at a time where they lie together (each word stands for
/// itself: a pair may tear).
template <int N>
__device__ __forceinline__ void load_words(const unsigned long long* p, std::size_t stride,
                                           unsigned long long* v) {
  if constexpr (N % 2 == 0) {
    if (stride == 1) {
#pragma unroll
      for (int i = 0; i < N; i += 2) load_relaxed_pair(p + i, v + i);
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < N; ++i) v[i] = load_relaxed(p + i * stride);
}

/// Publishes Q words at slot p, word w at p[w * stride]: what neighbouring threads will read
/// together lies together.
template <class Word, int Q>
__device__ __forceinline__ void publish(unsigned long long* p, std::size_t stride,
                                        const Word* state, std::uint32_t epoch) {
  const unsigned long long tag = static_cast<unsigned long long>(epoch) << 32;
#pragma unroll
  for (int q = 0; q < Q; ++q) {
    std::uint32_t half[sizeof(Word) / 4];
    memcpy(half, &state[q], sizeof(Word));
#pragma unroll
    for (int h = 0; h < kSlotWords<Word>; ++h)
      store_relaxed(p + (q * kSlotWords<Word> + h) * stride, tag | half[h]);
  }
}

/// Waits until slots p[0] ... p[Batch - 1] hold `epoch` and reads them, all at once; a null slot
/// reads as nothing. Whoever publishes them never waits for the reader.
template <class Algebra, int Q, int Batch, class Word = typename Algebra::Word>
__device__ __forceinline__ void await(const unsigned long long* const* p, std::size_t stride,
                                      const std::uint32_t* epoch, Word (*state)[Q]) {
  constexpr int kWords = Q * kSlotWords<Word>;
  unsigned long long v[Batch][kWords];
  unsigned missing = 0;  // only what is not there yet is read again
#pragma unroll
  for (int b = 0; b < Batch; ++b) {
    if (p[b] != nullptr) missing |= 1u << b;
  }
  while (missing != 0) {
#pragma unroll
    for (int b = 0; b < Batch; ++b) {
      if (missing >> b & 1) load_words<kWords>(p[b], stride, v[b]);
    }
    const unsigned wanted = missing;
#pragma unroll
    for (int b = 0; b < Batch; ++b) {
      if (wanted >> b & 1) {
        bool there = true;
#pragma unroll
        for (int i = 0; i < kWords; ++i)
          there &= static_cast<std::uint32_t>(v[b][i] >> 32) == epoch[b];
        if (there) missing &= ~(1u << b);
      }
    }
  }
#pragma unroll
  for (int b = 0; b < Batch; ++b) {
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      std::uint32_t half[sizeof(Word) / 4];
#pragma unroll
      for (int h = 0; h < kSlotWords<Word>; ++h) {
        half[h] = static_cast<std::uint32_t>(v[b][q * kSlotWords<Word> + h]);
      }
      Word word;
      memcpy(&word, half, sizeof(Word));
      state[b][q] = p[b] != nullptr ? word : Algebra::identity();
    }
  }
}

/// Combines the states of `Width` neighbouring threads; every one of them gets the result. The tree
/// is fixed.
template <class Algebra, int Q, int Width, class Word = typename Algebra::Word>
__device__ __forceinline__ void combine_across(Word* state) {
#pragma unroll
  for (int d = Width / 2; d > 0; d /= 2) {
#pragma unroll
    for (int q = 0; q < Q; ++q)
      state[q] = Algebra::add(state[q], __shfl_xor_sync(~0u, state[q], d));
  }
}

/// States that one thread reads at once.
constexpr int wide_batch(int words) {
  return words >= 8 ? 2 : words >= 4 ? 3 : words >= 2 ? 6 : 12;
}

/// Combines `count` states of one lane by one thread: the one `back` places before is at slot(back,
/// epoch). Neighbouring threads have neighbouring lanes and read neighbouring words. Row 1 of the
/// table advances by one place; `first_row` is 1 if the nearest state still has to cross its own
/// place, else 0.
template <class Algebra, int Q, class Table, class Slot, class Word = typename Algebra::Word>
__device__ __forceinline__ void gather_wide(int count, const Table& table, int first_row,
                                            std::size_t stride, Slot slot, Word* sum) {
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
    await<Algebra, Q, kBatch>(from, stride, epoch, states);
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      table.template advance_by<Algebra>(1, sum);
      accumulate<Algebra, Q>(sum, states[b]);
    }
  }
  if (first_row == 1) table.template advance_by<Algebra>(1, sum);
}

}  // namespace gdelta::scan
