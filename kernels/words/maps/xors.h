// Lanes xored with other lanes. Spec: maps/xors.md. Spare bits above the value's are left as they come out.
#pragma once

#include "kernels/device/host_device.h"

namespace gdelta {

struct XorStep {
  template <class Word>
  GDELTA_HD static Word apply(Word target, Word source, int /*value_bits*/) {
    return target ^ source;
  }
  template <class Word>
  GDELTA_HD static Word undo(Word target, Word source, int /*value_bits*/) {
    return target ^ source;
  }
};

}  // namespace gdelta
