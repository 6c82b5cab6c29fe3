// Lanes less other lanes. Spec: maps/differences.md. Arithmetic wraps at the width of the value; spare bits above it are
// left as they come out.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.h"

namespace gdelta {

/// Half of a number of `value_bits` bits in two's complement, rounded down. What lies above them in
/// `word` does not matter.
template <class Word>
GDELTA_HD inline Word half_of(Word word, int value_bits) {
  const int spare = 8 * static_cast<int>(sizeof(Word)) - value_bits;
  if constexpr (sizeof(Word) == 8) {
    return static_cast<Word>(static_cast<std::int64_t>(word << spare) >> (spare + 1));
  } else {
    return static_cast<Word>(static_cast<std::int32_t>(word << spare) >> (spare + 1));
  }
}

/// The source is taken off.
struct MinusStep {
  template <class Word>
  GDELTA_HD static Word apply(Word target, Word source, int /*value_bits*/) {
    return target - source;
  }
  template <class Word>
  GDELTA_HD static Word undo(Word target, Word source, int /*value_bits*/) {
    return target + source;
  }
};

/// Half of it is taken off, rounded down.
struct MinusHalfStep {
  template <class Word>
  GDELTA_HD static Word apply(Word target, Word source, int value_bits) {
    return target - half_of(source, value_bits);
  }
  template <class Word>
  GDELTA_HD static Word undo(Word target, Word source, int value_bits) {
    return target + half_of(source, value_bits);
  }
};

/// Half of it is added.
struct PlusHalfStep {
  template <class Word>
  GDELTA_HD static Word apply(Word target, Word source, int value_bits) {
    return target + half_of(source, value_bits);
  }
  template <class Word>
  GDELTA_HD static Word undo(Word target, Word source, int value_bits) {
    return target - half_of(source, value_bits);
  }
};

}  // namespace gdelta
