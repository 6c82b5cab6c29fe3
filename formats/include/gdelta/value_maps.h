// The value maps there are: a row each, as in coders.h.
#pragma once

#include <cstdint>

/// row(name, number, sentence, traits...): the sentence explains the name to users, traits set members
/// of ValueMapTraits (formats/gdelta/map_traits.h). A row needs a page, formats/gdelta/maps/NAME.md, and
/// a row of kernels/words/value_maps.h with its arithmetic.
// clang-format off: a row is a row
#define GDELTA_VALUE_MAPS(row) \
  row(ordered, 1, "floats are mapped to integers that keep their order", .floats_alone = true)
// clang-format on

namespace gdelta {

/// What becomes of values before prediction. The numbers are those of the format (spec.md, section 4).
enum class ValueMap : std::uint8_t {
  none = 0,
#define GDELTA_ENUMERATOR(name, number, ...) name = number,
  GDELTA_VALUE_MAPS(GDELTA_ENUMERATOR)
#undef GDELTA_ENUMERATOR
};

#define GDELTA_ONE(name, number, ...) +1
/// With `none`.
inline constexpr int kNumValueMaps = 1 GDELTA_VALUE_MAPS(GDELTA_ONE);
#undef GDELTA_ONE

}  // namespace gdelta
