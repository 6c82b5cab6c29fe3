#include "codec/coders/maps/lane_map.h"

#include "formats/gdelta/map_traits.h"

namespace gdelta {

// The tables of lane maps and of steps have the same kinds.
static_assert(format::kNumStepKinds == kNumLaneStepKinds);

const ColumnLaneMap& column_lane_map(LaneMap map) {
  static constexpr const ColumnLaneMap* kMaps[] = {
#define GDELTA_ADDRESS(name, ...) &name##_map,
      GDELTA_LANE_MAPS(GDELTA_ADDRESS)
#undef GDELTA_ADDRESS
  };
  return *kMaps[static_cast<int>(map) - 1];
}

}  // namespace gdelta
