// The operators of the scan kernels: how a value becomes a word, how words combine, how a state
// crosses a stretch.
//
// Sum and xor are linear, so their state of order q crosses L values by the matrix of
// carry_matrix.h, with (+, *) or (xor, and). The others have one word of state; orders beyond the
// first iterate over the tile (scan_group.cuh).
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <type_traits>

#include "kernels/scan/algebra/carry_matrix.h"
#include "kernels/scan/scan_types.h"

namespace gdelta::scan {

// kCounted: several blocks may add up 64-bit words that hold a part of the state below and their
// number above, in any order. kExact: the stream kernel is compiled for every order, not only for
// powers of two.

template <class StorageT, class WordT>
struct SumAlgebra {
  static constexpr bool kCounted = std::is_integral_v<WordT>;
  static constexpr bool kExact = !std::is_integral_v<StorageT> || sizeof(StorageT) >= 4;
  using Storage = StorageT;
  using Word = WordT;
  static __host__ __device__ Word identity() { return Word(0); }
  static __device__ Word add(Word a, Word b) { return a + b; }
  static __device__ Word mul(Word c, Word a) { return c * a; }
  __device__ Word load(Storage x) const { return static_cast<Word>(x); }
  __device__ Storage store(Word y) const { return static_cast<Storage>(y); }
  /// First column of P(length), or of its inverse if length is negative.
  template <int Q>
  static void coefficients(std::int64_t length, Word* c) {
    const auto matrix = length < 0 ? inverse_carry_coefficients<Word, Q>(-length)
                                   : carry_coefficients<Word, Q>(length);
    for (int m = 0; m < Q; ++m) c[m] = matrix.c[m];
  }
  /// table[p] = P(p length), each from the one before.
  template <int Q>
  static void powers(std::int64_t length, int size, Word (*table)[Q]) {
    CarryMatrix<Word, Q> base;
    coefficients<Q>(length, base.c);
    auto matrix = carry_coefficients<Word, Q>(0);
    for (int p = 0; p < size; ++p, matrix = multiply(matrix, base)) {
      for (int m = 0; m < Q; ++m) table[p][m] = matrix.c[m];
    }
  }
};

template <class StorageT, class WordT>
struct XorAlgebra {
  using Storage = StorageT;
  using Word = WordT;
  static constexpr bool kCounted = false;
  static constexpr bool kExact = true;
  static __host__ __device__ Word identity() { return 0; }
  static __device__ Word add(Word a, Word b) { return a ^ b; }
  static __device__ Word mul(Word c, Word a) { return c & a; }
  __device__ Word load(Storage x) const { return x; }
  __device__ Storage store(Word y) const { return static_cast<Storage>(y); }
  template <int Q>
  static void coefficients(std::int64_t length, Word* c) {
    const std::uint32_t odd =
        length < 0 ? inverse_xor_carry_coefficients(-length) : xor_carry_coefficients(length);
    for (int m = 0; m < Q; ++m) c[m] = Word(0) - static_cast<Word>((odd >> m) & 1);
  }
  template <int Q>
  static void powers(std::int64_t length, int size, Word (*table)[Q]) {
    for (int p = 0; p < size; ++p) coefficients<Q>(length * p, table[p]);
  }
};

template <class StorageT, class WordT>
struct ProductAlgebra {
  using Storage = StorageT;
  using Word = WordT;
  static constexpr bool kCounted = false;
  static constexpr bool kExact = true;
  static __host__ __device__ Word identity() { return Word(1); }
  static __device__ Word add(Word a, Word b) { return a * b; }
  __device__ Word load(Storage x) const { return static_cast<Word>(x); }
  __device__ Storage store(Word y) const { return static_cast<Storage>(y); }
};

/// Keys of KeyMap: minimum and maximum of every type.
template <class StorageT, class WordT>
struct MaxAlgebra {
  using Storage = StorageT;
  using Word = WordT;
  static constexpr bool kCounted = false;
  static constexpr bool kExact = true;
  Word fold;
  Word flip;
  Word lowest;  // the value of key 0
  static __host__ __device__ Word identity() { return 0; }
  static __device__ Word add(Word a, Word b) { return a > b ? a : b; }
  __device__ Word load(Storage x) const {
    using Signed = std::make_signed_t<Storage>;
    const Word sign = static_cast<Word>(static_cast<Signed>(x) >> (8 * sizeof(Storage) - 1));
    return static_cast<Storage>((x ^ (sign & fold)) ^ flip);
  }
  __device__ Storage store(Word key) const {
    using Signed = std::make_signed_t<Storage>;
    const Storage z = static_cast<Storage>(key ^ flip);
    const Word sign = static_cast<Word>(static_cast<Signed>(z) >> (8 * sizeof(Storage) - 1));
    return static_cast<Storage>(key == 0 ? lowest : z ^ (sign & fold));
  }
};

/// `or`, and `and` of complements.
template <class StorageT, class WordT>
struct OrAlgebra {
  using Storage = StorageT;
  using Word = WordT;
  static constexpr bool kCounted = false;
  static constexpr bool kExact = true;
  Word flip;
  static __host__ __device__ Word identity() { return 0; }
  static __device__ Word add(Word a, Word b) { return a | b; }
  __device__ Word load(Storage x) const { return static_cast<Storage>(x ^ flip); }
  __device__ Storage store(Word y) const { return static_cast<Storage>(y ^ flip); }
};

/// One value enters the state.
template <class Algebra, int Q, class Word = typename Algebra::Word>
__device__ __forceinline__ void step(Word value, Word* state) {
#pragma unroll
  for (int i = 0; i < Q; ++i) {
    state[i] = Algebra::add(state[i], value);
    value = state[i];
  }
}

/// state = P state. c: first column of P.
template <class Algebra, int Q, class Word = typename Algebra::Word>
__device__ __forceinline__ void advance(const Word* c, Word* state) {
  if constexpr (Q > 1) {
#pragma unroll
    for (int i = Q - 1; i > 0; --i) {
      Word sum = state[i];
#pragma unroll
      for (int m = 1; m <= i; ++m) sum = Algebra::add(sum, Algebra::mul(c[m], state[i - m]));
      state[i] = sum;
    }
  }
}

/// a = a + b, word by word: two states of the same place.
template <class Algebra, int Q, class Word = typename Algebra::Word>
__device__ __forceinline__ void accumulate(Word* a, const Word* b) {
#pragma unroll
  for (int q = 0; q < Q; ++q) a[q] = Algebra::add(a[q], b[q]);
}

template <int Q, class Word>
__host__ __device__ __forceinline__ void copy_state(Word* to, const Word* from) {
#pragma unroll
  for (int q = 0; q < Q; ++q) to[q] = from[q];
}

template <class Algebra, int Q, class Word = typename Algebra::Word>
__device__ __forceinline__ void clear(Word* state) {
#pragma unroll
  for (int i = 0; i < Q; ++i) state[i] = Algebra::identity();
}

}  // namespace gdelta::scan
