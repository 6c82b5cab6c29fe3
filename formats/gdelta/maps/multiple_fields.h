// The fields of multiples as they stand in a model: one parser and one writer. Spec: multiple.md.
#pragma once

#include "formats/gdelta/maps/map_of_lane.h"
#include "formats/gdelta/tags.h"

namespace gdelta::format {

GDELTA_HD inline HeadError parse_multiple_fields(Cursor& cursor, const MappedLane& lane,
                                                 MapFields& fields) {
  fields.step = cursor.varint();
  if (fields.step < 2 || fields.step > ~0ull >> (64 - 8 * lane.value_bytes))
    return HeadError::corrupt;
  fields.offset = cursor.fixed(lane.value_bytes);
  return HeadError::none;
}

template <class Sink>
GDELTA_HD void write_multiple_fields(Sink& sink, int value_bytes, const MapFields& fields) {
  sink.varint(fields.step);
  sink.le(value_bytes, fields.offset);
}

}  // namespace gdelta::format
