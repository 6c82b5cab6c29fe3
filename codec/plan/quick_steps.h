// The steps between lanes (kernels/words/lane_steps.h) that low levels look for, and the planner of a device with them
// (codec/cuda/container/plan_steps.cu): a lane less an earlier one.
#pragma once

#include <vector>

#include "codec/backend/backend.h"
#include "codec/coders/column_bytes.h"
#include "formats/gdelta/model.h"
#include "kernels/words/lane_steps.h"

namespace gdelta {

/// Lanes before a lane that it is compared with.
inline constexpr int kQuickSources = 3;

/// The steps of a column behind `front`, of which the map matters, from the last target to the first; none if they save too
/// little. A lane loses the one of kQuickSources lanes before it without which it is packed in the fewest bits, of equals the
/// first, if
///   1. that is less in the fewest groups that are ever looked at (sample_groups), and
///   2. clearly less in all those that orders are chosen by.
/// Each lane counts at its best order, and its source as it is without a step. Behind all steps the column has to be clearly
/// less, too.
std::vector<LaneStep> choose_quick_steps(const ColumnBytes& column, const format::Front& front,
                                         const EncodeSettings& settings);

}  // namespace gdelta
