#include "kernels/deltas/lane_delta.h"

#include "kernels/cpu/cpu_targets.h"
#include "kernels/deltas/zigzag.h"

#if GDELTA_HAS_AVX2_CODE
#include "kernels/cpu/avx512.h"
#endif

namespace gdelta {
namespace {

// Undoes all orders in one pass: the chains of the sums overlap, so that an order costs one add a value.
template <class Word, int Order, bool kZigzagged>
void sum_lane_of(Word* words, std::size_t count, Word* states) {
  Word y[Order];
  for (int k = 0; k < Order; ++k) y[k] = states[k];
  for (std::size_t i = 0; i < count; ++i) {
    Word sum = kZigzagged ? zigzag_decode(words[i]) : words[i];
    for (int k = 0; k < Order; ++k) {
      y[k] += sum;
      sum = y[k];
    }
    words[i] = sum;
  }
  for (int k = 0; k < Order; ++k) states[k] = y[k];
}

// All but the last time.
template <class Word>
GDELTA_ALWAYS_INLINE void take_first_differences(Word* words, std::size_t count, int order,
                                                 Word* states) {
  std::size_t left = count + order;
  for (int pass = 0; pass < order; ++pass) {
    states[order - 1 - pass] = words[order - 1 - pass];
    if (pass == order - 1) return;
    --left;
    for (std::size_t i = 0; i < left; ++i) words[i] = words[i + 1] - words[i];
  }
}

template <class Word>
GDELTA_ALWAYS_INLINE void take_differences(Word* words, std::size_t count, int order,
                                           int value_bits, Word* states) {
  take_first_differences(words, count, order, states);
  if (order == 0) {
    for (std::size_t i = 0; i < count; ++i) words[i] = zigzag_encode(words[i], value_bits);
  } else {
    for (std::size_t i = 0; i < count; ++i)
      words[i] = zigzag_encode(static_cast<Word>(words[i + 1] - words[i]), value_bits);
  }
}

template <class Word>
GDELTA_ALWAYS_INLINE void take_residuals(Word* words, std::size_t count, int order, int value_bits,
                                         Word* states, Word* __restrict residuals) {
  const int spare = static_cast<int>(8 * sizeof(Word)) - value_bits;
  const auto extended = [spare](Word word) {
    return static_cast<Word>(static_cast<std::make_signed_t<Word>>(word << spare) >> spare);
  };
  take_first_differences(words, count, order, states);
  if (order == 0) {
    for (std::size_t i = 0; i < count; ++i) residuals[i] = extended(words[i]);
  } else {
    for (std::size_t i = 0; i < count; ++i)
      residuals[i] = extended(static_cast<Word>(words[i + 1] - words[i]));
  }
}

#if GDELTA_HAS_AVX2_CODE
// Sums inside vectors, so that a vector waits for one number of the one before it. Returns how many words are
// done.
template <class Word, int Order, bool kZigzagged>
GDELTA_AVX512 std::size_t sum_vectors(Word* words, std::size_t count, Word* states) {
  using Vector = Avx512<Word>;
  __m512i before[Order];
  for (int k = 0; k < Order; ++k) before[k] = Vector::same(states[k]);
  std::size_t i = 0;
  for (; i + Vector::kWords <= count; i += Vector::kWords) {
    __m512i x = _mm512_loadu_si512(words + i);
    if constexpr (kZigzagged) x = Vector::zigzag_decode(x);
    for (int k = 0; k < Order; ++k) {
      x = Vector::add(Vector::sums(x), before[k]);
      before[k] = Vector::last(x);
    }
    _mm512_storeu_si512(words + i, x);
  }
  for (int k = 0; k < Order; ++k) {
    alignas(64) Word last[Vector::kWords];
    _mm512_store_si512(last, before[k]);
    states[k] = last[0];
  }
  return i;
}
#endif

// `Order`: what vectors are faster at.
template <class Word, int Order, bool kZigzagged>
void sum_fast(Word* words, std::size_t count, Word* states) {
  std::size_t done = 0;
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx512()) done = sum_vectors<Word, Order, kZigzagged>(words, count, states);
#endif
  sum_lane_of<Word, Order, kZigzagged>(words + done, count - done, states);
}

template <class Word, bool kZigzagged>
void sum_lane_of_order(Word* words, std::size_t count, int order, Word* states) {
  switch (order) {
    case 0:
      if constexpr (kZigzagged) {
        for (std::size_t i = 0; i < count; ++i) words[i] = zigzag_decode(words[i]);
      }
      break;
    case 1:
      return sum_fast<Word, 1, kZigzagged>(words, count, states);
    case 2:
      return sum_fast<Word, 2, kZigzagged>(words, count, states);
    case 3:
      return sum_fast<Word, 3, kZigzagged>(words, count, states);
    case 4:
      return sum_lane_of<Word, 4, kZigzagged>(words, count, states);
    case 5:
      return sum_lane_of<Word, 5, kZigzagged>(words, count, states);
    case 6:
      return sum_lane_of<Word, 6, kZigzagged>(words, count, states);
    case 7:
      return sum_lane_of<Word, 7, kZigzagged>(words, count, states);
    case 8:
      return sum_lane_of<Word, 8, kZigzagged>(words, count, states);
  }
}

#if GDELTA_HAS_AVX2_CODE
template <class Word>
GDELTA_AVX2 void take_differences_avx2(Word* words, std::size_t count, int order, int value_bits,
                                       Word* states) {
  take_differences(words, count, order, value_bits, states);
}
template <class Word>
GDELTA_AVX2 void take_residuals_avx2(Word* words, std::size_t count, int order, int value_bits,
                                     Word* states, Word* residuals) {
  take_residuals(words, count, order, value_bits, states, residuals);
}
template <class Word>
GDELTA_AVX512 void take_residuals_avx512(Word* words, std::size_t count, int order, int value_bits,
                                         Word* states, Word* residuals) {
  take_residuals(words, count, order, value_bits, states, residuals);
}
#endif

}  // namespace

template <class Word>
void difference_lane(Word* words, std::size_t count, int order, int value_bits, Word* states) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) return take_differences_avx2(words, count, order, value_bits, states);
#endif
  take_differences(words, count, order, value_bits, states);
}

template <class Word>
void difference_residuals(Word* words, std::size_t count, int order, int value_bits, Word* states,
                          Word* residuals) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx512())
    return take_residuals_avx512(words, count, order, value_bits, states, residuals);
  if (cpu_has_avx2())
    return take_residuals_avx2(words, count, order, value_bits, states, residuals);
#endif
  take_residuals(words, count, order, value_bits, states, residuals);
}

template <class Word>
void sum_lane(Word* words, std::size_t count, int order, Word* states) {
  sum_lane_of_order<Word, true>(words, count, order, states);
}

template <class Word>
void sum_residuals(Word* words, std::size_t count, int order, Word* states) {
  sum_lane_of_order<Word, false>(words, count, order, states);
}

template void difference_lane(std::uint32_t*, std::size_t, int, int, std::uint32_t*);
template void difference_lane(std::uint64_t*, std::size_t, int, int, std::uint64_t*);
template void difference_residuals(std::uint32_t*, std::size_t, int, int, std::uint32_t*,
                                   std::uint32_t*);
template void difference_residuals(std::uint64_t*, std::size_t, int, int, std::uint64_t*,
                                   std::uint64_t*);
template void sum_lane(std::uint32_t*, std::size_t, int, std::uint32_t*);
template void sum_lane(std::uint64_t*, std::size_t, int, std::uint64_t*);
template void sum_residuals(std::uint32_t*, std::size_t, int, std::uint32_t*);
template void sum_residuals(std::uint64_t*, std::size_t, int, std::uint64_t*);

}  // namespace gdelta
