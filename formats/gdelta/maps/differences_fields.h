// The fields of differences of lanes as they stand in a model: one parser and one writer. Spec: differences.md.
#pragma once

#include "formats/gdelta/maps/lane_step_fields.h"
#include "formats/gdelta/tags.h"

namespace gdelta::format {

/// Calls visit(step) for each of them in order, whose kinds are those of the page.
template <class Visit>
GDELTA_HD inline HeadError parse_differences_fields(Cursor& cursor, int tuple, const Visit& visit) {
  const Byte steps = cursor.byte();
  if (cursor.failed || steps == 0) return HeadError::corrupt;
  if (steps > kMostLaneSteps) return HeadError::unsupported;
  GDELTA_ROLLED
  for (int number = 0; number < steps; ++number) {
    LaneStepFields step;
    step.target = cursor.byte();
    step.source = cursor.byte();
    step.kind = cursor.byte();
    if (cursor.failed || step.target >= tuple || step.source >= tuple || step.target == step.source)
      return HeadError::corrupt;
    if (step.kind >= num_step_kinds(LaneMap::differences)) return HeadError::unsupported;
    visit(step);
  }
  return HeadError::none;
}

template <class Sink>
void write_differences_fields(Sink& sink, int /*tuple*/, std::span<const LaneStepFields> steps) {
  sink.le(1, steps.size());
  for (const LaneStepFields& step : steps) {
    sink.le(1, step.target);
    sink.le(1, step.source);
    sink.le(1, step.kind);
  }
}

}  // namespace gdelta::format
