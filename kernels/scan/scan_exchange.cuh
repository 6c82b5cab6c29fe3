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

/// Waits until `ready(b, word)` holds for every word of state b of `Count` and reads them, all at
/// once; what null points to is not read. Whoever publishes them never waits for the reader.
template <int Words, int Count, class Ready>
__device__ __forceinline__ void await_words(const unsigned long long* const* p, std::size_t stride,
                                            Ready ready, unsigned long long (&v)[Count][Words]) {
  unsigned missing = 0;  // only what is not there yet is read again
#pragma unroll
  for (int b = 0; b < Count; ++b) {
    if (p[b] != nullptr) missing |= 1u << b;
  }
  while (missing != 0) {
#pragma unroll
    for (int b = 0; b < Count; ++b) {
      if (missing >> b & 1) load_words<Words>(p[b], stride, v[b]);
    }
    const unsigned wanted = missing;
#pragma unroll
    for (int b = 0; b < Count; ++b) {
      if (wanted >> b & 1) {
        bool there = true;
#pragma unroll
        for (int i = 0; i < Words; ++i) there &= ready(b, v[b][i]);
        if (there) missing &= ~(1u << b);
      }
    }
  }
}

/// The state that published words carry.
template <class Word, int Q>
__device__ __forceinline__ void state_of_words(const unsigned long long* words, Word* state) {
#pragma unroll
  for (int q = 0; q < Q; ++q) {
    std::uint32_t half[sizeof(Word) / 4];
#pragma unroll
    for (int h = 0; h < kSlotWords<Word>; ++h)
      half[h] = static_cast<std::uint32_t>(words[q * kSlotWords<Word> + h]);
    memcpy(&state[q], half, sizeof(Word));
  }
}

/// Waits until slots p[0] ... p[Batch - 1] hold `epoch` and reads them; a null slot reads as
/// nothing.
template <class Algebra, int Q, int Batch, class Word = typename Algebra::Word>
__device__ __forceinline__ void await(const unsigned long long* const* p, std::size_t stride,
                                      const std::uint32_t* epoch, Word (*state)[Q]) {
  unsigned long long v[Batch][Q * kSlotWords<Word>];
  await_words(
      p, stride, [&](int b, unsigned long long word) { return word >> 32 == epoch[b]; }, v);
#pragma unroll
  for (int b = 0; b < Batch; ++b) {
    state_of_words<Word, Q>(v[b], state[b]);
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
