// The value maps there are: a row each, as in coders.h.
#pragma once

#include <cstdint>

/// row(name, number, sentence, traits...): the sentence explains the name to users, traits set members
/// of ValueMapTraits (formats/gdelta/map_traits.h). A row needs a page, formats/gdelta/maps/NAME.md, a row of
/// kernels/words/value_maps.h with its arithmetic, and `NAME_map` (codec/coders/maps/value_map.h); a map with fields a
/// row of formats/gdelta/maps/map_fields.h.
// A row is a row.
// clang-format off
#define GDELTA_VALUE_MAPS(row)                                                        \
  row(ordered, 1, "floats are mapped to integers that keep their order",              \
      .types = MapTypes::floats)                                                      \
  row(decimal, 2, "floats are whole numbers over a power of ten",                     \
      .types = MapTypes::long_floats, .has_fields = true, .tried_from_level = 2) \
  row(scaled, 3, "floats are whole numbers times a step",                             \
      .types = MapTypes::long_floats, .has_fields = true, .tried_from_level = 2) \
  row(multiple, 4, "integers are a whole number of steps apart",                      \
      .types = MapTypes::integers, .has_fields = true, .tried_from_level = 2) \
  row(dictionary, 5, "values are looked up in a table of those there are",            \
      .has_fields = true, .has_table = true, .tried_from_level = 2)
// clang-format on

namespace gdelta {

/// What becomes of values before prediction. The numbers are those of the format (spec.md, section 4).
enum class ValueMap : std::uint8_t {
  none = 0,
#define GDELTA_ENUMERATOR(name, number, ...) name = number,
  GDELTA_VALUE_MAPS(GDELTA_ENUMERATOR)
#undef GDELTA_ENUMERATOR
      by_lane = 255,  // each lane has its own
};

#define GDELTA_ONE(name, number, ...) +1
/// `none` is counted, too.
inline constexpr int kNumValueMaps = 1 GDELTA_VALUE_MAPS(GDELTA_ONE);
#undef GDELTA_ONE

}  // namespace gdelta
