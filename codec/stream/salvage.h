// Every whole chunk of a damaged file, and what is missing between them.
#pragma once

#include "codec/backend/progress_meter.h"
#include "codec/backend/steady_backend.h"
#include "codec/stream/walk/index_follower.h"
#include "codec/stream/walk/rewind_input.h"

namespace gdelta {

/// Reads `input` to its end. `index` is that of a file, else empty.
/// Errors      what the sink returns, output_limit, cancelled, and those of the machine
Result<SalvageReport> salvage_input(RewindInput& input, IndexFollower& index,
                                    SteadyBackend& backend, const DecodeOptions& options,
                                    const SalvageOptions& salvaging, ProgressMeter& progress,
                                    const Sink& sink);

}  // namespace gdelta
