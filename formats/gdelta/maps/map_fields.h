// Value maps and lane maps as they stand in a model: one parser and one writer. A map with fields has them in a header
// of this folder, NAME_fields.h. Shared by host code and CUDA kernels. Spec: spec.md, section 4, and the pages of the
// maps.
#pragma once

#include "formats/gdelta/map_traits.h"
#include "formats/gdelta/maps/decimal_fields.h"
#include "formats/gdelta/maps/dictionary_fields.h"
#include "formats/gdelta/maps/differences_fields.h"
#include "formats/gdelta/maps/multiple_fields.h"
#include "formats/gdelta/maps/scaled_fields.h"
#include "formats/gdelta/model.h"
#include "formats/gdelta/tags.h"

/// row(name): a value map with fields, `.has_fields` in its row of gdelta/value_maps.h. A header of this folder has
/// `parse_NAME_fields(cursor, lane, fields)`, which checks every field, and
/// `write_NAME_fields(sink, value_bytes, fields)`.
#define GDELTA_MAP_FIELDS(row) row(decimal) row(scaled) row(multiple) row(dictionary)

namespace gdelta::format {

/// The place of an exception takes so many bytes, which stand before all values.
inline constexpr std::uint64_t kExceptionPlaceBytes = 4;

#define GDELTA_BIT(name) | (has_fields(ValueMap::name) ? 1 << static_cast<int>(ValueMap::name) : 0)
#define GDELTA_ROW(name, number, ...) | (has_fields(ValueMap::name) ? 1 << (number) : 0)
static_assert((0 GDELTA_MAP_FIELDS(GDELTA_BIT)) == (0 GDELTA_VALUE_MAPS(GDELTA_ROW)));
#undef GDELTA_ROW
#undef GDELTA_BIT

namespace detail {

/// Reads the number of one map; `by_lane` is unsupported here.
GDELTA_HD inline HeadError parse_map(Cursor& cursor, ValueType type, ValueMap& map) {
  const Byte number = cursor.byte();
  map = static_cast<ValueMap>(number);
  if (cursor.failed) return HeadError::corrupt;
  if (number >= kNumValueMaps) return HeadError::unsupported;
  return map_takes(map, type) ? HeadError::none : HeadError::corrupt;
}

}  // namespace detail

/// Reads the fields of the map of a lane, which `fields` names.
GDELTA_HD inline HeadError parse_map_fields(Cursor& cursor, const MappedLane& lane,
                                            MapFields& fields) {
  HeadError error = HeadError::none;
  switch (fields.map) {
#define GDELTA_CASE(name)                                \
  case ValueMap::name:                                   \
    error = parse_##name##_fields(cursor, lane, fields); \
    break;
    GDELTA_MAP_FIELDS(GDELTA_CASE)
#undef GDELTA_CASE
    default:
      break;
  }
  if (error != HeadError::none) return error;
  return cursor.failed ? HeadError::corrupt : HeadError::none;
}

template <class Sink>
GDELTA_HD void write_map_fields(Sink& sink, int value_bytes, const MapFields& fields) {
  switch (fields.map) {
#define GDELTA_CASE(name) \
  case ValueMap::name:    \
    return write_##name##_fields(sink, value_bytes, fields);
    GDELTA_MAP_FIELDS(GDELTA_CASE)
#undef GDELTA_CASE
    default:
      break;
  }
}

/// Reads which map each lane has. `front.map` and `exceptions` become what they say; exceptions are at
/// most `values`, those of all lanes. Unless all lanes have the same map and it has no fields, visit(lane,
/// fields) is called for each lane in order. If something is unsupported, `front.map` becomes the map of that lane.
template <class Visit>
GDELTA_HD inline HeadError parse_value_maps(Cursor& cursor, const Column& column, int value_bytes,
                                            std::uint64_t values, Front& front,
                                            std::uint64_t& exceptions, const Visit& visit) {
  HeadError error = detail::parse_map(cursor, column.type, front.map);
  const bool by_lane = front.map == ValueMap::by_lane;
  if (error != HeadError::none && !by_lane) return error;
  exceptions = 0;
  if (!by_lane && !has_fields(front.map)) return HeadError::none;
  const std::uint64_t maps_at = cursor.at;
  bool any_fields = has_fields(front.map);
  GDELTA_ROLLED
  for (int lane = 0; by_lane && lane < column.tuple; ++lane) {
    ValueMap own;
    error = detail::parse_map(cursor, column.type, own);
    if (error == HeadError::unsupported) front.map = own;
    if (error != HeadError::none) return error;
    any_fields |= has_fields(own);
  }
  GDELTA_ROLLED
  for (int lane = 0; lane < column.tuple; ++lane) {
    MapFields fields;
    fields.map = by_lane ? static_cast<ValueMap>(cursor.data[maps_at + lane]) : front.map;
    error = parse_map_fields(cursor, {value_bytes, values / column.tuple}, fields);
    if (error == HeadError::unsupported) front.map = fields.map;
    if (error != HeadError::none) return error;
    visit(lane, fields);
  }
  if (any_fields) exceptions = cursor.varint();
  return cursor.failed || exceptions > values ? HeadError::corrupt : HeadError::none;
}

/// Reads the lane map and calls visit(step) for each of its steps in order; kinds are numbered through all lane maps.
template <class Visit>
GDELTA_HD inline HeadError parse_lane_map(Cursor& cursor, const Column& column, Front& front,
                                          const Visit& visit) {
  const Byte lane_map = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  front.lane_map = static_cast<LaneMap>(lane_map);
  if (lane_map >= kNumLaneMaps) return HeadError::unsupported;
  const auto visit_own = [&](LaneStepFields step, int first_kind) {
    step.kind = static_cast<std::uint8_t>(first_kind + step.kind);
    visit(step);
  };
  switch (front.lane_map) {
    case LaneMap::none:
      break;
#define GDELTA_CASE(name, ...)                                                          \
  case LaneMap::name:                                                                   \
    return parse_##name##_fields(cursor, column.tuple, [&](const LaneStepFields& own) { \
      visit_own(own, first_step_kind(LaneMap::name));                                   \
    });
      GDELTA_LANE_MAPS(GDELTA_CASE)
#undef GDELTA_CASE
  }
  return HeadError::none;
}

/// Writes the fields of the lane map whose steps these are; there are some.
template <class Sink>
void write_lane_map_fields(Sink& sink, int tuple, std::span<LaneStepFields> steps) {
  const LaneMap map = lane_map_of(steps[0].kind);
  for (LaneStepFields& step : steps)
    step.kind = static_cast<std::uint8_t>(step.kind - first_step_kind(map));
  switch (map) {
    case LaneMap::none:
      break;
#define GDELTA_CASE(name, ...) \
  case LaneMap::name:          \
    return write_##name##_fields(sink, tuple, steps);
      GDELTA_LANE_MAPS(GDELTA_CASE)
#undef GDELTA_CASE
  }
}

}  // namespace gdelta::format
