// The fields of rotated values as they stand in a model: one parser and one writer. `step` is the number of bits.
// Spec: rotated.md.
#pragma once

#include "formats/gdelta/maps/map_of_lane.h"
#include "formats/gdelta/tags.h"

namespace gdelta::format {

GDELTA_HD inline HeadError parse_rotated_fields(Cursor& cursor, const MappedLane& lane,
                                                MapFields& fields) {
  fields.step = cursor.byte();
  const auto bits = static_cast<std::uint64_t>(8 * lane.value_bytes);
  return fields.step == 0 || fields.step >= bits ? HeadError::corrupt : HeadError::none;
}

template <class Sink>
void write_rotated_fields(Sink& sink, int /*value_bytes*/, const MapFields& fields) {
  sink.le(1, fields.step);
}

}  // namespace gdelta::format
