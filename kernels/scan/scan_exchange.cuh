// Words that blocks exchange through the L2 cache: an epoch and 32 bits of payload in one 64-bit word, so that a reader
// knows from the word itself that it is there. No fence and no array of flags; relaxed order is enough, because nothing
// else is reached through the word.
#pragma once

#include <cstdint>
#include <cstring>

namespace gdelta::scan {

template <class Word>
constexpr int kSlotWords = sizeof(Word) / 4;  ///< 64-bit words that carry one Word

__device__ __forceinline__ unsigned long long load_relaxed(const unsigned long long* p) {
  unsigned long long v;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}

__device__ __forceinline__ void store_relaxed(unsigned long long* p, unsigned long long v) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

/// Publishes Q words at slot p.
template <class Word, int Q>
__device__ __forceinline__ void publish(unsigned long long* p, const Word* state, std::uint32_t epoch) {
  const unsigned long long tag = static_cast<unsigned long long>(epoch) << 32;
#pragma unroll
  for (int q = 0; q < Q; ++q) {
    std::uint32_t half[sizeof(Word) / 4];
    memcpy(half, &state[q], sizeof(Word));
#pragma unroll
    for (int h = 0; h < kSlotWords<Word>; ++h) store_relaxed(p + q * kSlotWords<Word> + h, tag | half[h]);
  }
}

/// Waits until slots p[0] ... p[Batch - 1] hold `epoch` and reads them, all at once; a null slot reads as nothing.
/// Whoever publishes them never waits for the reader.
template <class Algebra, int Q, int Batch, class Word = typename Algebra::Word>
__device__ __forceinline__ void await(const unsigned long long* const* p, const std::uint32_t* epoch,
                                      Word (*state)[Q]) {
  constexpr int kWords = Q * kSlotWords<Word>;
  unsigned long long v[Batch][kWords];
  for (;;) {
    bool there = true;
#pragma unroll
    for (int b = 0; b < Batch; ++b) {
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        if (p[b] != nullptr) v[b][i] = load_relaxed(p[b] + i);
      }
    }
#pragma unroll
    for (int b = 0; b < Batch; ++b) {
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        if (p[b] != nullptr) there &= static_cast<std::uint32_t>(v[b][i] >> 32) == epoch[b];
      }
    }
    if (there) break;
    __nanosleep(20);
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

/// Combines the states of `Width` neighbouring threads; every one of them gets the result. The tree is fixed.
template <class Algebra, int Q, int Width, class Word = typename Algebra::Word>
__device__ __forceinline__ void combine_across(Word* state) {
#pragma unroll
  for (int d = Width / 2; d > 0; d /= 2) {
#pragma unroll
    for (int q = 0; q < Q; ++q) state[q] = Algebra::add(state[q], __shfl_xor_sync(~0u, state[q], d));
  }
}

}  // namespace gdelta::scan
