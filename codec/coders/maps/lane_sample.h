// A sample of a lane, and what maps make of it: what the choice of maps goes by.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/coders/column_bytes.h"
#include "kernels/words/maps/lane_mapping.h"

namespace gdelta {

/// Tuples of a stretch.
inline constexpr std::uint64_t kSampleStretch = 128;

/// Words of one lane, u32 or, of values of 8 bytes, u64, stretch after stretch.
template <class Word>
struct LaneSample {
  std::vector<Word> words;
  int bits = 0;  ///< of a value
};

template <class Word>
LaneSample<Word> sample_lane(const ColumnBytes& column, int lane);

/// Bits of the residuals at the order that suits the sample best; what lies before a stretch is not known.
template <class Word>
std::uint64_t cost_of(const LaneSample<Word>& lane);

/// What a map has made of a sample.
template <class Word>
struct MapTrial {
  LaneMapping mapping;
  LaneSample<Word> mapped;
  std::uint64_t cost = ~std::uint64_t{0};
  std::vector<std::uint64_t> table = {};  ///< in which words are looked up (value_table.h)
};

/// Nothing changes unless the map takes the values, but for few, and costs less.
template <class Word>
void try_map(const LaneSample<Word>& lane, const LaneMapping& mapping, MapTrial<Word>& best);

/// Whether `try_map` would not find too many exceptions; soon told if it would.
template <class Word>
bool takes_most(const LaneSample<Word>& lane, const LaneMapping& mapping);

}  // namespace gdelta
