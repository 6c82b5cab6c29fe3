// Indices into a table of values. Spec: maps/dictionary.md. Words are indices before and after: the codec,
// which has the tables, looks them up behind everything else of the column, and kernels that store values may (lane_maps.h).
#pragma once

#include "kernels/device/host_device.h"
#include "kernels/words/maps/lane_mapping.h"

namespace gdelta {

struct DictionaryMap {
  GDELTA_HD explicit DictionaryMap(const LaneMapping&) {}

  template <class Word>
  GDELTA_HD Word undo(Word word, int /*value_bits*/) const {
    return word;
  }

  template <class Word>
  GDELTA_HD bool find(Word value, int /*value_bits*/, Word& word) const {
    word = value;
    return true;
  }
};

}  // namespace gdelta
