// Floats as integers that sort like them. Spec: maps/ordered.md. Spare bits above the value's are left
// as they come out.
#pragma once

#include "kernels/device/host_device.h"

namespace gdelta {

struct OrderedMap {
  template <class Word>
  GDELTA_HD static Word apply(Word value, int value_bits) {
    const Word top = Word{1} << (value_bits - 1);
    return value ^ ((Word{0} - ((value >> (value_bits - 1)) & 1)) | top);
  }
  template <class Word>
  GDELTA_HD static Word undo(Word value, int value_bits) {
    const Word top = Word{1} << (value_bits - 1);
    return value ^ ((Word{0} - (~(value >> (value_bits - 1)) & 1)) | top);
  }
};

}  // namespace gdelta
