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
};

}  // namespace gdelta
