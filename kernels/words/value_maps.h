// The value maps there are, a row each: the arithmetic of kernels/words/maps by the map's number in the
// format. 0 is no map.
//
// Maps without fields are undone value by value wherever a value is stored. Those with fields have a
// pass of their own over all lanes of a column, in which the others are undone, too, or on a device are
// undone where some kernels store (lane_maps.h).
#pragma once

#include <cstdint>

#include "kernels/words/maps/dictionary.h"
#include "kernels/words/maps/multiple.h"
#include "kernels/words/maps/ordered.h"
#include "kernels/words/maps/scaled.h"

/// row(Type, number): `apply(value, value_bits)` and `undo`, for words of 32 and 64 bits.
#define GDELTA_MAP_KERNELS(row) row(OrderedMap, 1)

/// row(Type, number): made from a LaneMapping; `undo(word, value_bits)`, and `find(value, value_bits, word)`, or
/// `steps(value)` if words are whole numbers of steps.
#define GDELTA_FIELD_MAP_KERNELS(row) \
  row(DecimalMap, 2) row(ScaledMap, 3) row(MultipleMap, 4) row(DictionaryMap, 5)

namespace gdelta {

#define GDELTA_ONE(Type, number) +1
/// Counts the maps without fields, and with them 0 for no map.
inline constexpr int kNumPlainMaps = 1 GDELTA_MAP_KERNELS(GDELTA_ONE);
#undef GDELTA_ONE

/// The number of a map with fields.
template <class Map>
inline constexpr std::uint8_t kMapNumber = 0;
#define GDELTA_NUMBER(Type, number) \
  template <>                       \
  inline constexpr std::uint8_t kMapNumber<Type> = number;
GDELTA_FIELD_MAP_KERNELS(GDELTA_NUMBER)
#undef GDELTA_NUMBER

/// Whether the map is one of floats as whole numbers of steps.
template <class Map>
inline constexpr bool kHasSteps = requires(const Map& map) {
  map.steps(0.0);
};

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

/// Calls function(map) with the lane's map, of either kind; not at all for 0.
template <class Function>
GDELTA_HD inline void with_lane_map(const LaneMapping& mapping, const Function& function) {
  switch (mapping.map) {
#define GDELTA_CASE(Type, number) \
  case number:                    \
    function(Type(mapping));      \
    break;
    GDELTA_FIELD_MAP_KERNELS(GDELTA_CASE)
#undef GDELTA_CASE
    default:
      with_map(mapping.map, function);
      break;
  }
}

}  // namespace gdelta
