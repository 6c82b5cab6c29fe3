// What the library does with a lane map. A row of gdelta/lane_maps.h names an object of this kind, NAME_map, which the
// map's own file defines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codec/coders/maps/lane_sample.h"
#include "codec/coders/maps/word_functions.h"
#include "formats/gdelta/maps/lane_step_fields.h"
#include "kernels/words/lane_steps.h"

namespace gdelta {

/// The steps that make residuals of lanes shorter, each by more than `gain_permille`. `lanes` are samples behind their
/// value maps, and become what the steps leave, with what that costs.
template <class Word>
using ChooseSteps = std::vector<LaneStep> (*)(std::vector<MapTrial<Word>>& lanes,
                                              std::uint64_t gain_permille);

struct ColumnLaneMap {
  /// What a step does, for people who look into a file: "1-0".
  std::string (*words)(const format::LaneStepFields& step);
  WordFunctions<ChooseSteps> choose;
  int tried_from_level = 2;  ///< by the planner
};

#define GDELTA_DECLARATION(name, ...) extern const ColumnLaneMap name##_map;
GDELTA_LANE_MAPS(GDELTA_DECLARATION)
#undef GDELTA_DECLARATION

/// Precondition: a number from 1 to kNumLaneMaps - 1.
const ColumnLaneMap& column_lane_map(LaneMap map);

}  // namespace gdelta
