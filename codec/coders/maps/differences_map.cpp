// Lanes less other lanes. Spec: formats/gdelta/maps/differences.md.
#include <fmt/core.h>

#include <algorithm>

#include "codec/coders/maps/lane_map.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/words/map_lane.h"

namespace gdelta {
namespace {

/// Lanes before a lane that it is compared with.
constexpr std::size_t kMostSources = 8;

LaneStep place(std::size_t target, std::size_t source, LaneStepKind kind) {
  return {static_cast<std::uint8_t>(target), static_cast<std::uint8_t>(source), kind};
}

template <class Word>
class StepChoice {
 public:
  StepChoice(std::vector<MapTrial<Word>>& lanes, std::uint64_t gain_permille)
      : lanes_(lanes), gain_permille_(gain_permille) {}

  std::vector<LaneStep> choose() {
    std::vector<LaneStep> steps;
    for (std::size_t target = lanes_.size(); target-- > 1;) {
      LaneStep best;
      std::uint64_t least = lanes_[target].cost;
      const std::size_t nearest = target - std::min(target, kMostSources);
      for (std::size_t source = nearest; source < target; ++source)
        try_step(place(target, source, LaneStepKind::minus), least, best);
      add(best, least, steps);
    }
    // If the second is the difference, the first is their mean.
    if (lanes_.size() == 2 && steps.size() == 1) {
      LaneStep best;
      std::uint64_t least = lanes_[0].cost;
      try_step(place(0, 1, LaneStepKind::plus_half), least, best);
      add(best, least, steps);
    }
    return steps;
  }

 private:
  LaneSample<Word> stepped(const LaneStep& step) const {
    LaneSample<Word> lane = lanes_[step.target].mapped;
    step_lane(lane.words.data(), lanes_[step.source].mapped.words.data(), lane.words.size(),
              lane.bits, step.kind);
    return lane;
  }

  void try_step(const LaneStep& step, std::uint64_t& least, LaneStep& best) const {
    const std::uint64_t cost = cost_of(stepped(step));
    if (cost >= least) return;
    least = cost;
    best = step;
  }

  // A source is an earlier lane, and lanes are changed from the last one on: what a step takes off is
  // as it was.
  void add(const LaneStep& step, std::uint64_t cost, std::vector<LaneStep>& steps) {
    MapTrial<Word>& target = lanes_[step.target];
    if (step.target == step.source || !saves_a_pass(cost, target.cost, gain_permille_)) return;
    steps.push_back(step);
    target.mapped = stepped(step);
    target.cost = cost;
  }

  std::vector<MapTrial<Word>>& lanes_;
  std::uint64_t gain_permille_;
};

template <class Word>
std::vector<LaneStep> choose(std::vector<MapTrial<Word>>& lanes, std::uint64_t gain_permille) {
  return StepChoice<Word>(lanes, gain_permille).choose();
}

std::string words(const format::LaneStepFields& step) {
  const auto kind = static_cast<LaneStepKind>(step.kind);
  return fmt::format("{}{}{}{}", step.target, kind == LaneStepKind::plus_half ? "+" : "-",
                     step.source, kind == LaneStepKind::minus ? "" : "/2");
}

}  // namespace

const ColumnLaneMap differences_map{.words = words,
                                    .choose = {choose<std::uint32_t>, choose<std::uint64_t>}};

}  // namespace gdelta
