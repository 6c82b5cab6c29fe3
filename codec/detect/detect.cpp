#include "codec/detect/detect.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "codec/detect/float_evidence.h"
#include "codec/detect/layout_cost.h"
#include "codec/detect/sample_texture.h"
#include "codec/plan/levels.h"

namespace gdelta {

namespace {

constexpr int kWidths[] = {1, 2, 3, 4, 8};
constexpr int kMostPlainTuple = 8;
constexpr std::size_t kFewestBytes = 64;  // less gives no evidence

struct Candidate {
  Cut cut;
  std::uint64_t cost;
};

struct Look {
  Stretches stretches;
  int num_orders;
};

/// A first look at every cut, a longer one at the best of them. Compressing a short stream is a
/// matter of a millisecond at the low levels, and looking at it should be no more.
struct Effort {
  Look first, second;
  std::size_t num_second;
  std::uint64_t texture_bytes;  // of a stretch, for text and periods
  std::uint64_t float_values;   // whose exponents are looked at
};

constexpr std::size_t kShortSample = 128 << 10;
constexpr Effort kGlance{
    .first = {{2, 1024}, 2},
    .second = {{4, 4096}, 3},
    .num_second = 5,
    .texture_bytes = 2048,
    .float_values = 1 << 10,
};
constexpr Effort kQuick{
    .first = {{4, 1024}, 2},
    .second = {{8, 4096}, 3},
    .num_second = 6,
    .texture_bytes = 4096,
    .float_values = 1 << 11,
};
constexpr Effort kNormal{
    .first = {{8, 2048}, 3},
    .second = {{16, 4096}, 4},
    .num_second = 8,
    .texture_bytes = 8192,
    .float_values = 1 << 12,
};
constexpr Effort kThorough{
    .first = {{12, 4096}, 3},
    .second = {{32, 8192}, 5},
    .num_second = 8,
    .texture_bytes = 16384,
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
  return sample_bytes < kShortSample ? kGlance : kQuick;
}

/// Every cut worth a look. The position in the list is the candidate's id.
std::vector<Cut> candidate_cuts(std::span<const std::byte> sample, const Effort& effort) {
  std::vector<Cut> cuts;
  const auto add = [&](int bytes, std::uint64_t tuple) {
    for (const bool big_endian : {false, true}) {
      if (bytes == 1 && big_endian) continue;
      const Cut cut{static_cast<std::uint8_t>(bytes), static_cast<std::uint8_t>(tuple), big_endian};
      if (std::find(cuts.begin(), cuts.end(), cut) == cuts.end()) cuts.push_back(cut);
    }
  };
  for (const int bytes : kWidths)
    for (std::uint64_t tuple = 1; tuple <= kMostPlainTuple; ++tuple) add(bytes, tuple);
  for (const std::uint64_t period : byte_periods(sample, effort.texture_bytes))
    for (const int bytes : kWidths) {
      const auto width = static_cast<std::uint64_t>(bytes);
      if (period % width == 0 && period / width <= kMaxTuple) add(bytes, period / width);
    }
  return cuts;
}

/// A tuple that only repetition hints at must earn its length: a stride over short tuples finds the
/// same repetition, without taking so much history for each value.
std::uint64_t ranked_cost(std::uint64_t cost, const Cut& cut) {
  return cut.tuple > kMostPlainTuple ? cost + cost / 8 : cost;
}

std::uint64_t cost_of(std::span<const std::byte> sample, const Cut& cut, const Look& look) {
  return layout_cost(sample, cut, look.stretches, look.num_orders);
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

Candidate cheapest_cut(std::span<const std::byte> sample, const Effort& effort) {
  std::vector<Candidate> candidates;
  for (const Cut& cut : candidate_cuts(sample, effort))
    candidates.push_back({cut, ranked_cost(cost_of(sample, cut, effort.first), cut)});
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
  candidates.resize(std::min(candidates.size(), effort.num_second));
  for (Candidate& candidate : candidates)
    candidate.cost = ranked_cost(cost_of(sample, candidate.cut, effort.second), candidate.cut);
  return best_of(candidates);
}

/// Whether values begin where the cut says. Behind a head of odd length they do not; then the cut
/// is an accident, which other stages may well undo better on plain bytes.
bool is_aligned(std::span<const std::byte> sample, const Candidate& found, const Effort& effort) {
  for (std::size_t shift = 1; shift < found.cut.bytes; ++shift)
    for (const bool big_endian : {false, true}) {
      Cut cut = found.cut;
      cut.big_endian = big_endian;
      const std::uint64_t cost = cost_of(sample.subspan(shift), cut, effort.second);
      if (cost + found.cost / 64 < found.cost) return false;
    }
  return true;
}

/// Floats whose bits say so are taken for what they are, though parts of them, or their bytes
/// reversed, may pack better as integers: coders and maps that know floats gain more than that.
Cut prefer_floats(std::span<const std::byte> sample, const Candidate& best, const Effort& effort) {
  for (const std::uint64_t bytes : {8, 4}) {
    const std::uint64_t record_bytes = std::max(best.cut.record_bytes(), bytes);
    if (bytes < best.cut.bytes || record_bytes % bytes != 0) continue;
    for (const bool big_endian : {false, true}) {
      const Cut cut{static_cast<std::uint8_t>(bytes),
                    static_cast<std::uint8_t>(record_bytes / bytes), big_endian};
      if (!looks_like_floats(sample, cut, effort.float_values)) continue;
      const std::uint64_t cost = cost_of(sample, cut, effort.second);
      if (cost <= best.cost + best.cost / 4) return cut;
    }
  }
  return best.cut;
}

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

ValueType type_of(std::span<const std::byte> sample, const Cut& cut, const Effort& effort) {
  const std::uint64_t most = effort.float_values;
  if (cut.bytes == 8 && looks_like_floats(sample, cut, most)) return ValueType::f64;
  if (cut.bytes == 4 && looks_like_floats(sample, cut, most)) return ValueType::f32;
  if (cut.bytes == 2)
    if (const auto type = short_float_type(sample, cut, most)) return *type;
  return integer_type(cut.bytes);
}

}  // namespace

Layout detect_layout(std::span<const std::byte> sample, int level) {
  sample = sample.first(std::min(sample.size(), kMostSampleBytes));
  const Effort& effort = effort_of(sample.size(), level);
  if (sample.size() < kFewestBytes || looks_like_text(sample, effort.texture_bytes))
    return byte_layout();

  constexpr std::uint64_t kRawCost = std::uint64_t{8} << 16;
  const std::uint64_t bytes_cost = std::min(cost_of(sample, Cut{}, effort.second), kRawCost);
  if (bytes_cost <= kRawCost / 32) return byte_layout();  // all but constant
  Candidate best = cheapest_cut(sample, effort);
  const bool no_gain = best.cost + best.cost / 32 > bytes_cost;
  const bool little_gain = best.cost + best.cost / 6 > bytes_cost;
  if (no_gain || (little_gain && !is_aligned(sample, best, effort))) best = {Cut{}, bytes_cost};

  const Cut cut = prefer_floats(sample, best, effort);
  return Layout{{Column{type_of(sample, cut, effort), cut.tuple, cut.big_endian}}};
}

}  // namespace gdelta
