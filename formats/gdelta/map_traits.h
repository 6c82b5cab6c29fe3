// What value maps and lane maps differ in, as heads show it. Shared by host code and CUDA kernels.
#pragma once

#include "formats/gdelta/bytes.h"
#include "gdelta/types.h"

namespace gdelta::format {

/// Which types may go through a map.
enum class MapTypes : std::uint8_t { all, integers, floats, long_floats };

struct ValueMapTraits {
  MapTypes types = MapTypes::all;
  bool has_fields = false;   // in models (maps/map_fields.h); such maps have exceptions, too
  bool has_table = false;    // words are looked up in a table behind all else
  int tried_from_level = 1;  // by the planner
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

GDELTA_HD constexpr bool has_fields(ValueMap map) { return map_traits(map).has_fields; }

/// Counts the kinds of steps that a lane map has.
GDELTA_HD constexpr int num_step_kinds(LaneMap map) {
  switch (map) {
    case LaneMap::none:
      break;
#define GDELTA_CASE(name, number, kinds, ...) \
  case LaneMap::name:                         \
    return kinds;
      GDELTA_LANE_MAPS(GDELTA_CASE)
#undef GDELTA_CASE
  }
  return 0;
}

/// Gives the number of the map's first kind of steps: kinds are numbered through all lane maps.
GDELTA_HD constexpr int first_step_kind(LaneMap map) {
  int first = 0;
  for (int before = 1; before < static_cast<int>(map); ++before)
    first += num_step_kinds(static_cast<LaneMap>(before));
  return first;
}
inline constexpr int kNumStepKinds = first_step_kind(static_cast<LaneMap>(kNumLaneMaps));

/// Gives the lane map that has steps of this kind.
constexpr LaneMap lane_map_of(int kind) {
  int map = kNumLaneMaps - 1;
  while (first_step_kind(static_cast<LaneMap>(map)) > kind) --map;
  return static_cast<LaneMap>(map);
}

}  // namespace gdelta::format
