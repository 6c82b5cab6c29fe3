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

/// Whether kernels that undo LaneMaps may look words up: of lanes alone, for it would take others too long code.
GDELTA_HD constexpr bool may_look_up(int value_bytes, int tuple) {
  return (value_bytes == 4 || value_bytes == 8) && tuple == 1;
}

/// Of a lane whose words are looked up in `entries` values, which lie at a multiple of their width.
GDELTA_HD inline LaneMapping look_up_mapping(const unsigned char* values, std::uint32_t entries) {
  return {kMapNumber<DictionaryMap>, reinterpret_cast<std::uintptr_t>(values), entries};
}

struct LaneMaps {
  static constexpr int kMostLanes = 4, kMostSteps = 8;

  LaneMapping lanes[kMostLanes];
  // Of a lane that is looked up:
  std::uint64_t table_at = 0;                // of its table, in the stream
  unsigned long long* damaged_at = nullptr;  // of the chunk: lowered to that if an index is beyond
  std::uint8_t steps[kMostSteps];            // packed, as they were taken; the last is undone first
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

/// Gives those of a task without stride links, or null. They stand where the fields of linear prediction would, which
/// such a column has not.
GDELTA_HD inline const LaneMaps* lane_maps_of(const ColumnTask& task) {
  return task.map == kMapsOfLanes && task.num_strides == 0
             ? reinterpret_cast<const LaneMaps*>(task.linear)
             : nullptr;
}

}  // namespace cuda
}  // namespace gdelta
