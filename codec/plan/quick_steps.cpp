#include "codec/plan/quick_steps.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "codec/plan/lane_orders.h"
#include "codec/plan/levels.h"
#include "codec/plan/sampled_groups.h"
#include "kernels/bitpack/group_pack.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/deltas/zigzag.h"
#include "kernels/words/map_lane.h"

namespace gdelta {
namespace {

/// Lanes, and lanes less others, by some of their groups.
template <class Word>
class SampledLanes {
 public:
  SampledLanes(const ResidualSource& source, GroupSample sample)
      : source_(source), sample_(sample) {}

  /// Words with the history that each group has.
  const std::vector<Word>& groups_of(int lane) {
    groups_.resize(column().tuple);
    std::vector<Word>& words = groups_[static_cast<std::size_t>(lane)];
    if (!words.empty()) return words;
    for_sampled_groups<Word>(source_, lane, sample_, 0, sample_.count,
                             [&](const Word* group, std::uint64_t) {
                               words.insert(words.end(), group, group + kHistoryAndGroup);
                             });
    return words;
  }
  std::vector<Word> groups_of(const LaneStep& step) {
    std::vector<Word> words = groups_of(step.target);
    step_lane(words.data(), groups_of(step.source).data(), words.size(), value_bits(column().type),
              step.kind);
    return words;
  }

 private:
  const Column& column() const { return source_.column().column; }

  const ResidualSource& source_;
  GroupSample sample_;
  std::vector<std::vector<Word>> groups_;  // of each lane that was asked for
};

template <class Word>
class QuickStepChoice {
 public:
  QuickStepChoice(const ResidualSource& source, const EncodeSettings& settings)
      : column_(source.column()),
        policy_(level_policy(settings.level)),
        order_(settings.order),
        few_(source, glance_groups(column_.records)),
        all_(source, sample_groups<std::uint64_t>(column_.records, column_.column.tuple,
                                                  policy_.orders.groups)) {}

  std::vector<LaneStep> choose() {
    std::vector<LaneStep> steps;
    std::uint64_t saved = 0;
    const int tuple = column_.column.tuple;
    for (int target = tuple - 1; target > 0; --target) add_step(target, steps, saved);
    if (steps.empty()) return steps;
    std::uint64_t before = 0;
    for (int lane = 0; lane < tuple; ++lane) before += bits_of_lane(lane);
    if (!saves_a_pass(before - saved, before, policy_.strides.gain_permille)) steps.clear();
    return steps;
  }

 private:
  std::uint64_t residual_bits(const Word* group) const {
    Word residuals[format::kGroupValues];
    for (std::size_t i = 0; i < std::size(residuals); ++i)
      residuals[i] = zigzag_encode(group[i], value_bits(column_.column.type));
    std::uint8_t counts[65];
    count_bit_lengths(residuals, counts);
    std::uint64_t bits = 0;
    for (std::uint64_t length = 1; length <= 8 * sizeof(Word); ++length)
      bits += length * counts[length];
    return bits;
  }

  /// Bits that residuals have by themselves.
  std::uint64_t glance_at(std::vector<Word> groups) const {
    std::uint64_t least = ~std::uint64_t{0};
    for (int order = 0; order <= order_.value_or(policy_.orders.highest); ++order) {
      std::uint64_t bits = 0;
      for (std::size_t at = 0; at < groups.size(); at += kHistoryAndGroup) {
        Word* const words = groups.data() + at;
        for (std::size_t i = kHistoryAndGroup; order > 0 && --i > 0;) words[i] -= words[i - 1];
        bits += residual_bits(words + kMaxOrder);
      }
      if (order >= order_.value_or(0)) least = std::min(least, bits);
    }
    return least;
  }

  std::uint64_t bits_of(const std::vector<Word>& groups) const {
    return least_lane_bits<Word>(groups, column_.column, column_.records, order_,
                                 {policy_.orders.highest, policy_.orders.groups});
  }

  /// A target's is asked for again when the column is weighed.
  std::uint64_t bits_of_lane(int lane) {
    std::optional<std::uint64_t>& bits = lane_bits_[static_cast<std::size_t>(lane)];
    if (!bits) bits = bits_of(all_.groups_of(lane));
    return *bits;
  }

  void add_step(int target, std::vector<LaneStep>& steps, std::uint64_t& saved) {
    const std::uint64_t few = glance_at(few_.groups_of(target));
    std::uint64_t least = ~std::uint64_t{0};
    LaneStep best;
    for (int source = 0; source < target; ++source) {
      const LaneStep step{static_cast<std::uint8_t>(target), static_cast<std::uint8_t>(source),
                          LaneStepKind::minus};
      if (!may_save(glance_at(few_.groups_of(step)), few, policy_.strides.gain_permille)) continue;
      const std::uint64_t bits = bits_of(all_.groups_of(step));
      if (bits >= least) continue;
      least = bits;
      best = step;
    }
    if (best.target == best.source) return;
    const std::uint64_t without = bits_of_lane(target);
    if (!saves_a_pass(least, without, policy_.strides.gain_permille)) return;
    steps.push_back(best);
    saved += without - least;
  }

  const ColumnBytes& column_;
  const LevelPolicy& policy_;
  std::optional<int> order_;
  SampledLanes<Word> few_, all_;
  std::array<std::optional<std::uint64_t>, kMostSteppedLanes> lane_bits_;
};

}  // namespace

std::vector<LaneStep> choose_quick_steps(const ColumnBytes& column, const format::Front& front,
                                         const EncodeSettings& settings) {
  if (!may_have_quick_steps(column.column.tuple)) return {};
  const ResidualSource source(column, front);
  return value_bytes(column.column.type) == 8
             ? QuickStepChoice<std::uint64_t>(source, settings).choose()
             : QuickStepChoice<std::uint32_t>(source, settings).choose();
}

}  // namespace gdelta
