#include "kernels/deltas/lane_delta.h"

#include <bit>
#include <type_traits>

#include "kernels/deltas/zigzag.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/deltas/lane_delta.cpp"
#include "kernels/cpu/each_target.h"

HWY_BEFORE_NAMESPACE();
namespace gdelta {
namespace HWY_NAMESPACE {
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
void take_first_differences(Word* words, std::size_t count, int order, Word* states) {
  std::size_t left = count + order;
  for (int pass = 0; pass < order; ++pass) {
    states[order - 1 - pass] = words[order - 1 - pass];
    if (pass == order - 1) return;
    --left;
    for (std::size_t i = 0; i < left; ++i) words[i] = words[i + 1] - words[i];
  }
}

template <class Word>
void take_differences(Word* words, std::size_t count, int order, int value_bits, Word* states) {
  take_first_differences(words, count, order, states);
  if (order == 0) {
    for (std::size_t i = 0; i < count; ++i) words[i] = zigzag_encode(words[i], value_bits);
  } else {
    for (std::size_t i = 0; i < count; ++i)
      words[i] = zigzag_encode(static_cast<Word>(words[i + 1] - words[i]), value_bits);
  }
}

template <class Word>
void take_residuals(Word* words, std::size_t count, int order, int value_bits, Word* states,
                    Word* __restrict residuals) {
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

#if GDELTA_HAS_VECTORS
namespace hn = hwy::HWY_NAMESPACE;

// Running sums inside a vector.
template <class Word>
class VectorSums {
 public:
  using D = hn::ScalableTag<Word>;
  using Vector = hn::Vec<D>;
  static constexpr std::size_t kWords = hn::MaxLanes(D()), kBytes = kWords * sizeof(Word);

  VectorSums() {
    const auto place = hn::Iota(D(), 0);
    for (int step = 0; step < kSteps; ++step) {
      const Word half = kBlockWords << step;
      const auto begin_of_half = hn::And(place, hn::Set(D(), static_cast<Word>(~(half - 1))));
      end_before_[step] = places(hn::Sub(begin_of_half, hn::Set(D(), Word{1})));
      is_second_[step] = hn::Ne(hn::And(place, hn::Set(D(), half)), hn::Zero(D()));
    }
    last_ = places(hn::Set(D(), kWords - 1));
  }

  // Of the words up to and with each: in blocks of 16 bytes, then in pairs of halves that double.
  HWY_INLINE Vector sums(Vector x) const {
    x = hn::Add(x, hn::ShiftLeftLanes<1>(D(), x));
    if constexpr (kBlockWords == 4) x = hn::Add(x, hn::ShiftLeftLanes<2>(D(), x));
    for (int step = 0; step < kSteps; ++step)
      x = hn::Add(x,
                  hn::IfThenElseZero(is_second_[step], hn::TableLookupLanes(x, end_before_[step])));
    return x;
  }
  // The last word, everywhere.
  HWY_INLINE Vector last(Vector x) const { return hn::TableLookupLanes(x, last_); }

 private:
  static constexpr std::size_t kBlockWords = 16 / sizeof(Word);
  static constexpr int kSteps = std::bit_width(kWords / kBlockWords) - 1;
  using Places = decltype(hn::IndicesFromVec(D(), Vector()));

  static Places places(Vector of) {
    return hn::IndicesFromVec(D(), hn::And(of, hn::Set(D(), kWords - 1)));
  }

  Places end_before_[kSteps + 1], last_;  // one more, for there may be none
  hn::Mask<D> is_second_[kSteps + 1];
};

// Returns how many words are done. A vector waits for one number of the one before it.
template <class Word, int Order, bool kZigzagged>
std::size_t sum_vectors(Word* words, std::size_t count, Word* states) {
  const VectorSums<Word> in_vector;
  const typename VectorSums<Word>::D d;
  typename VectorSums<Word>::Vector before[Order];
  for (int k = 0; k < Order; ++k) before[k] = hn::Set(d, states[k]);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    auto x = hn::LoadU(d, words + i);
    if constexpr (kZigzagged) {
      const auto sign = hn::Sub(hn::Zero(d), hn::And(x, hn::Set(d, Word{1})));
      x = hn::Xor(hn::ShiftRight<1>(x), sign);
    }
    for (int k = 0; k < Order; ++k) {
      const auto sums = in_vector.sums(x);
      x = hn::Add(sums, before[k]);
      // One addition more spares short vectors the wait for the last word's way through the vector.
      before[k] = Order == 1 && VectorSums<Word>::kBytes <= 32
                      ? hn::Add(before[k], in_vector.last(sums))
                      : in_vector.last(x);
    }
    hn::StoreU(x, d, words + i);
  }
  for (int k = 0; k < Order; ++k) states[k] = hn::GetLane(before[k]);
  return i;
}
#endif

// `Order`: what vectors are faster at.
template <class Word, int Order, bool kZigzagged>
void sum_fast(Word* words, std::size_t count, Word* states) {
  std::size_t done = 0;
#if GDELTA_HAS_VECTORS
  done = sum_vectors<Word, Order, kZigzagged>(words, count, states);
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

template <class Word>
void sum_zigzagged(Word* words, std::size_t count, int order, Word* states) {
  sum_lane_of_order<Word, true>(words, count, order, states);
}
template <class Word>
void sum_signed(Word* words, std::size_t count, int order, Word* states) {
  sum_lane_of_order<Word, false>(words, count, order, states);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gdelta
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdelta {

template <class Word>
void difference_lane(Word* words, std::size_t count, int order, int value_bits, Word* states) {
  GDELTA_BEST(take_differences<Word>)(words, count, order, value_bits, states);
}

template <class Word>
void difference_residuals(Word* words, std::size_t count, int order, int value_bits, Word* states,
                          Word* residuals) {
  GDELTA_BEST(take_residuals<Word>)(words, count, order, value_bits, states, residuals);
}

template <class Word>
void sum_lane(Word* words, std::size_t count, int order, Word* states) {
  GDELTA_BEST(sum_zigzagged<Word>)(words, count, order, states);
}

template <class Word>
void sum_residuals(Word* words, std::size_t count, int order, Word* states) {
  GDELTA_BEST(sum_signed<Word>)(words, count, order, states);
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
#endif
