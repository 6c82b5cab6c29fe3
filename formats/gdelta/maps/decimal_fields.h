// The fields of decimals as they stand in a model: one parser and one writer. `step` is the number of digits.
// Spec: decimal.md.
#pragma once

#include "formats/gdelta/maps/map_of_lane.h"
#include "formats/gdelta/tags.h"

namespace gdelta::format {

inline constexpr std::uint64_t kMostDigits = 22;

GDELTA_HD inline HeadError parse_decimal_fields(Cursor& cursor, const MappedLane&,
                                                MapFields& fields) {
  fields.step = cursor.byte();
  return fields.step > kMostDigits ? HeadError::unsupported : HeadError::none;
}

template <class Sink>
GDELTA_HD void write_decimal_fields(Sink& sink, int /*value_bytes*/, const MapFields& fields) {
  sink.le(1, fields.step);
}

}  // namespace gdelta::format
