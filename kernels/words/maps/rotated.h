// Values rotated by one bit. Spec: maps/rotated.md. Spare bits above the value's are left as they come out.
#pragma once

#include "kernels/device/host_device.h"

namespace gdelta {

struct RotatedMap {
  template <class Word>
  GDELTA_HD static Word apply(Word value, int value_bits) {
    return (value << 1) | ((value >> (value_bits - 1)) & 1);
  }
  template <class Word>
  GDELTA_HD static Word undo(Word value, int value_bits) {
    const Word top = Word{1} << (value_bits - 1);
    return ((value & (top | (top - 1))) >> 1) | ((value & 1) << (value_bits - 1));
  }
};

}  // namespace gdelta
