// The fields of scaled floats as they stand in a model: one parser and one writer. `step` has the bits of an f64.
// Spec: scaled.md.
#pragma once

#include "formats/gdelta/maps/map_of_lane.h"
#include "formats/gdelta/tags.h"

namespace gdelta::format {

/// Whether the bits are those of a normal positive f64.
GDELTA_HD constexpr bool is_scale(std::uint64_t bits) {
  const std::uint64_t exponent = bits >> 52;
  return exponent >= 1 && exponent <= 2046;
}

GDELTA_HD inline HeadError parse_scaled_fields(Cursor& cursor, const MappedLane&,
                                               MapFields& fields) {
  fields.step = cursor.fixed(8);
  return is_scale(fields.step) ? HeadError::none : HeadError::corrupt;
}

template <class Sink>
GDELTA_HD void write_scaled_fields(Sink& sink, int /*value_bytes*/, const MapFields& fields) {
  sink.le(8, fields.step);
}

}  // namespace gdelta::format
