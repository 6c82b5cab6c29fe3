// The value maps there are, a row each: the arithmetic of kernels/words/maps by the map's number in the
// format. 0 is no map.
#pragma once

#include <cstdint>

#include "kernels/words/maps/ordered.h"

/// row(Type, number): `apply(value, value_bits)` and `undo`, for words of 32 and 64 bits.
#define GDELTA_MAP_KERNELS(row) row(OrderedMap, 1)

namespace gdelta {

/// Calls function(map) with an object of the map's type; not at all for 0.
template <class Function>
GDELTA_HD inline void with_map(std::uint8_t map, const Function& function) {
  switch (map) {
#define GDELTA_CASE(Type, number) \
  case number:                    \
    function(Type{});             \
    break;
    GDELTA_MAP_KERNELS(GDELTA_CASE)
#undef GDELTA_CASE
    default:
      break;
  }
}

}  // namespace gdelta
