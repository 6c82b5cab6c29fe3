// Lanes changed by other lanes of their tuples. Spec: maps/differences.md. Arithmetic wraps at the width
// of the value; spare bits above it are left as they come out.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.h"

namespace gdelta {

enum class LaneStepKind : std::uint8_t {
  minus = 0,       // the source is taken off
  minus_half = 1,  // half of it, rounded down
  plus_half = 2,   // half of it is added
};

/// A step of lane `target`, by lane `source`.
struct LaneStep {
  std::uint8_t target = 0;
  std::uint8_t source = 0;
  LaneStepKind kind = LaneStepKind::minus;
};

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

/// What a step takes off its target.
template <class Word>
GDELTA_HD inline Word taken_off(LaneStepKind kind, Word source, int value_bits) {
  if (kind == LaneStepKind::minus) return source;
  const Word half = half_of(source, value_bits);
  return kind == LaneStepKind::minus_half ? half : Word{0} - half;
}

}  // namespace gdelta
