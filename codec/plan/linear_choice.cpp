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
constexpr int kUsualShift = 10;
constexpr int kUsualRunBits = 12;
constexpr std::uint8_t kShifts[] = {8, 10, 12};
constexpr std::int64_t kTapBits = 24;  // base and width
constexpr std::int64_t kOne = 256;     // costs are counted in such parts of a bit

// Taps on the lane itself and on each of those before it.
struct TapCounts {
  std::uint8_t own;
  std::uint8_t of_source;
  std::uint8_t sources;
};
// The first ones are tried at every level.
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

// A lane under some shapes, and under deltas, in the runs that are looked at.
struct LaneCost {
  explicit LaneCost(std::size_t num_shapes = 0) : shapes(num_shapes) {}
  void add(const LaneCost& other) {
    for (std::size_t k = 0; k < shapes.size(); ++k) shapes[k].add(other.shapes[k]);
    for (int order = 0; order <= kMaxLinearDelta; ++order) deltas[order] += other.deltas[order];
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
  std::optional<LinearModel> choose() const {
    LinearModel best{.run_bits = std::min(kUsualRunBits, policy_.most_run_bits),
                     .is_unsigned = is_unsigned_,
                     .lanes = {},
                     .coefficients = {}};
    std::int64_t most = set_lanes(best);
    std::vector<std::vector<LinearLane>> shapes;
    for (const LinearLane& lane : best.lanes) shapes.push_back({lane});
    const int usual = best.run_bits;
    for (int run_bits = policy_.least_run_bits; run_bits <= policy_.most_run_bits; ++run_bits) {
      const std::int64_t gain = run_bits == usual ? most : keep_best(run_bits, shapes);
      if (gain <= most) continue;
      most = gain;
      best.run_bits = run_bits;
    }
    return most > 0 ? std::optional(best) : std::nullopt;
  }

 private:
  // Finds the shape of every lane; returns what that saves against the best deltas.
  std::int64_t set_lanes(LinearModel& model) const {
    std::vector<std::vector<LinearLane>> shapes;
    for (int lane = 0; lane < tuple_; ++lane) {
      shapes.emplace_back();
      for (const TapCounts& counts : counts_of(lane, policy_))
        shapes.back().push_back(lane_of(counts, lane, kUsualShift));
    }
    keep_best(model.run_bits, shapes);
    for (std::vector<LinearLane>& lane : shapes) {
      const LinearLane chosen = lane.front();
      lane.clear();
      for (const std::uint8_t shift : kShifts) {
        lane.push_back(chosen);
        lane.back().shift = shift;
      }
    }
    const std::int64_t gain = keep_best(model.run_bits, shapes);
    for (const std::vector<LinearLane>& lane : shapes) model.lanes.push_back(lane.front());
    return gain;
  }

  // Leaves the best shape of each lane.
  std::int64_t keep_best(int run_bits, std::vector<std::vector<LinearLane>>& shapes) const {
    const std::vector<LaneCost> costs = costs_of(run_bits, shapes);
    const auto runs = static_cast<std::int64_t>(sampled_runs(run_bits));
    std::int64_t gain = 0;
    for (std::size_t lane = 0; lane < shapes.size(); ++lane) {
      std::size_t best = 0;
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      for (std::size_t k = 0; k < shapes[lane].size(); ++k) {
        const std::int64_t bits = costs[lane].shapes[k].all(shapes[lane][k], runs);
        if (bits >= least) continue;
        least = bits;
        best = k;
      }
      gain +=
          *std::min_element(std::begin(costs[lane].deltas), std::end(costs[lane].deltas)) - least;
      shapes[lane] = {shapes[lane][best]};
    }
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

  std::vector<LaneCost> costs_of(int run_bits,
                                 const std::vector<std::vector<LinearLane>>& shapes) const {
    std::vector<std::vector<LaneCost>> of_stretches(stretches_.size());
    // Two looks for shapes, and one for each other length of runs.
    const double looks = 2 + policy_.most_run_bits - policy_.least_run_bits;
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
                                         const std::vector<std::vector<LinearLane>>& shapes) const {
    std::vector<LaneCost> costs;
    costs.reserve(shapes.size());
    for (const std::vector<LinearLane>& of_lane : shapes) costs.emplace_back(of_lane.size());
    const std::uint64_t end = begin + stretch_tuples(begin),
                        run_tuples = std::uint64_t{1} << run_bits;
    for (std::uint64_t first = begin; first < end; first += run_tuples) {
      const LinearStretch run(words_, tuple_, is_unsigned_, first,
                              std::min(run_tuples, end - first));
      for (int lane = 0; lane < tuple_; ++lane) {
        const LaneMoments moments(run, lane, widest_of(counts_of(lane, policy_), lane));
        LaneCost& cost = costs[static_cast<std::size_t>(lane)];
        const std::vector<LinearLane>& of_lane = shapes[static_cast<std::size_t>(lane)];
        for (std::size_t k = 0; k < of_lane.size(); ++k)
          cost.shapes[k].add(moments.fit(of_lane[k], kSolutions));
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

std::optional<LinearModel> choose_linear(const LinearColumn& words, int tuple, bool is_unsigned,
                                         const LinearPolicy& policy, Workers& workers, Work* work) {
  return LinearChooser(words, tuple, is_unsigned, policy, workers, work).choose();
}

}  // namespace gdelta
