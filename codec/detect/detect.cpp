#include "codec/detect/detect.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "codec/detect/byte_repetition.h"
#include "codec/detect/float_evidence.h"
#include "codec/detect/lag_cost.h"
#include "codec/detect/layout_cost.h"
#include "codec/detect/sample_texture.h"
#include "codec/plan/levels.h"

namespace gdelta {

namespace {

constexpr int kPowerWidths[] = {2, 4, 8};
constexpr int kThrees[] = {3};
constexpr int kMostPlainTuple = 8;
constexpr std::size_t kFewestBytes = 64;  // less gives no evidence

// At a first look by lag_costs, of the least cost: what each place of a tuple counts for, since multiples
// of the right one do as well there; what tells that values need not be tried in reverse, or as three bytes.
constexpr std::uint64_t kPlaceShare = 64, kPredictedShare = 32, kThreesShare = 8;

struct Candidate {
  Cut cut;
  std::uint64_t cost;
};

/// What is looked at: first every cut by lag_costs, then the best of them longer, by layout_cost.
struct Effort {
  Stretches first, second;
  int num_orders;  // at the second
  std::size_t num_second;
  std::uint64_t close_share;  // of the least cost at the first look, that a candidate may cost more
  std::size_t most_of_a_kind;  // of one width and byte order, unless shorter
  // Of records of one length, narrower values get no second look, floats none in reverse.
  bool believes_first;
  Stretches text;              // at least two, for whether it is text
  Stretches periods;           // at least two; none: periods are not looked for
  std::uint64_t records;       // that a sample must have for a period to count
  std::uint64_t float_values;  // whose exponents are looked at
  Stretches frames =
      {};  // where values are not clearly the best, for whether bytes repeat more; none: that is not asked
};

/// For samples of fewer bytes. Looking at a stream should take no longer than compressing it does, which
/// for short ones at the low levels is some microseconds.
struct SizedEffort {
  std::size_t below;
  Effort effort;
};
constexpr std::size_t kAnyLength = kMostSampleBytes + 1;
constexpr SizedEffort kQuick[] = {
    {.below = 3 << 10,
     .effort = {.first = {1, 256},
                .second = {1, 512},
                .num_orders = 3,
                .num_second = 2,
                .close_share = 12,
                .most_of_a_kind = 1,
                .believes_first = true,
                .text = {2, 128},
                .periods = {},
                .records = 20,
                .float_values = 1 << 6}},
    {.below = 8 << 10,
     .effort = {.first = {2, 256},
                .second = {2, 512},
                .num_orders = 3,
                .num_second = 3,
                .close_share = 12,
                .most_of_a_kind = 2,
                .believes_first = true,
                .text = {2, 256},
                .periods = {},
                .records = 20,
                .float_values = 1 << 7}},
    {.below = 24 << 10,
     .effort = {.first = {2, 1024},
                .second = {2, 1024},
                .num_orders = 3,
                .num_second = 3,
                .close_share = 6,
                .most_of_a_kind = 2,
                .believes_first = true,
                .text = {4, 256},
                .periods = {2, 256},
                .records = 48,
                .float_values = 1 << 7}},
    {.below = 128 << 10,
     .effort = {.first = {2, 1024},
                .second = {4, 2048},
                .num_orders = 3,
                .num_second = 5,
                .close_share = 6,
                .most_of_a_kind = 2,
                .believes_first = true,
                .text = {4, 1024},
                .periods = {4, 256},
                .records = 20,
                .float_values = 1 << 10}},
    {.below = 384 << 10,
     .effort = {.first = {2, 1024},
                .second = {8, 2048},
                .num_orders = 3,
                .num_second = 5,
                .close_share = 6,
                .most_of_a_kind = 2,
                .believes_first = true,
                .text = {4, 1024},
                .periods = {4, 256},
                .records = 20,
                .float_values = 1 << 10}},
    {.below = kAnyLength,
     .effort = {.first = {4, 1024},
                .second = {8, 4096},
                .num_orders = 3,
                .num_second = 6,
                .close_share = 6,
                .most_of_a_kind = 2,
                .believes_first = true,
                .text = {4, 2048},
                .periods = {4, 1024},
                .records = 20,
                .float_values = 1 << 10}},
};
constexpr SizedEffort kNormal[] = {
    {.below = 24 << 10,
     .effort = {.first = {8, 1024},
                .second = {8, 2048},
                .num_orders = 4,
                .num_second = 5,
                .close_share = 6,
                .most_of_a_kind = 4,
                .believes_first = false,
                .text = {4, 1024},
                .periods = {4, 1024},
                .records = 4,
                .float_values = 1 << 10,
                .frames = {2, 16384}}},
    {.below = 128 << 10,
     .effort = {.first = {8, 2048},
                .second = {12, 4096},
                .num_orders = 4,
                .num_second = 5,
                .close_share = 6,
                .most_of_a_kind = 4,
                .believes_first = false,
                .text = {4, 2048},
                .periods = {4, 8192},
                .records = 4,
                .float_values = 1 << 11,
                .frames = {2, 32768}}},
    {.below = kAnyLength,
     .effort = {.first = {8, 2048},
                .second = {16, 4096},
                .num_orders = 4,
                .num_second = 8,
                .close_share = 6,
                .most_of_a_kind = 4,
                .believes_first = false,
                .text = {4, 8192},
                .periods = {4, 8192},
                .records = 4,
                .float_values = 1 << 12,
                .frames = {4, 32768}}},
};
constexpr SizedEffort kThorough[] = {
    kNormal[0],
    kNormal[1],
    {.below = 384 << 10,
     .effort = {.first = {8, 4096},
                .second = {20, 8192},
                .num_orders = 4,
                .num_second = 6,
                .close_share = 6,
                .most_of_a_kind = 4,
                .believes_first = false,
                .text = {4, 16384},
                .periods = {4, 16384},
                .records = 4,
                .float_values = 1 << 14,
                .frames = {4, 32768}}},
    {.below = kAnyLength,
     .effort = {.first = {12, 4096},
                .second = {32, 8192},
                .num_orders = 5,
                .num_second = 8,
                .close_share = 6,
                .most_of_a_kind = 4,
                .believes_first = false,
                .text = {4, 16384},
                .periods = {4, 16384},
                .records = 4,
                .float_values = 1 << 14,
                .frames = {4, 65536}}},
};

std::span<const SizedEffort> efforts_of(DetectionEffort detection) {
  switch (detection) {
    case DetectionEffort::thorough:
      return kThorough;
    case DetectionEffort::normal:
      return kNormal;
    case DetectionEffort::quick:
      break;
  }
  return kQuick;
}

const Effort& effort_of(std::size_t sample_bytes, int level) {
  const auto efforts = efforts_of(level_policy(level).detection);
  return std::find_if(efforts.begin(), efforts.end(),
                      [&](const SizedEffort& sized) { return sample_bytes < sized.below; })
      ->effort;
}

/// A tuple that only repetition hints at must earn its length: a stride over short tuples finds the
/// same repetition, without taking so much history for each value.
std::uint64_t ranked_cost(std::uint64_t cost, const Cut& cut) {
  return cut.tuple > kMostPlainTuple ? cost + cost / 8 : cost;
}

/// The cheapest candidate. Costs within 1/64 count as equal: then shorter records go first, wider
/// values next, the lower id last.
Candidate best_of(const std::vector<Candidate>& candidates) {
  std::uint64_t least = candidates.front().cost;
  for (const Candidate& candidate : candidates) least = std::min(least, candidate.cost);
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates) {
    if (candidate.cost > least + least / 64) continue;
    const auto rank = [](const Cut& cut) { return std::pair(cut.record_bytes(), -int{cut.bytes}); };
    if (!best || rank(candidate.cut) < rank(best->cut)) best = &candidate;
  }
  return *best;
}

/// Looks at one sample.
class Detection {
 public:
  Detection(std::span<const std::byte> sample, const Effort& effort, DetectionWork& work)
      : sample_(sample), effort_(effort), work_(work) {}

  /// Estimates it by a second look.
  std::uint64_t cost_of(const Cut& cut) {
    for (const Candidate& known : known_)
      if (known.cut == cut) return known.cost;
    known_.push_back({cut, cost_of(sample_, cut)});
    return known_.back().cost;
  }

  Candidate cheapest_cut() {
    std::vector<Candidate> candidates = first_candidates();
    const std::uint64_t of_bytes = candidates.front().cost;
    candidates = finalists_of(std::move(candidates));
    is_clear_ = 2 * candidates.front().cost < of_bytes;
    candidates.resize(std::min(candidates.size(), effort_.num_second));
    if (effort_.believes_first) candidates = without_outdone(candidates);
    if (is_clear_ && candidates.size() == 1) return {candidates.front().cut, kUnknownCost};
    for (Candidate& candidate : candidates)
      candidate.cost = ranked_cost(cost_of(candidate.cut), candidate.cut);
    return best_of(candidates);
  }

  /// Whether the first look left no doubt that plain bytes take more.
  bool is_clear() const { return is_clear_; }

  /// Whether values begin where the cut says. Behind a head of odd length they do not; then the cut
  /// is an accident, which other stages may well undo better on plain bytes.
  bool is_aligned(const Candidate& found) const {
    for (std::size_t shift = 1; shift < found.cut.bytes; ++shift)
      for (const bool big_endian : {false, true}) {
        Cut cut = found.cut;
        cut.big_endian = big_endian;
        const std::uint64_t cost = cost_of(sample_.subspan(shift), cut);
        if (cost + found.cost / 64 < found.cost) return false;
      }
    return true;
  }

  /// Floats whose bits say so are taken for what they are, though parts of them, or their bytes
  /// reversed, may pack better as integers: coders and maps that know floats gain more than that.
  std::optional<Cut> floats_instead_of(const Candidate& best) {
    for (const std::uint64_t bytes : {8, 4}) {
      const std::uint64_t record_bytes = std::max(best.cut.record_bytes(), bytes);
      if (bytes < best.cut.bytes || record_bytes % bytes != 0) continue;
      for (const bool big_endian : {false, true}) {
        const Cut cut{static_cast<std::uint8_t>(bytes),
                      static_cast<std::uint8_t>(record_bytes / bytes), big_endian};
        if (looks_like_floats(sample_, cut, effort_.float_values) &&
            (cut == best.cut || cost_of(cut) <= most_for_floats(best)))
          return cut;
      }
    }
    return std::nullopt;
  }

 private:
  /// What floats may cost in the place of the best.
  std::uint64_t most_for_floats(const Candidate& best) {
    const std::uint64_t cost =
        best.cost == kUnknownCost ? ranked_cost(cost_of(best.cut), best.cut) : best.cost;
    return cost + cost / 4;
  }

  /// Whether the first look leaves little hope for the second cut, which took more: the first are plain bytes,
  /// or its records are made of those of the first, of values as wide or narrower.
  static bool outdoes(const Cut& first, const Cut& second) {
    if (first == Cut{}) return true;
    return second.bytes <= first.bytes && second.record_bytes() % first.record_bytes() == 0 &&
           (second.big_endian == first.big_endian || second.bytes == 1);
  }
  static std::vector<Candidate> without_outdone(const std::vector<Candidate>& candidates) {
    std::vector<Candidate> left;
    left.reserve(candidates.size());
    for (const Candidate& candidate : candidates)
      if (std::ranges::none_of(
              left, [&](const Candidate& cheaper) { return outdoes(cheaper.cut, candidate.cut); }))
        left.push_back(candidate);
    return left;
  }

  /// Keeps candidates that may be the best, the cheapest first: of each width and byte order the cheapest few,
  /// and all that are shorter than every cheaper one.
  std::vector<Candidate> finalists_of(std::vector<Candidate> candidates) const {
    const auto is_cheaper = [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; };
    const std::uint64_t least =
        std::min_element(candidates.begin(), candidates.end(), is_cheaper)->cost;
    std::erase_if(candidates, [most = least + least / effort_.close_share](
                                  const Candidate& candidate) { return candidate.cost > most; });
    std::stable_sort(candidates.begin(), candidates.end(), is_cheaper);
    std::vector<Candidate> finalists;
    finalists.reserve(candidates.size());
    for (const Candidate& candidate : candidates) {
      std::size_t cheaper = 0;
      bool is_shorter = true;
      for (const Candidate& other : finalists) {
        if (other.cut.bytes != candidate.cut.bytes ||
            other.cut.big_endian != candidate.cut.big_endian)
          continue;
        ++cheaper;
        is_shorter &= candidate.cut.tuple < other.cut.tuple;
      }
      if (is_shorter || cheaper < effort_.most_of_a_kind) finalists.push_back(candidate);
    }
    return finalists;
  }

  std::uint64_t cost_of(std::span<const std::byte> sample, const Cut& cut) const {
    return layout_cost(sample, cut, effort_.second, effort_.num_orders, &work_.groups);
  }

  /// Tuples of values of this width that are worth a look, in a room that holds the most of them.
  using Tuples = std::array<std::uint8_t, kMostPlainTuple + kMostPeriods>;
  static std::span<const std::uint8_t> tuples_of(int bytes, std::span<const std::uint64_t> periods,
                                                 Tuples& room) {
    std::iota(room.begin(), room.begin() + kMostPlainTuple, std::uint8_t{1});
    std::size_t count = kMostPlainTuple;
    const auto width = static_cast<std::uint64_t>(bytes);
    for (const std::uint64_t period : periods)
      if (const std::uint64_t tuple = period / width;
          period % width == 0 && tuple > kMostPlainTuple && tuple <= kMaxTuple)
        room[count++] = static_cast<std::uint8_t>(tuple);
    return std::span(room).first(count);
  }

  std::vector<Candidate> first_candidates() const {
    const std::uint64_t longest =
        std::min<std::uint64_t>(kMostPeriod, sample_.size() / effort_.records);
    const auto periods = byte_periods(sample_, effort_.periods, longest);
    std::vector<Candidate> candidates;
    candidates.reserve(9 * (kMostPlainTuple + periods.size()));
    const std::uint64_t of_bytes = add_candidates(1, false, periods, candidates);
    std::uint64_t least = of_bytes;
    const auto add_all = [&](std::span<const int> widths, bool big_endian) {
      for (const int bytes : widths)
        least = std::min(least, add_candidates(bytes, big_endian, periods, candidates));
    };
    // What is predicted well is of no other width or byte order.
    const auto is_predicted = [&] { return least + least / kPredictedShare <= of_bytes; };
    add_all(kPowerWidths, false);
    // Values of three bytes are like others three bytes before, if they are alone or pairs.
    const std::uint64_t of_threes = std::min(candidates[3 - 1].cost, candidates[6 - 1].cost);
    if (!is_predicted() || of_threes <= of_bytes + of_bytes / kThreesShare) add_all(kThrees, false);
    if (!is_predicted() && !(effort_.believes_first && are_plain_floats())) {
      add_all(kPowerWidths, true);
      add_all(kThrees, true);
    }
    return candidates;
  }

  /// Whether the bytes look like floats as they stand, which they would not in reverse.
  bool are_plain_floats() const {
    return std::ranges::any_of(std::array<std::uint8_t, 2>{8, 4}, [&](std::uint8_t bytes) {
      return looks_like_floats(sample_, Cut{.bytes = bytes}, effort_.float_values);
    });
  }

  /// Returns the least of their costs, before tuples count for what they are.
  std::uint64_t add_candidates(int bytes, bool big_endian, std::span<const std::uint64_t> periods,
                               std::vector<Candidate>& candidates) const {
    Tuples room;
    const std::span<const std::uint8_t> tuples = tuples_of(bytes, periods, room);
    std::array<std::uint64_t, std::tuple_size_v<Tuples>> costs{};
    lag_costs(sample_, bytes, big_endian, effort_.first, tuples, costs);
    for (std::size_t i = 0; i < tuples.size(); ++i) {
      const Cut cut{static_cast<std::uint8_t>(bytes), tuples[i], big_endian};
      const std::uint64_t of_places =
          costs[i] / kPlaceShare * std::min<std::uint64_t>(cut.tuple, kMostPlainTuple);
      candidates.push_back({cut, ranked_cost(costs[i] + of_places, cut)});
    }
    return *std::min_element(costs.begin(), costs.begin() + tuples.size());
  }

  std::span<const std::byte> sample_;
  const Effort& effort_;
  DetectionWork& work_;
  bool is_clear_ = false;
  std::vector<Candidate> known_;  // what the second look said so far
};

ValueType integer_type(int bytes) {
  switch (bytes) {
    case 1:
      return ValueType::u8;
    case 2:
      return ValueType::i16;
    case 3:
      return ValueType::i24;
    case 4:
      return ValueType::i32;
    default:
      return ValueType::i64;
  }
}

Layout layout_of(ValueType type, const Cut& cut) {
  return Layout{{Column{type, cut.tuple, cut.big_endian}}};
}

}  // namespace

Layout detect_layout(std::span<const std::byte> sample, int level, DetectionWork* work) {
  sample = sample.first(std::min(sample.size(), kMostSampleBytes));
  const Effort& effort = effort_of(sample.size(), level);
  if (sample.size() < kFewestBytes || looks_like_text(sample, effort.text)) return byte_layout();

  DetectionWork not_asked;
  Detection detection(sample, effort, work ? *work : not_asked);
  Candidate best = detection.cheapest_cut();
  if (!detection.is_clear()) {
    constexpr std::uint64_t kRawCost = std::uint64_t{8} << 16;
    const std::uint64_t bytes_cost = std::min(detection.cost_of(Cut{}), kRawCost);
    if (bytes_cost <= kRawCost / 32) return byte_layout();  // all but constant
    const bool no_gain = best.cost + best.cost / 32 > bytes_cost;
    const bool little_gain = best.cost + best.cost / 6 > bytes_cost;
    if (no_gain || (little_gain && !detection.is_aligned(best))) best = {Cut{}, bytes_cost};
  }

  if (const auto floats = detection.floats_instead_of(best))
    return layout_of(floats->bytes == 8 ? ValueType::f64 : ValueType::f32, *floats);
  Layout integers = layout_of(integer_type(best.cut.bytes), best.cut);
  if (!detection.is_clear() && best.cut.bytes > 1 &&
      bytes_repeat_more(sample, integers.columns[0], best.cost, effort.frames))
    return byte_layout();
  if (best.cut.bytes == 2)
    if (const auto type = short_float_type(sample, best.cut, effort.float_values))
      return layout_of(*type, best.cut);
  return integers;
}

}  // namespace gdelta
