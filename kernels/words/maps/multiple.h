// Integers that are a whole number of steps from an offset. Spec: maps/multiple.md. Arithmetic wraps at
// the width of the value; spare bits above it are left as they come out.
#pragma once

#include <type_traits>

#include "kernels/device/host_device.h"
#include "kernels/words/maps/lane_mapping.h"

namespace gdelta {

struct MultipleMap {
  GDELTA_HD explicit MultipleMap(const LaneMapping& mapping)
      : step(mapping.step), offset(mapping.offset) {}

  template <class Word>
  GDELTA_HD Word undo(Word word, int /*value_bits*/) const {
    return static_cast<Word>(word * static_cast<Word>(step) + static_cast<Word>(offset));
  }

  /// The word that `undo` makes `value` of; false if none does.
  template <class Word>
  GDELTA_HD bool find(Word value, int value_bits, Word& word) const {
    const int spare = 8 * static_cast<int>(sizeof(Word)) - value_bits;
    using Signed = std::make_signed_t<Word>;
    const auto distance =
        static_cast<Signed>(static_cast<Word>(value - static_cast<Word>(offset)) << spare) >> spare;
    const auto own_step = static_cast<Signed>(static_cast<Word>(step));
    // A step beyond the signed numbers is no divisor but of nothing.
    if (own_step <= 0) return distance == 0 ? (word = 0, true) : false;
    if (distance % own_step != 0) return false;
    word = static_cast<Word>(distance / own_step);
    return true;
  }

  std::uint64_t step;
  std::uint64_t offset;

  template <class Word>
  class Search;
};

/// Finds the words of many values: the odd part of the step has an inverse, so that a product takes the place of a
/// quotient. Quotients too large are those of other values, which wrap.
template <class Word>
class MultipleMap::Search {
  using Signed = std::make_signed_t<Word>;
  static constexpr int kBits = 8 * static_cast<int>(sizeof(Word));

 public:
  /// Whether the step is one of the type's signed numbers, above 0: it can search for no other.
  static bool suits(const MultipleMap& map) {
    return static_cast<Signed>(static_cast<Word>(map.step)) > 0;
  }

  GDELTA_HD Search(const MultipleMap& map, int value_bits)
      : step_(static_cast<Word>(map.step)),
        offset_(static_cast<Word>(map.offset)),
        spare_(kBits - value_bits) {
    while ((step_ >> twos_ & 1) == 0) ++twos_;
    const Word odd = step_ >> twos_;
    inverse_ = odd;  // right in three bits
    for (int right_bits = 3; right_bits < kBits; right_bits *= 2) inverse_ *= 2 - odd * inverse_;
#ifndef __CUDA_ARCH__
    constexpr Word kLowest = Word{1} << (kBits - 1);
    lowest_ = static_cast<Signed>(kLowest) / static_cast<Signed>(step_);
    highest_ = static_cast<Signed>(kLowest - 1) / static_cast<Signed>(step_);
#endif
  }

  /// Zero if `value` has a word.
  GDELTA_HD Word find(Word value, Word& word) const {
    const auto distance =
        static_cast<Signed>(static_cast<Word>(value - offset_) << spare_) >> spare_;
    word = static_cast<Word>(distance >> twos_) * inverse_;
    const auto quotient = static_cast<Signed>(word);
    const Word rest = word * step_ ^ static_cast<Word>(distance);
#ifdef __CUDA_ARCH__
    // The upper half of a product is cheap there, and quotients by the step are not.
    const Signed upper = upper_product(quotient, static_cast<Signed>(step_));
    return rest | static_cast<Word>(upper ^ distance >> (kBits - 1));
#else
    return rest | static_cast<Word>(quotient < lowest_) | static_cast<Word>(quotient > highest_);
#endif
  }

 private:
#ifdef __CUDA_ARCH__
  static __device__ std::int32_t upper_product(std::int32_t a, std::int32_t b) {
    return __mulhi(a, b);
  }
  static __device__ std::int64_t upper_product(std::int64_t a, std::int64_t b) {
    return __mul64hi(a, b);
  }
#endif

  Word step_, offset_;
  int spare_;
  int twos_ = 0;
  Word inverse_;
  Signed lowest_ = 0, highest_ = 0;  // of hosts
};

}  // namespace gdelta
