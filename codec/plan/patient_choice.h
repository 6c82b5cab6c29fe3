// Whether a slow coder takes a column: whoever has asked for the smallest waits for it, and it decodes slower than all
// others.
#pragma once

#include <cstdint>

#include "codec/chunk/chunk_encode.h"
#include "codec/plan/encode_settings.h"
#include "codec/plan/frame_choice.h"

namespace gdelta {

struct PatientChoice {
  Coder coder;  // chosen by patience
  const ColumnBytes& column;
  const EncodeSettings& settings;
  const WidthPlan& by_widths;
  std::uint32_t part_groups;    // tuples of a part / 128; 0: all in one
  std::uint64_t bytes_to_beat;  // sections of so many or more are not wanted
  Workers& workers;
};

/// Changes the model to one of the coder if that is worth it, or asked for. `made`: the section of `model`, if a trial
/// has made it; likewise afterwards.
void try_patiently(const PatientChoice& choice, format::ColumnModel& model, ColumnSection& made,
                   Work* work);

}  // namespace gdelta
