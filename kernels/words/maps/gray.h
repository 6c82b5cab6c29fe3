// Reflected binary code. Spec: maps/gray.md.
#pragma once

#include "kernels/device/host_device.h"

namespace gdelta {

struct GrayMap {
  template <class Word>
  GDELTA_HD static Word apply(Word value, int) {
    return value ^ (value >> 1);
  }
  template <class Word>
  GDELTA_HD static Word undo(Word value, int value_bits) {
    value &= static_cast<Word>(~Word{0}) >> (8 * sizeof(Word) - value_bits);
    for (int shift = 1; shift < value_bits; shift *= 2) value ^= value >> shift;
    return value;
  }
};

}  // namespace gdelta
