// Bits of values rotated to the left. Spec: maps/rotated.md.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.h"
#include "kernels/words/maps/lane_mapping.h"

namespace gdelta {

struct RotatedMap {
  GDELTA_HD explicit RotatedMap(const LaneMapping& mapping)
      : bits(static_cast<int>(mapping.step)) {}

  template <class Word>
  GDELTA_HD static Word rotated(Word value, int value_bits, int to_the_left) {
    const auto mask =
        static_cast<Word>(~Word{0} >> (8 * static_cast<int>(sizeof(Word)) - value_bits));
    value &= mask;
    return ((value << to_the_left) | (value >> (value_bits - to_the_left))) & mask;
  }
  template <class Word>
  GDELTA_HD Word undo(Word word, int value_bits) const {
    return rotated(word, value_bits, value_bits - bits);
  }
  template <class Word>
  GDELTA_HD bool find(Word value, int value_bits, Word& word) const {
    word = rotated(value, value_bits, bits);
    return true;
  }

  int bits;
};

}  // namespace gdelta
