// Words that blocks exchange through the L2 cache: an epoch and 32 bits of payload in one 64-bit
// word, so that a reader knows from the word itself that it is there. No fence and no array of
// flags; relaxed order is enough, because nothing else is reached through the word.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/device/ptx.cuh"
#include "kernels/scan/algebra/scan_algebra.cuh"

namespace gdelta::scan {

template <class Word>
constexpr int kSlotWords = sizeof(Word) / 4;  ///< 64-bit words that carry one Word

/// Reads N words `stride` apart, two at a time if they lie together (each word stands for
/// itself: a pair may tear).
template <int N>
__device__ __forceinline__ void load_words(const unsigned long long* p, std::size_t stride,
                                           unsigned long long* v) {
  if constexpr (N % 2 == 0) {
    if (stride == 1) {
#pragma unroll
      for (int i = 0; i < N; i += 2) device::load_relaxed_pair(p + i, v + i);
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < N; ++i) v[i] = device::load_relaxed(p + i * stride);
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
      device::store_relaxed(p + (q * kSlotWords<Word> + h) * stride, tag | half[h]);
  }
}

/// The word that its published halves carry.
template <class Word>
__device__ __forceinline__ Word word_of_halves(const unsigned long long* v) {
  std::uint32_t half[kSlotWords<Word>];
#pragma unroll
  for (int h = 0; h < kSlotWords<Word>; ++h) half[h] = static_cast<std::uint32_t>(v[h]);
  Word word;
  memcpy(&word, half, sizeof(Word));
  return word;
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
        for (int i = 0; i < kWords; ++i) there &= v[b][i] >> 32 == epoch[b];
        if (there) missing &= ~(1u << b);
      }
    }
  }
#pragma unroll
  for (int b = 0; b < Batch; ++b) {
#pragma unroll
    for (int q = 0; q < Q; ++q) state[b][q] = word_of_halves<Word>(v[b] + q * kSlotWords<Word>);
    if (p[b] == nullptr) clear<Algebra, Q>(state[b]);
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

}  // namespace gdelta::scan
