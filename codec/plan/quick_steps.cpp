#include "codec/plan/quick_steps.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "codec/plan/lane_orders.h"
#include "codec/plan/levels.h"
#include "codec/plan/sampled_groups.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/words/map_lane.h"

namespace gdelta {
namespace {

/// What lanes cost by some of their groups.
template <class Word>
class LaneCosts {
 public:
  LaneCosts(const ResidualSource& source, std::optional<int> order, OrderEffort effort)
      : source_(source), order_(order), effort_(effort) {}

  std::uint64_t of_lane(int lane) { return bits(groups_of(lane)); }
  std::uint64_t of_step(const LaneStep& step) {
    std::vector<Word> words = groups_of(step.target);
    step_lane(words.data(), groups_of(step.source).data(), words.size(),
              value_bits(column().type), step.kind);
    return bits(words);
  }

 private:
  const Column& column() const { return source_.column().column; }

  /// Words with the history that each group has.
  const std::vector<Word>& groups_of(int lane) {
    groups_.resize(column().tuple);
    std::vector<Word>& words = groups_[static_cast<std::size_t>(lane)];
    if (!words.empty()) return words;
    const GroupSample sample =
        sample_groups(source_.records(), column().tuple, effort_.column_groups);
    for_sampled_groups<Word>(source_, lane, sample, 0, sample.count,
                             [&](const Word* group, std::uint64_t count) {
                               words.insert(words.end(), group, group + kMaxOrder + count);
                             });
    return words;
  }

  std::uint64_t bits(const std::vector<Word>& groups) const {
    return least_lane_bits<Word>(groups, column(), source_.records(), order_, effort_);
  }

  const ResidualSource& source_;
  std::optional<int> order_;
  OrderEffort effort_;
  std::vector<std::vector<Word>> groups_;  // of each lane that was asked for
};

template <class Word>
class QuickStepChoice {
 public:
  QuickStepChoice(const ResidualSource& source, const EncodeSettings& settings)
      : tuple_(source.column().column.tuple),
        gain_permille_(level_policy(settings.level).strides.gain_permille),
        few_(source, settings.order, {level_policy(settings.level).orders.highest, 0}),
        all_(source, settings.order,
             {level_policy(settings.level).orders.highest,
              level_policy(settings.level).orders.groups}) {}

  std::vector<LaneStep> choose() {
    std::vector<LaneStep> steps;
    std::uint64_t saved = 0;
    for (int target = tuple_ - 1; target > 0; --target) add_step(target, steps, saved);
    if (steps.empty()) return steps;
    std::uint64_t before = 0;
    for (int lane = 0; lane < tuple_; ++lane) before += all_.of_lane(lane);
    if (!saves_a_pass(before - saved, before, gain_permille_)) steps.clear();
    return steps;
  }

 private:
  void add_step(int target, std::vector<LaneStep>& steps, std::uint64_t& saved) {
    const std::uint64_t few = few_.of_lane(target);
    std::uint64_t least = ~std::uint64_t{0};
    LaneStep best;
    for (int source = target - std::min(target, kQuickSources); source < target; ++source) {
      const LaneStep step{static_cast<std::uint8_t>(target), static_cast<std::uint8_t>(source),
                          LaneStepKind::minus};
      if (few_.of_step(step) >= few) continue;
      const std::uint64_t bits = all_.of_step(step);
      if (bits >= least) continue;
      least = bits;
      best = step;
    }
    if (best.target == best.source) return;
    const std::uint64_t without = all_.of_lane(target);
    if (!saves_a_pass(least, without, gain_permille_)) return;
    steps.push_back(best);
    saved += without - least;
  }

  int tuple_;
  std::uint64_t gain_permille_;
  LaneCosts<Word> few_, all_;
};

}  // namespace

std::vector<LaneStep> choose_quick_steps(const ColumnBytes& column, const format::Front& front,
                                         const EncodeSettings& settings) {
  if (column.column.tuple == 1) return {};
  const ResidualSource source(column, front);
  return value_bytes(column.column.type) == 8
             ? QuickStepChoice<std::uint64_t>(source, settings).choose()
             : QuickStepChoice<std::uint32_t>(source, settings).choose();
}

}  // namespace gdelta
