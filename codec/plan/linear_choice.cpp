#include "codec/plan/linear_choice.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <vector>

#include "kernels/linear/linear_fit.h"

namespace gdelta {
namespace {

constexpr int kSolutions = 3;
constexpr int kUsualRunBits = 12;
constexpr std::uint8_t kShifts[] = {8, 10, 12};
constexpr std::size_t kUsualShift = 1;  // of these
constexpr std::int64_t kTapBits = 24;   // base and width
constexpr std::int64_t kOne = 256;      // costs are counted in such parts of a bit

// Taps on the lane itself and on each of those before it.
struct TapCounts {
  std::uint8_t own;
  std::uint8_t of_source;
  std::uint8_t sources;
};
// The first ones are tried at every level. GPUs have places for these (tap_places in kernels/linear/linear_taps.cuh) and
// are slow with others.
constexpr TapCounts kAlone[] = {{16, 0, 0}, {8, 0, 0}, {24, 0, 0}, {32, 0, 0}};
constexpr TapCounts kWithOthers[] = {{16, 8, 1},  {8, 4, 1},  {16, 0, 0},
                                     {20, 12, 1}, {24, 8, 1}, {12, 6, 2}};

LinearLane lane_of(const TapCounts& counts, int lane, std::uint8_t shift) {
  LinearLane shape{.own = counts.own, .num_sources = 0, .shift = shift, .sources = {}};
  const int sources = std::min<int>(counts.sources, lane);
  for (int back = sources; back > 0; --back)
    shape.sources[shape.num_sources++] = {static_cast<std::uint8_t>(lane - back), counts.of_source};
  return shape;
}

std::span<const TapCounts> counts_of(int lane, const LinearPolicy& policy) {
  const std::span<const TapCounts> all =
      lane == 0 ? std::span<const TapCounts>(kAlone) : std::span<const TapCounts>(kWithOthers);
  return all.first(std::min(all.size(), policy.shapes));
}

LinearLane widest_of(std::span<const TapCounts> counts, int lane) {
  TapCounts most{};
  for (const TapCounts& next : counts) {
    most.own = std::max(most.own, next.own);
    most.of_source = std::max(most.of_source, next.of_source);
    most.sources = std::max(most.sources, next.sources);
  }
  return lane_of(most, lane, 0);
}

// What a shape costs in the runs that are looked at.
struct ShapeCost {
  std::int64_t bits = 0;  // of residuals
  std::int16_t least[kMaxLinearTaps];
  std::int16_t most[kMaxLinearTaps];

  ShapeCost() {
    std::fill_n(least, kMaxLinearTaps, std::numeric_limits<std::int16_t>::max());
    std::fill_n(most, kMaxLinearTaps, std::numeric_limits<std::int16_t>::min());
  }
  void add(const FittedLane& fitted) {
    bits += fitted.bits;
    for (int tap = 0; tap < kMaxLinearTaps; ++tap) {
      least[tap] = std::min(least[tap], fitted.coefficients[tap]);
      most[tap] = std::max(most[tap], fitted.coefficients[tap]);
    }
  }
  void add(const ShapeCost& other) {
    bits += other.bits;
    for (int tap = 0; tap < kMaxLinearTaps; ++tap) {
      least[tap] = std::min(least[tap], other.least[tap]);
      most[tap] = std::max(most[tap], other.most[tap]);
    }
  }
  // Counts the coefficients of `runs` runs, too.
  std::int64_t all(const LinearLane& shape, std::int64_t runs) const {
    std::int64_t bits_of_run = 0;
    for (int tap = 0; tap < shape.taps(); ++tap)
      bits_of_run += std::bit_width(static_cast<unsigned>(most[tap] - least[tap]));
    return bits + (runs * bits_of_run + shape.taps() * kTapBits) * kOne;
  }
};

// What a lane is tried with: each of the shapes at each of the shifts.
struct LaneShapes {
  std::vector<LinearLane> shapes;
  std::vector<std::uint8_t> shifts;
};

// A lane under shapes and shifts, and under deltas, in the runs that are looked at.
struct LaneCost {
  explicit LaneCost(const LaneShapes& tried = {})
      : shapes(tried.shapes.size() * tried.shifts.size()) {}
  void add(const LaneCost& other) {
    for (std::size_t k = 0; k < shapes.size(); ++k) shapes[k].add(other.shapes[k]);
    for (int order = 0; order <= kMaxLinearDelta; ++order) deltas[order] += other.deltas[order];
  }
  std::int64_t bits(const LaneShapes& tried, std::size_t shape, std::size_t shift,
                    std::int64_t runs) const {
    return shapes[shape * tried.shifts.size() + shift].all(tried.shapes[shape], runs);
  }
  std::int64_t least_delta() const {
    return *std::min_element(std::begin(deltas), std::end(deltas));
  }
  std::vector<ShapeCost> shapes;
  std::int64_t deltas[kMaxLinearDelta + 1] = {};
};

class LinearChooser {
 public:
  LinearChooser(const LinearColumn& words, int tuple, bool is_unsigned, const LinearPolicy& policy,
                Workers& workers, Work* work)
      : words_(words),
        tuple_(tuple),
        is_unsigned_(is_unsigned),
        policy_(policy),
        workers_(workers),
        work_(work) {
    // Stretches of the longest runs, so that all lengths look at the same tuples.
    const std::uint64_t longest = std::uint64_t{1} << policy.most_run_bits;
    const std::uint64_t there = std::max<std::uint64_t>(words.tuples / longest, 1);
    const std::uint64_t looked_at = std::min<std::uint64_t>(there, policy.stretches);
    for (std::uint64_t k = 0; k < looked_at; ++k) {
      const std::uint64_t first = looked_at == 1 ? there / 2 : k * (there - 1) / (looked_at - 1);
      stretches_.push_back(first * longest);
    }
  }

  // Shapes are found for runs of one length, and kept for those of others.
  std::optional<LinearChoice> choose() const {
    LinearModel best{.run_bits = std::min(kUsualRunBits, policy_.most_run_bits),
                     .is_unsigned = is_unsigned_,
                     .lanes = {},
                     .coefficients = {}};
    std::int64_t most = set_lanes(best);
    const int usual = best.run_bits;
    for (int run_bits = policy_.least_run_bits; run_bits <= policy_.most_run_bits; ++run_bits) {
      const std::int64_t gain = run_bits == usual ? most : gain_of(run_bits, best.lanes);
      if (gain <= most) continue;
      most = gain;
      best.run_bits = run_bits;
    }
    if (most <= 0) return std::nullopt;
    std::uint64_t looked_at = 0;
    for (const std::uint64_t first : stretches_) looked_at += stretch_tuples(first);
    const std::uint64_t bytes_of_sample = static_cast<std::uint64_t>(most) / (8 * kOne);
    return LinearChoice{std::move(best), bytes_of_sample * words_.tuples / looked_at};
  }

 private:
  // Finds the shape of every lane; returns what that saves against the best deltas.
  std::int64_t set_lanes(LinearModel& model) const {
    std::vector<LaneShapes> shapes;
    for (int lane = 0; lane < tuple_; ++lane) {
      LaneShapes& of_lane = shapes.emplace_back();
      for (const TapCounts& counts : counts_of(lane, policy_))
        of_lane.shapes.push_back(lane_of(counts, lane, kShifts[kUsualShift]));
      of_lane.shifts.assign(std::begin(kShifts), std::end(kShifts));
    }
    const std::vector<LaneCost> costs = costs_of(model.run_bits, shapes);
    const auto runs = static_cast<std::int64_t>(sampled_runs(model.run_bits));
    std::int64_t gain = 0;
    for (std::size_t lane = 0; lane < shapes.size(); ++lane) {
      const LaneShapes& of_lane = shapes[lane];
      const auto bits = [&](std::size_t shape, std::size_t shift) {
        return costs[lane].bits(of_lane, shape, shift, runs);
      };
      // A shape is chosen at the usual shift.
      std::size_t shape = 0, shift = 0;
      for (std::size_t k = 1; k < of_lane.shapes.size(); ++k)
        if (bits(k, kUsualShift) < bits(shape, kUsualShift)) shape = k;
      for (std::size_t k = 1; k < of_lane.shifts.size(); ++k)
        if (bits(shape, k) < bits(shape, shift)) shift = k;
      gain += costs[lane].least_delta() - bits(shape, shift);
      model.lanes.push_back(of_lane.shapes[shape]);
      model.lanes.back().shift = of_lane.shifts[shift];
    }
    return gain;
  }

  // What these lanes save in runs of some length.
  std::int64_t gain_of(int run_bits, const std::vector<LinearLane>& lanes) const {
    std::vector<LaneShapes> shapes;
    shapes.reserve(lanes.size());
    for (const LinearLane& lane : lanes)
      shapes.push_back({.shapes = {lane}, .shifts = {lane.shift}});
    const std::vector<LaneCost> costs = costs_of(run_bits, shapes);
    const auto runs = static_cast<std::int64_t>(sampled_runs(run_bits));
    std::int64_t gain = 0;
    for (std::size_t lane = 0; lane < shapes.size(); ++lane)
      gain += costs[lane].least_delta() - costs[lane].bits(shapes[lane], 0, 0, runs);
    return gain;
  }

  std::uint64_t stretch_tuples(std::uint64_t first) const {
    return std::min(std::uint64_t{1} << policy_.most_run_bits, words_.tuples - first);
  }
  std::uint64_t sampled_runs(int run_bits) const {
    std::uint64_t runs = 0;
    for (const std::uint64_t first : stretches_)
      runs += (stretch_tuples(first) + (std::uint64_t{1} << run_bits) - 1) >> run_bits;
    return runs;
  }

  std::vector<LaneCost> costs_of(int run_bits, const std::vector<LaneShapes>& shapes) const {
    std::vector<std::vector<LaneCost>> of_stretches(stretches_.size());
    // One look for shapes, and one for each other length of runs.
    const double looks = 1 + policy_.most_run_bits - policy_.least_run_bits;
    workers_.for_each(stretches_.size(), [&](std::size_t k) {
      const WorkPart of_stretch(work_, 1 / (looks * static_cast<double>(stretches_.size())));
      of_stretches[k] = costs_of_stretch(stretches_[k], run_bits, shapes);
    });
    std::vector<LaneCost> costs = std::move(of_stretches.front());
    for (std::size_t k = 1; k < of_stretches.size(); ++k)
      for (std::size_t lane = 0; lane < costs.size(); ++lane)
        costs[lane].add(of_stretches[k][lane]);
    return costs;
  }

  std::vector<LaneCost> costs_of_stretch(std::uint64_t begin, int run_bits,
                                         const std::vector<LaneShapes>& shapes) const {
    std::vector<LaneCost> costs;
    costs.reserve(shapes.size());
    for (const LaneShapes& of_lane : shapes) costs.emplace_back(of_lane);
    const std::uint64_t end = begin + stretch_tuples(begin),
                        run_tuples = std::uint64_t{1} << run_bits;
    for (std::uint64_t first = begin; first < end; first += run_tuples) {
      const LinearStretch run(words_, tuple_, is_unsigned_, first,
                              std::min(run_tuples, end - first));
      for (int lane = 0; lane < tuple_; ++lane) {
        const LaneMoments moments(run, lane, widest_of(counts_of(lane, policy_), lane));
        LaneCost& cost = costs[static_cast<std::size_t>(lane)];
        const LaneShapes& of_lane = shapes[static_cast<std::size_t>(lane)];
        for (std::size_t shape = 0; shape < of_lane.shapes.size(); ++shape) {
          FittedLane fitted[std::size(kShifts)];
          moments.fit_shifts(of_lane.shapes[shape], of_lane.shifts, kSolutions, fitted);
          for (std::size_t shift = 0; shift < of_lane.shifts.size(); ++shift)
            cost.shapes[shape * of_lane.shifts.size() + shift].add(fitted[shift]);
        }
        for (int order = 0; order <= kMaxLinearDelta; ++order)
          cost.deltas[order] += moments.delta_bits(order);
      }
    }
    return costs;
  }

  const LinearColumn& words_;
  int tuple_;
  bool is_unsigned_;
  const LinearPolicy& policy_;
  Workers& workers_;
  Work* work_;
  std::vector<std::uint64_t> stretches_;
};

}  // namespace

std::optional<LinearChoice> choose_linear(const LinearColumn& words, int tuple, bool is_unsigned,
                                          const LinearPolicy& policy, Workers& workers,
                                          Work* work) {
  return LinearChooser(words, tuple, is_unsigned, policy, workers, work).choose();
}

}  // namespace gdelta
