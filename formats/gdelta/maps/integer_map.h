// The map of types that are no integers, if nothing is known of their values.
#pragma once

#include "formats/gdelta/map_traits.h"

namespace gdelta::format {

/// What turns values of this type into integers whose differences say something: nothing if they are some.
constexpr ValueMap integer_map(ValueType type) {
  return map_takes(ValueMap::ordered, type) ? ValueMap::ordered : ValueMap::none;
}

}  // namespace gdelta::format
