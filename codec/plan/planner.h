// The planner: which model each column of a chunk gets.
#pragma once

#include <cstddef>
#include <span>

#include "codec/chunk/chunk_encode.h"
#include "codec/plan/encode_settings.h"

namespace gdelta {

/// Plans one chunk: whole records of `layout`, at least one unless there are segments. The same values, layout and settings
/// give the same plan everywhere. Of records that have several columns it holds a copy, column after column. `work` is told of
/// what takes long.
/// Errors   none but std::bad_alloc
/// Threads  any number of calls at once, and those of `workers` in each
ChunkPlan plan_chunk(std::span<const std::byte> values, const Layout& layout, bool opaque,
                     const EncodeSettings& settings, Workers& workers = Workers::alone(),
                     const ChunkSegments& segments = {}, Work* work = nullptr);

/// About what planning takes of the work on a chunk. If it tries no coder, most is left to the encoder.
double planning_share(const EncodeSettings& settings);

}  // namespace gdelta
