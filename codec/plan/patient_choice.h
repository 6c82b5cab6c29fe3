// Whether LZMA takes a column: whoever has asked for the smallest waits for it. It decodes slower than all others.
#pragma once

#include <cstdint>

#include "codec/backend/backend.h"
#include "codec/chunk/chunk_encode.h"
#include "codec/plan/frame_choice.h"

namespace gdelta {

/// Whether the planner tries it on columns.
bool tries_lzma(std::optional<Coder> asked, int level, bool device_decodable);

struct PatientChoice {
  const ColumnBytes& column;
  const EncodeSettings& settings;
  const WidthPlan& by_widths;
  std::uint32_t part_groups;    // tuples of a part / 128; 0: all in one
  std::uint64_t bytes_to_beat;  // sections of so many or more are not wanted
  Workers& workers;
};

/// Changes the model to one of LZMA if that is worth it, or asked for. `made`: the section of `model`, if a trial
/// has made it; likewise afterwards.
void choose_lzma(const PatientChoice& choice, format::ColumnModel& model, ColumnSection& made,
                 Work* work);

}  // namespace gdelta
