// The lane maps there are: a row each, as in coders.h.
#pragma once

#include <cstdint>

/// row(name, number, kinds, sentence): how many kinds of steps it has, one lane changed by another; the sentence
/// explains to users what is said of them. A row needs a page, formats/gdelta/maps/NAME.md, its fields,
/// NAME_fields.h beside it, which map_fields.h there includes, its kinds in kernels/words/lane_steps.h, and
/// `NAME_map` (codec/coders/maps/lane_map.h).
// A row is a row.
// clang-format off
#define GDELTA_LANE_MAPS(row) \
  row(differences, 1, 3, "1-0: lane 1 less lane 0, the first; 0+1/2: lane 0 and half of lane 1")
// clang-format on

namespace gdelta {

/// What becomes of the lanes of a column, all together, behind their value maps. The numbers are those of the format
/// (spec.md, section 4).
enum class LaneMap : std::uint8_t {
  none = 0,
#define GDELTA_ENUMERATOR(name, number, ...) name = number,
  GDELTA_LANE_MAPS(GDELTA_ENUMERATOR)
#undef GDELTA_ENUMERATOR
};

#define GDELTA_ONE(name, number, ...) +1
/// `none` is counted, too.
inline constexpr int kNumLaneMaps = 1 GDELTA_LANE_MAPS(GDELTA_ONE);
#undef GDELTA_ONE

}  // namespace gdelta
