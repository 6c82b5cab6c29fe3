#include "codec/plan/stride_choice.h"

#include <algorithm>
#include <optional>

#include "codec/plan/lane_orders.h"
#include "codec/plan/levels.h"
#include "codec/plan/stride_rules.h"
#include "codec/plan/stride_search.h"
#include "kernels/bitpack/order_cost.h"

namespace gdelta {
namespace {

using format::Front;
using format::StrideLink;

constexpr double kShareOfSearch = 0.7;

class StrideChooser {
 public:
  StrideChooser(const ColumnBytes& column, const EncodeSettings& settings, Workers& workers)
      : column_(column),
        settings_(settings),
        policy_(level_policy(settings.level)),
        workers_(workers) {}

  void choose(StridedFront& chosen, Work* work) const {
    const TriedStrides tried = strides_tried_first(settings_);
    take_better(tried, chosen);
    const int most =
        tried.stride == kFindStride ? std::max(policy_.strides.most, 1) : policy_.strides.most;
    while (chosen.front.num_strides < most) {
      WorkPart of_search(work, kShareOfSearch / most), of_stride(work, (1 - kShareOfSearch) / most);
      auto candidate = best_stride(chosen.front, &of_search);
      if (!candidate) return;
      const std::uint64_t bits = set_best_orders(*candidate, &of_stride);
      if (!take({*candidate, bits}, chosen)) return;
    }
  }

 private:
  ResidualSource source_of(const Front& front) const { return {column_, front}; }

  OrderEffort effort() const { return {policy_.orders.highest, policy_.orders.groups}; }
  OrderEffort quick_effort() const { return {kQuickOrder, quick_groups(policy_.orders.groups)}; }

  // The orders that suit map and strides best; returns what they cost.
  std::uint64_t set_best_orders(Front& front, Work* work) const {
    const LaneOrders lanes =
        choose_orders(source_of(front), settings_.order, effort(), workers_, work);
    std::copy_n(lanes.orders, column_.column.tuple, front.orders);
    return lanes.bits;
  }

  // The lane that costs most gains most from a stride.
  int widest_lane(const Front& front) const {
    const ResidualSource source = source_of(front);
    int widest = 0;
    std::uint64_t most = 0;
    for (int lane = 0; lane < column_.column.tuple; ++lane) {
      const std::uint64_t bits =
          lane_bits(source, lane, front.orders[lane], quick_effort(), workers_);
      if (bits > most) {
        most = bits;
        widest = lane;
      }
    }
    return widest;
  }

  bool fits(std::uint64_t stride) const {
    return stride >= 2 && stride <= longest_stride(column_.records);
  }

  static Front with_stride(Front front, std::uint32_t stride) {
    front.strides[front.num_strides++] = StrideLink{stride, 1};
    return front;
  }

  // The stride with the least cost by a quick look; nothing if none beats the front without.
  std::optional<Front> best_stride(const Front& before, Work* work) const {
    const auto quick_bits = [&](const Front& front) {
      return choose_orders(source_of(front), settings_.order, quick_effort(), workers_).bits;
    };
    std::uint64_t least = ~std::uint64_t{0};
    std::uint32_t best = 0;
    const auto is_best = [&](std::uint32_t stride) {
      const std::uint64_t bits = quick_bits(with_stride(before, stride));
      if (bits >= least) return false;
      least = bits;
      best = stride;
      return true;
    };
    const int lane = column_.column.tuple == 1 ? 0 : widest_lane(before);
    for (const std::uint32_t stride : find_strides(source_of(before), lane, policy_.strides, work))
      is_best(stride);
    for (const std::uint64_t told : {settings_.rows.row_records, settings_.rows.plane_records})
      if (fits(told)) is_best(static_cast<std::uint32_t>(told));
    const std::uint64_t without = quick_bits(before);
    if (best == 0 || !is_near_stride(least, without)) return std::nullopt;
    // A sample has found it, so what is best may lie beside it, and be much better.
    const std::uint32_t found = best;
    const auto moves_to = [&](std::uint32_t stride) { return fits(stride) && is_best(stride); };
    while (moves_to(best - 1)) continue;
    if (best == found)
      while (moves_to(best + 1)) continue;
    if (least >= without) return std::nullopt;
    return with_stride(before, best);
  }

  // Whether the candidate is chosen, as it is if that saves enough.
  bool take(const StridedFront& candidate, StridedFront& chosen) const {
    if (!saves_a_pass(candidate.bits, chosen.bits, policy_.strides.gain_permille)) return false;
    chosen = candidate;
    return true;
  }

  void take_better(const TriedStrides& tried, StridedFront& chosen) const {
    std::optional<StridedFront> better;
    for (const std::uint64_t stride : {tried.stride, tried.other}) {
      if (!fits(stride)) continue;
      StridedFront candidate{with_stride(chosen.front, static_cast<std::uint32_t>(stride))};
      candidate.bits = set_best_orders(candidate.front, nullptr);
      if (!better || candidate.bits < better->bits) better = candidate;
    }
    if (better) take(*better, chosen);
  }

  const ColumnBytes& column_;
  const EncodeSettings& settings_;
  const LevelPolicy& policy_;
  Workers& workers_;
};

// Whether both look for the same ones.
bool look_alike(const LevelPolicy& one, const LevelPolicy& other) {
  return one.strides.most == other.strides.most && one.strides.longest == other.strides.longest &&
         one.strides.comparisons == other.strides.comparisons &&
         one.strides.gain_permille == other.strides.gain_permille &&
         one.orders.groups == other.orders.groups;
}

bool have_same_strides(const Front& one, const Front& other) {
  return std::equal(one.strides, one.strides + one.num_strides, other.strides,
                    other.strides + other.num_strides,
                    [](const StrideLink& a, const StrideLink& b) {
                      return a.stride == b.stride && a.order == b.order;
                    });
}

}  // namespace

void choose_strides(const ColumnBytes& column, const EncodeSettings& settings, Workers& workers,
                    StridedFront& chosen, Work* work) {
  if (settings.residuals) return;
  StrideChooser(column, settings, workers).choose(chosen, work);
}

std::vector<Front> strided_fronts_of_lower_levels(const ColumnBytes& column,
                                                  const EncodeSettings& settings, Workers& workers,
                                                  const Front& chosen) {
  std::vector<Front> fronts;
  const auto add = [&](Front front, std::uint8_t strides) {
    front.num_strides = strides;
    const auto is_same = [&](const Front& other) { return have_same_strides(front, other); };
    if (strides > 0 && !is_same(chosen) && std::none_of(fronts.begin(), fronts.end(), is_same))
      fronts.push_back(front);
  };
  EncodeSettings lower = settings;
  for (lower.level = settings.level - 1; lower.level >= kLowestLevel; --lower.level) {
    const LevelPolicy& policy = level_policy(lower.level);
    if (policy.strides.most == 0 || look_alike(policy, level_policy(lower.level + 1))) continue;
    const PlainFronts plain = choose_plain_fronts(column, lower, workers);
    StridedFront found{plain.best_front(), plain.bits};
    choose_strides(column, lower, workers, found);
    add(found.front, found.front.num_strides);
    add(found.front, std::min<std::uint8_t>(found.front.num_strides, 1));
  }
  return fronts;
}

}  // namespace gdelta
