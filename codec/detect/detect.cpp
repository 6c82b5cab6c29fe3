#include "codec/detect/detect.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "codec/detect/float_evidence.h"
#include "codec/detect/lag_cost.h"
#include "codec/detect/layout_cost.h"
#include "codec/detect/sample_texture.h"
#include "codec/plan/levels.h"

namespace gdelta {

namespace {

constexpr int kWidths[] = {1, 2, 3, 4, 8};
constexpr auto kWiderWidths = std::span(kWidths).subspan(1);
constexpr int kMostPlainTuple = 8;
constexpr std::size_t kFewestBytes = 64;  // less gives no evidence

// At a first look by lag_costs, of the least cost: what a candidate may cost more, and what each place
// of a tuple counts for, since multiples of the right one do as well there.
constexpr std::uint64_t kCloseShare = 6, kPlaceShare = 64, kClearShare = 8;
constexpr std::size_t kMostOfAKind = 2;  // candidates of one width and byte order, unless shorter

struct Candidate {
  Cut cut;
  std::uint64_t cost;
};

struct Look {
  Stretches stretches;
  int num_orders;  // 0: lag_costs, of all cuts at once
};

/// A first look at every cut, a longer one at the best of them.
struct Effort {
  Look first, second;
  std::size_t num_second;
  Stretches text;              // at least two, for whether it is text
  Stretches periods;           // at least two; none: periods are not looked for
  std::uint64_t records;       // that a sample must have for a period to count
  std::uint64_t float_values;  // whose exponents are looked at
};

/// Compressing a short stream takes less than a millisecond at the low levels, and looking at it should
/// take no longer. Up to so many bytes of a sample:
constexpr std::size_t kBriefBytes = 8 << 10, kPeekBytes = 24 << 10, kGlanceBytes = 128 << 10,
                      kShortBytes = 384 << 10;
constexpr Effort quick(Stretches first, Stretches second, std::size_t num_second, Stretches text,
                       Stretches periods, std::uint64_t float_values) {
  return {
      .first = {first, 0},
      .second = {second, 3},
      .num_second = num_second,
      .text = text,
      .periods = periods,
      .records = 20,
      .float_values = float_values,
  };
}
constexpr Effort kBrief = quick({2, 256}, {2, 512}, 3, {4, 256}, {}, 1 << 8);
constexpr Effort kPeek = quick({2, 1024}, {3, 1024}, 3, {4, 512}, {2, 256}, 1 << 8);
constexpr Effort kGlance = quick({2, 1024}, {4, 2048}, 5, {4, 1024}, {4, 256}, 1 << 10);
constexpr Effort kShort = quick({2, 1024}, {8, 2048}, 5, {4, 1024}, {4, 256}, 1 << 10);
constexpr Effort kQuick = quick({4, 1024}, {8, 4096}, 6, {4, 2048}, {4, 1024}, 1 << 10);
constexpr Effort kNormal{
    .first = {{8, 2048}, 3},
    .second = {{16, 4096}, 4},
    .num_second = 8,
    .text = {4, 8192},
    .periods = {4, 8192},
    .records = 4,
    .float_values = 1 << 12,
};
constexpr Effort kThorough{
    .first = {{12, 4096}, 3},
    .second = {{32, 8192}, 5},
    .num_second = 8,
    .text = {4, 16384},
    .periods = {4, 16384},
    .records = 4,
    .float_values = 1 << 14,
};

const Effort& effort_of(std::size_t sample_bytes, int level) {
  switch (level_policy(level).detection) {
    case DetectionEffort::thorough:
      return kThorough;
    case DetectionEffort::normal:
      return kNormal;
    case DetectionEffort::quick:
      break;
  }
  return sample_bytes < kBriefBytes    ? kBrief
         : sample_bytes < kPeekBytes   ? kPeek
         : sample_bytes < kGlanceBytes ? kGlance
         : sample_bytes < kShortBytes  ? kShort
                                       : kQuick;
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
    known_.push_back({cut, cost_of(sample_, cut, effort_.second)});
    return known_.back().cost;
  }

  Candidate cheapest_cut() {
    std::vector<Candidate> candidates = first_candidates();
    const auto is_cheaper = [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; };
    const bool by_lags = effort_.first.num_orders == 0;
    if (by_lags) {
      const std::uint64_t least =
          std::min_element(candidates.begin(), candidates.end(), is_cheaper)->cost;
      std::erase_if(candidates, [most = least + least / kCloseShare](const Candidate& candidate) {
        return candidate.cost > most;
      });
    }
    std::stable_sort(candidates.begin(), candidates.end(), is_cheaper);
    if (by_lags) candidates = finalists_of(candidates);
    candidates.resize(std::min(candidates.size(), effort_.num_second));
    for (Candidate& candidate : candidates)
      candidate.cost = ranked_cost(cost_of(candidate.cut), candidate.cut);
    return best_of(candidates);
  }

  /// Whether values begin where the cut says. Behind a head of odd length they do not; then the cut
  /// is an accident, which other stages may well undo better on plain bytes.
  bool is_aligned(const Candidate& found) const {
    for (std::size_t shift = 1; shift < found.cut.bytes; ++shift)
      for (const bool big_endian : {false, true}) {
        Cut cut = found.cut;
        cut.big_endian = big_endian;
        const std::uint64_t cost = cost_of(sample_.subspan(shift), cut, effort_.second);
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
            cost_of(cut) <= best.cost + best.cost / 4)
          return cut;
      }
    }
    return std::nullopt;
  }

 private:
  /// Keeps of sorted candidates those that may be the best: of each width and byte order the cheapest few, and
  /// all that are shorter than every cheaper one.
  static std::vector<Candidate> finalists_of(const std::vector<Candidate>& sorted) {
    std::vector<Candidate> finalists;
    for (const Candidate& candidate : sorted) {
      std::size_t cheaper = 0;
      bool is_shorter = true;
      for (const Candidate& other : finalists) {
        if (other.cut.bytes != candidate.cut.bytes ||
            other.cut.big_endian != candidate.cut.big_endian)
          continue;
        ++cheaper;
        is_shorter &= candidate.cut.tuple < other.cut.tuple;
      }
      if (is_shorter || cheaper < kMostOfAKind) finalists.push_back(candidate);
    }
    return finalists;
  }

  std::uint64_t cost_of(std::span<const std::byte> sample, const Cut& cut, const Look& look) const {
    return layout_cost(sample, cut, look.stretches, look.num_orders, &work_.groups);
  }

  /// Every cut worth a look. The position in the list is the candidate's id.
  std::vector<Cut> candidate_cuts() const {
    std::vector<Cut> cuts;
    cuts.reserve(4 * std::size(kWidths) * kMostPlainTuple);
    const auto add = [&](int bytes, std::uint64_t tuple) {
      for (const bool big_endian : {false, true})
        if (bytes > 1 || !big_endian)
          cuts.push_back(
              {static_cast<std::uint8_t>(bytes), static_cast<std::uint8_t>(tuple), big_endian});
    };
    for (const int bytes : kWidths)
      for (std::uint64_t tuple = 1; tuple <= kMostPlainTuple; ++tuple) add(bytes, tuple);
    const std::uint64_t longest =
        std::min<std::uint64_t>(kMostPeriod, sample_.size() / effort_.records);
    for (const std::uint64_t period : byte_periods(sample_, effort_.periods, longest))
      for (const int bytes : kWidths) {
        const auto width = static_cast<std::uint64_t>(bytes);
        const std::uint64_t tuple = period / width;
        if (period % width == 0 && tuple > kMostPlainTuple && tuple <= kMaxTuple) add(bytes, tuple);
      }
    return cuts;
  }

  std::vector<Candidate> first_candidates() const {
    std::vector<Candidate> candidates;
    const std::vector<Cut> cuts = candidate_cuts();
    candidates.reserve(cuts.size());
    for (const Cut& cut : cuts) candidates.push_back({cut, kUnknownCost});
    if (effort_.first.num_orders == 0) {
      const std::uint64_t of_bytes = add_lag_costs(1, false, candidates);
      std::uint64_t least = of_bytes;
      for (const int bytes : kWiderWidths)
        least = std::min(least, add_lag_costs(bytes, false, candidates));
      // What is predicted well is not in reverse.
      if (least + least / kClearShare > of_bytes)
        for (const int bytes : kWiderWidths) add_lag_costs(bytes, true, candidates);
      for (Candidate& candidate : candidates)
        candidate.cost += candidate.cost / kPlaceShare *
                          std::min<std::uint64_t>(candidate.cut.tuple, kMostPlainTuple);
    } else {
      for (Candidate& candidate : candidates)
        candidate.cost = cost_of(sample_, candidate.cut, effort_.first);
    }
    for (Candidate& candidate : candidates)
      candidate.cost = ranked_cost(candidate.cost, candidate.cut);
    return candidates;
  }

  /// Returns the least of them.
  std::uint64_t add_lag_costs(int bytes, bool big_endian,
                              std::vector<Candidate>& candidates) const {
    const auto belongs = [&](const Candidate& candidate) {
      return candidate.cut.bytes == bytes && candidate.cut.big_endian == big_endian;
    };
    std::vector<std::uint8_t> tuples;
    for (const Candidate& candidate : candidates)
      if (belongs(candidate)) tuples.push_back(candidate.cut.tuple);
    const auto costs = lag_costs(sample_, bytes, big_endian, effort_.first.stretches, tuples);
    auto cost = costs.begin();
    for (Candidate& candidate : candidates)
      if (belongs(candidate)) candidate.cost = *cost++;
    return *std::min_element(costs.begin(), costs.end());
  }

  std::span<const std::byte> sample_;
  const Effort& effort_;
  DetectionWork& work_;
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
  constexpr std::uint64_t kRawCost = std::uint64_t{8} << 16;
  const std::uint64_t bytes_cost = std::min(detection.cost_of(Cut{}), kRawCost);
  if (bytes_cost <= kRawCost / 32) return byte_layout();  // all but constant
  Candidate best = detection.cheapest_cut();
  const bool no_gain = best.cost + best.cost / 32 > bytes_cost;
  const bool little_gain = best.cost + best.cost / 6 > bytes_cost;
  if (no_gain || (little_gain && !detection.is_aligned(best))) best = {Cut{}, bytes_cost};

  if (const auto floats = detection.floats_instead_of(best))
    return layout_of(floats->bytes == 8 ? ValueType::f64 : ValueType::f32, *floats);
  if (best.cut.bytes == 2)
    if (const auto type = short_float_type(sample, best.cut, effort.float_values))
      return layout_of(*type, best.cut);
  return layout_of(integer_type(best.cut.bytes), best.cut);
}

}  // namespace gdelta
