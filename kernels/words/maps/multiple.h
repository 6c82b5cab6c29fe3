// Integers that are a whole number of steps from an offset. Spec: maps/multiple.md. Arithmetic wraps at
// the width of the value; spare bits above it are left as they come out.
#pragma once

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

  std::uint64_t step;
  std::uint64_t offset;
};

}  // namespace gdelta
