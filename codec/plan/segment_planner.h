// A column of a chunk that says its segments: deltas inside them in the place of what was planned without them, if that
// is less.
#pragma once

#include <span>

#include "codec/chunk/chunk_encode.h"
#include "codec/plan/encode_settings.h"

namespace gdelta {

/// Changes the model of a column to one with deltas inside segments of these lengths, if that is less or an order was
/// asked for. `made`: the section of `model`, if a trial has made it; likewise afterwards. `mapped` is the column behind
/// its maps, if it has some.
void plan_segments(const ColumnBytes& column, const EncodeSettings& settings,
                   std::span<const std::uint32_t> lengths, const MappedColumn* mapped,
                   Workers& workers, format::ColumnModel& model, ColumnSection& made);

}  // namespace gdelta
