#include "codec/detect.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "codec/float_evidence.h"
#include "codec/layout_cost.h"
#include "codec/sample_texture.h"

namespace gdelta {

namespace {

constexpr int kWidths[] = {1, 2, 3, 4, 8};
constexpr int kMostPlainTuple = 8;
constexpr std::size_t kFewestBytes = 64;  // less gives no evidence

// A first look at every cut, a longer one at the best of them.
constexpr Stretches kFirstLook{12, 4096};
constexpr int kFirstLookOrders = 3;
constexpr Stretches kSecondLook{32, 8192};
constexpr int kSecondLookOrders = 5;
constexpr std::size_t kNumSecondLooks = 8;

struct Candidate {
  Cut cut;
  std::uint64_t cost;
};

/// Every cut worth a look. The position in the list is the candidate's id.
std::vector<Cut> candidate_cuts(std::span<const std::byte> sample) {
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
  for (const std::uint64_t period : byte_periods(sample))
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

Candidate cheapest_cut(std::span<const std::byte> sample) {
  std::vector<Candidate> candidates;
  for (const Cut& cut : candidate_cuts(sample))
    candidates.push_back(
        {cut, ranked_cost(layout_cost(sample, cut, kFirstLook, kFirstLookOrders), cut)});
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
  candidates.resize(std::min(candidates.size(), kNumSecondLooks));
  for (Candidate& candidate : candidates)
    candidate.cost = ranked_cost(layout_cost(sample, candidate.cut, kSecondLook, kSecondLookOrders),
                                 candidate.cut);
  return best_of(candidates);
}

/// Whether values begin where the cut says. Behind a head of odd length they do not; then the cut
/// is an accident, which other stages may well undo better on plain bytes.
bool is_aligned(std::span<const std::byte> sample, const Candidate& found) {
  for (std::size_t shift = 1; shift < found.cut.bytes; ++shift)
    for (const bool big_endian : {false, true}) {
      Cut cut = found.cut;
      cut.big_endian = big_endian;
      const std::uint64_t cost =
          layout_cost(sample.subspan(shift), cut, kSecondLook, kSecondLookOrders);
      if (cost + found.cost / 64 < found.cost) return false;
    }
  return true;
}

/// Floats whose bits say so are taken for what they are, though parts of them, or their bytes
/// reversed, may pack better as integers: coders and maps that know floats gain more than that.
Cut prefer_floats(std::span<const std::byte> sample, const Candidate& best) {
  for (const std::uint64_t bytes : {8, 4}) {
    const std::uint64_t record_bytes = std::max(best.cut.record_bytes(), bytes);
    if (bytes < best.cut.bytes || record_bytes % bytes != 0) continue;
    for (const bool big_endian : {false, true}) {
      const Cut cut{static_cast<std::uint8_t>(bytes),
                    static_cast<std::uint8_t>(record_bytes / bytes), big_endian};
      if (!looks_like_floats(sample, cut)) continue;
      const std::uint64_t cost = layout_cost(sample, cut, kSecondLook, kSecondLookOrders);
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

ValueType type_of(std::span<const std::byte> sample, const Cut& cut) {
  if (cut.bytes == 8 && looks_like_floats(sample, cut)) return ValueType::f64;
  if (cut.bytes == 4 && looks_like_floats(sample, cut)) return ValueType::f32;
  if (cut.bytes == 2)
    if (const auto type = short_float_type(sample, cut)) return *type;
  return integer_type(cut.bytes);
}

}  // namespace

Layout detect_layout(std::span<const std::byte> sample) {
  sample = sample.first(std::min(sample.size(), kMostSampleBytes));
  if (sample.size() < kFewestBytes || looks_like_text(sample)) return byte_layout();

  constexpr std::uint64_t kRawCost = std::uint64_t{8} << 16;
  const std::uint64_t bytes_cost =
      std::min(layout_cost(sample, Cut{}, kSecondLook, kSecondLookOrders), kRawCost);
  if (bytes_cost <= kRawCost / 32) return byte_layout();  // all but constant
  Candidate best = cheapest_cut(sample);
  const bool no_gain = best.cost + best.cost / 32 > bytes_cost;
  const bool little_gain = best.cost + best.cost / 6 > bytes_cost;
  if (no_gain || (little_gain && !is_aligned(sample, best))) best = {Cut{}, bytes_cost};

  const Cut cut = prefer_floats(sample, best);
  return Layout{{Column{type_of(sample, cut), cut.tuple, cut.big_endian}}};
}

}  // namespace gdelta
