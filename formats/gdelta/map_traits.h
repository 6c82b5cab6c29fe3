// What value maps differ in, as heads show it. Shared by host code and CUDA kernels.
#pragma once

#include "formats/gdelta/bytes.h"
#include "gdelta/types.h"

namespace gdelta::format {

/// Which types may go through a map.
enum class MapTypes : std::uint8_t { all, integers, floats, long_floats };

/// What models say of a map of one lane (maps/map_fields.h).
enum class MapFieldsOf : std::uint8_t { none, digits, step, step_and_offset, table };

struct ValueMapTraits {
  MapTypes types = MapTypes::all;
  MapFieldsOf fields = MapFieldsOf::none;  // maps with fields have exceptions, too
  int tried_from_level = 1;                // by the planner
};

/// Precondition: a number below kNumValueMaps.
GDELTA_HD constexpr ValueMapTraits map_traits(ValueMap map) {
  switch (map) {
    case ValueMap::none:
    case ValueMap::by_lane:
      break;
#define GDELTA_CASE(name, number, sentence, ...) \
  case ValueMap::name:                           \
    return {__VA_ARGS__};
      GDELTA_VALUE_MAPS(GDELTA_CASE)
#undef GDELTA_CASE
  }
  return {};
}

/// Whether values of this type may go through it.
GDELTA_HD constexpr bool map_takes(ValueMap map, ValueType type) {
  switch (map_traits(map).types) {
    case MapTypes::all:
      return true;
    case MapTypes::integers:
      return type < ValueType::f16;
    case MapTypes::floats:
      return type >= ValueType::f16;
    case MapTypes::long_floats:
      return type >= ValueType::f32;
  }
  return false;
}

GDELTA_HD constexpr bool has_fields(ValueMap map) {
  return map_traits(map).fields != MapFieldsOf::none;
}

}  // namespace gdelta::format
