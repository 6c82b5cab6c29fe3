// The maps of a column of few lanes, for kernels that undo them where values are stored.
#pragma once

#include <cstdint>

#include "kernels/pages/column_task.h"
#include "kernels/words/lane_steps.h"
#include "kernels/words/value_maps.h"

namespace gdelta {

/// A lane step in a byte, for lanes below 4.
static_assert(kNumLaneStepKinds <= 16);
GDELTA_HD constexpr std::uint8_t packed_step(LaneStep step) {
  return static_cast<std::uint8_t>(step.target | step.source << 2 |
                                   static_cast<int>(step.kind) << 4);
}
GDELTA_HD constexpr LaneStep step_of(std::uint32_t packed) {
  return {.target = static_cast<std::uint8_t>(packed & 3),
          .source = static_cast<std::uint8_t>(packed >> 2 & 3),
          .kind = static_cast<LaneStepKind>(packed >> 4 & 15)};
}

struct LaneMaps {
  static constexpr int kMostLanes = 4, kMostSteps = 8;

  LaneMapping lanes[kMostLanes];
  std::uint8_t steps[kMostSteps];  // packed, as they were taken; the last is undone first
  std::uint8_t num_steps = 0;
  bool has_maps = false;  // of values
  bool big_endian = false;
};

/// Whether a LaneMapping is all that undoing the map of this number takes.
GDELTA_HD constexpr bool is_undone_by_value(std::uint8_t map) {
  switch (map) {
#define GDELTA_CASE(Type, number) case number:
    GDELTA_MAP_KERNELS(GDELTA_CASE)
    GDELTA_FIELD_MAP_KERNELS(GDELTA_CASE)
#undef GDELTA_CASE
    case 0:
      return true;
    default:
      return false;
  }
}

/// All page kernels of this coder undo them (page_kernels.h).
inline constexpr int kLaneMapPages = 4;
/// A task has this `map` if its LaneMaps say what there is to undo.
inline constexpr std::uint8_t kMapsOfLanes = 255;

namespace cuda {

/// Whether the kernels that decode a task's pages undo LaneMaps: warps that have whole tuples in registers do, too.
GDELTA_HD inline bool pages_undo_lane_maps(const ColumnTask& task) {
  return task.coder == kLaneMapPages ||
         (task.path == ColumnPath::page_warp && !is_wide(task.tuple));
}

/// Gives those of a task without stride links, or null. They stand where the fields of linear prediction would, which
/// such a column has not.
GDELTA_HD inline const LaneMaps* lane_maps_of(const ColumnTask& task) {
  return task.map == kMapsOfLanes && task.num_strides == 0
             ? reinterpret_cast<const LaneMaps*>(task.linear)
             : nullptr;
}

}  // namespace cuda
}  // namespace gdelta
