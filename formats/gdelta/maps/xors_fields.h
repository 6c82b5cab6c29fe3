// The fields of xors of lanes as they stand in a model: one parser and one writer. Spec: xors.md.
#pragma once

#include "formats/gdelta/maps/lane_step_fields.h"
#include "formats/gdelta/tags.h"

namespace gdelta::format {

template <class Visit>
GDELTA_HD inline HeadError parse_xors_fields(Cursor& cursor, int tuple, const Visit& visit) {
  const Byte* const sources = cursor.data + cursor.at;
  if (!cursor.skip(static_cast<std::uint64_t>(tuple - 1))) return HeadError::corrupt;
  GDELTA_ROLLED
  for (int lane = tuple - 1; lane > 0; --lane) {
    const int source = sources[lane - 1];
    if (source > lane) return HeadError::corrupt;
    if (source == 0) continue;
    LaneStepFields step;
    step.target = static_cast<std::uint8_t>(lane);
    step.source = static_cast<std::uint8_t>(source - 1);
    visit(step);
  }
  return HeadError::none;
}

template <class Sink>
void write_xors_fields(Sink& sink, int tuple, std::span<const LaneStepFields> steps) {
  for (int lane = 1; lane < tuple; ++lane) {
    std::uint64_t source = 0;
    for (const LaneStepFields& step : steps)
      if (step.target == lane) source = step.source + 1u;
    sink.le(1, source);
  }
}

}  // namespace gdelta::format
