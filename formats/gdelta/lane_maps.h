// The lane maps there are: a row each, as in gdelta/coders.h. Shared by host code and CUDA kernels.
#pragma once

#include <cstdint>

/// row(name, number): a row needs a page, formats/gdelta/maps/NAME.md, and its fields in maps/map_fields.h.
// A row is a row.
// clang-format off
#define GDELTA_LANE_MAPS(row) \
  row(differences, 1)
// clang-format on

namespace gdelta::format {

/// What becomes of the lanes of a column, all together, behind their value maps. The numbers are those of the format
/// (spec.md, section 4).
enum class LaneMap : std::uint8_t {
  none = 0,
#define GDELTA_ENUMERATOR(name, number) name = number,
  GDELTA_LANE_MAPS(GDELTA_ENUMERATOR)
#undef GDELTA_ENUMERATOR
};

#define GDELTA_ONE(name, number) +1
/// `none` is counted, too.
inline constexpr int kNumLaneMaps = 1 GDELTA_LANE_MAPS(GDELTA_ONE);
#undef GDELTA_ONE

}  // namespace gdelta::format
