// The steps between lanes (kernels/words/lane_steps.h) that low levels look for, and the planner of a device with them
// (codec/cuda/container/plan_steps.cu): a lane less an earlier one.
#pragma once

#include <vector>

#include "codec/coders/column_bytes.h"
#include "codec/plan/encode_settings.h"
#include "formats/gdelta/model.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/words/lane_steps.h"

namespace gdelta {

/// They are of narrow tuples, whose lanes a device has side by side in registers.
inline constexpr int kMostSteppedLanes = 4;
constexpr bool may_have_quick_steps(int tuple) { return tuple > 1 && tuple <= kMostSteppedLanes; }

/// So many groups of a lane, spread evenly, are looked at first.
inline constexpr std::uint32_t kGlanceGroups = 4;
template <class Count>
GDELTA_HD GroupSampleOf<Count> glance_groups(Count tuples) {
  const Count groups = tuples / kGroupValues;
  return {groups, groups < kGlanceGroups ? groups : kGlanceGroups};
}

/// Whether what is seen in them is worth a look at more: a quarter of what a step has to save.
GDELTA_HD constexpr bool may_save(std::uint64_t bits, std::uint64_t bits_without,
                                  std::uint64_t gain_permille) {
  return saves_a_pass(bits, bits_without, gain_permille / 4);
}

/// The steps of a column behind `front`, of which the map matters, from the last target to the first; none if they save too
/// little. A lane loses that one of the lanes before it without which it is packed in the fewest bits, of equals the first, if
///   1. its residuals have fewer bits in glance_groups, as may_save says, and
///   2. it is clearly less in all groups that orders are chosen by,
/// each at the best order. The source counts as it is without a step. Behind all steps the column has to be clearly less, too.
std::vector<LaneStep> choose_quick_steps(const ColumnBytes& column, const format::Front& front,
                                         const EncodeSettings& settings);

}  // namespace gdelta
