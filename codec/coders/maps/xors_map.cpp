// Lanes xored with other lanes. Spec: formats/gdelta/maps/xors.md.
#include <fmt/core.h>

#include "codec/coders/maps/lane_map.h"
#include "kernels/words/map_lane.h"

namespace gdelta {
namespace {

/// Each lane with the one before it.
template <class Word>
std::vector<LaneStep> choose(std::vector<MapTrial<Word>>& lanes, std::uint64_t gain_permille) {
  std::vector<LaneStep> steps;
  for (std::size_t target = lanes.size(); target-- > 1;) {
    LaneSample<Word> changed = lanes[target].mapped;
    step_lane(changed.words.data(), lanes[target - 1].mapped.words.data(), changed.words.size(),
              changed.bits, LaneStepKind::exclusive_or);
    const std::uint64_t cost = cost_of(changed);
    if (cost * 1000 >= lanes[target].cost * (1000 - gain_permille)) continue;
    steps.push_back({static_cast<std::uint8_t>(target), static_cast<std::uint8_t>(target - 1),
                     LaneStepKind::exclusive_or});
    lanes[target].mapped = std::move(changed);
    lanes[target].cost = cost;
  }
  return steps;
}

std::string words(const format::LaneStepFields& step) {
  return fmt::format("{}^{}", step.target, step.source);
}

}  // namespace

const ColumnLaneMap xors_map{.words = words,
                             .choose = {choose<std::uint32_t>, choose<std::uint64_t>},
                             .tried_from_level = 9};

}  // namespace gdelta
