#include "codec/plan/column_map_choice.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <type_traits>

#include "codec/plan/dictionary_choice.h"
#include "codec/plan/levels.h"
#include "formats/gdelta/maps/map_fields.h"
#include "kernels/ans/ans_bins.h"
#include "kernels/ans/fixed_log2.h"
#include "kernels/deltas/delta_bits.h"
#include "kernels/words/map_lane.h"
#include "kernels/words/maps/scaled.h"

namespace gdelta {
namespace {

constexpr std::uint64_t kStretch = 128;
/// Of so many bytes: long columns are seldom alike everywhere.
constexpr std::uint64_t kMostStretches = 32;
constexpr std::uint64_t kSampledBytes = 1 << 20;
constexpr int kHighestOrder = 3;
/// So many values of a lane may be exceptions.
constexpr std::uint64_t kExceptionShare = 64;
/// Lanes before a lane that it is compared with.
constexpr int kMostSources = 8;
constexpr int kMostDigitsTried = 15;

/// Words of one lane, stretch after stretch.
template <class Word>
struct LaneSample {
  std::vector<Word> words;
  int bits = 0;
};

/// Bits of the residuals at the order that suits the sample best; what lies before a stretch is not known.
template <class Word>
std::uint64_t cost_of(const LaneSample<Word>& lane) {
  std::uint64_t bits[kHighestOrder + 1] = {};
  for (std::size_t first = 0; first < lane.words.size(); first += kStretch) {
    Word words[kStretch];
    const std::size_t count = std::min<std::size_t>(kStretch, lane.words.size() - first);
    std::copy_n(lane.words.data() + first, count, words);
    add_delta_bits(words, count, lane.bits, kHighestOrder, bits);
  }
  return *std::min_element(bits, bits + kHighestOrder + 1);
}

// ---- Maps of one lane

template <class Word>
struct MapTrial {
  LaneMapping mapping;
  LaneSample<Word> mapped;
  std::uint64_t cost = ~std::uint64_t{0};
  std::vector<std::uint64_t> table = {};  // of a dictionary
};

/// Nothing changes unless the map takes the values, but for few.
template <class Word>
void try_map(const LaneSample<Word>& lane, const LaneMapping& mapping, MapTrial<Word>& best) {
  LaneSample<Word> mapped = lane;
  std::vector<std::uint64_t> exceptions;
  map_lane(mapped.words.data(), mapped.words.size(), lane.bits, mapping, 0, exceptions);
  if (exceptions.size() * kExceptionShare > lane.words.size()) return;
  const std::uint64_t exception_bits =
      8 * format::kExceptionPlaceBytes + static_cast<std::uint64_t>(lane.bits);
  const std::uint64_t cost = cost_of(mapped) + exceptions.size() * exception_bits;
  if (cost < best.cost) best = {mapping, std::move(mapped), cost};
}

/// Whether `try_map` would not find too many exceptions; soon told if it would.
template <class Word>
bool takes_most(const LaneSample<Word>& lane, const LaneMapping& mapping) {
  std::vector<std::uint64_t> exceptions;
  for (std::size_t first = 0; first < lane.words.size(); first += kStretch) {
    Word words[kStretch];
    const std::size_t count = std::min<std::size_t>(kStretch, lane.words.size() - first);
    std::copy_n(lane.words.data() + first, count, words);
    map_lane(words, count, lane.bits, mapping, first, exceptions);
    if (exceptions.size() * kExceptionShare > lane.words.size()) return false;
  }
  return true;
}

/// Numbers that are finite and not zero, smaller ones first.
template <class Word>
std::vector<double> rising_magnitudes(const LaneSample<Word>& lane) {
  // Without their signs the bits of floats rise as the floats do.
  constexpr Word kMagnitude = ~Word{0} >> 1;
  std::vector<std::int64_t> bits;
  for (const Word word : lane.words)
    if (float_of(word) != 0 && std::isfinite(float_of(word)))
      bits.push_back(static_cast<std::int64_t>(word & kMagnitude));
  sort_sample(bits);
  bits.erase(std::unique(bits.begin(), bits.end()), bits.end());
  std::vector<double> values(bits.size());
  std::transform(bits.begin(), bits.end(), values.begin(),
                 [](std::int64_t value) { return float_of(static_cast<Word>(value)); });
  return values;
}

/// The step of which the values are multiples, each rounded by up to `rounding` of itself, as close as
/// they tell; 0 if there is none. The least distance of two of them is the first guess, which larger values
/// make more exact: each says between which two numbers the step is.
inline double find_step(const std::vector<double>& values, double rounding) {
  if (values.size() < 2) return 0;
  double step = values[0];
  for (std::size_t i = 1; i < values.size(); ++i) step = std::min(step, values[i] - values[i - 1]);
  constexpr double kSmallestShare = 1e-7;  // of the largest value: a float tells no smaller steps
  if (!(step > values.back() * kSmallestShare)) return 0;
  double least = 0, most = values.back();
  for (const double value : values) {
    const double steps = std::floor(value / step + 0.5);
    if (std::abs(value - steps * step) > 0.25 * step) return 0;
    least = std::max(least, value * (1 - rounding) / steps);
    most = std::min(most, value * (1 + rounding) / steps);
    if (least > most) return 0;
    step = least + (most - least) / 2;
  }
  return step;
}

/// Against what costs `plain_cost`.
template <class Word>
void try_float_maps(const LaneSample<Word>& lane, std::uint64_t plain_cost, MapTrial<Word>& best) {
  for (int digits = 0; digits <= kMostDigitsTried; ++digits) {
    const LaneMapping mapping{.map = static_cast<std::uint8_t>(ValueMap::decimal),
                              .step = static_cast<std::uint64_t>(digits)};
    if (!takes_most(lane, mapping)) continue;
    try_map(lane, mapping, best);
    break;
  }
  // With as many digits as a float has, decimals are any numbers: there may be a step, still.
  if (best.cost < plain_cost) return;
  // It is twice as much of f64, since the bounds of the step are rounded, too.
  const double step = find_step(rising_magnitudes(lane), sizeof(Word) == 8 ? 0x1p-52 : 0x1p-24);
  if (step == 0) return;
  for (const double candidate :
       {static_cast<double>(static_cast<float>(step)), step, 1 / std::floor(1 / step + 0.5)}) {
    const auto bits = std::bit_cast<std::uint64_t>(candidate);
    if (!format::is_scale(bits)) continue;
    const LaneMapping mapping{.map = static_cast<std::uint8_t>(ValueMap::scaled), .step = bits};
    if (!takes_most(lane, mapping)) continue;
    try_map(lane, mapping, best);
    return;
  }
}

template <class Word>
void try_multiple(const LaneSample<Word>& lane, MapTrial<Word>& best) {
  const int spare = 8 * static_cast<int>(sizeof(Word)) - lane.bits;
  using Signed = std::make_signed_t<Word>;
  Word step = 0;
  for (const Word word : lane.words) {
    const Signed distance =
        static_cast<Signed>(static_cast<Word>(word - lane.words[0]) << spare) >> spare;
    const Word length =
        distance < 0 ? Word{0} - static_cast<Word>(distance) : static_cast<Word>(distance);
    if (step != 0 && length % step == 0) continue;  // most of them, if there is a step
    step = std::gcd(step, length);
    if (step == 1) return;
  }
  if (step < 2 || step > (~Word{0} >> spare) / 2) return;
  // From zero on, or, if numbers without a sign go beyond half of their range, from one of them.
  const Word mask = ~Word{0} >> spare;
  const Signed first = static_cast<Signed>(lane.words[0] << spare) >> spare;
  for (const Word offset : {static_cast<Word>(first % static_cast<Signed>(step)), lane.words[0]})
    try_map(lane,
            {.map = static_cast<std::uint8_t>(ValueMap::multiple),
             .step = step,
             .offset = offset & mask},
            best);
}

/// The sample as indices into a table of its values, or of those of the whole lane.
template <class Word>
MapTrial<Word> look_up(const LaneSample<Word>& lane, const std::vector<std::uint64_t>& table) {
  DistinctWords words(table.size());
  for (const std::uint64_t value : table) words.add(value);
  MapTrial<Word> trial{.mapping = {.map = static_cast<std::uint8_t>(ValueMap::dictionary)},
                       .mapped = lane};
  words.find_numbers(std::span(trial.mapped.words));
  trial.cost = cost_of(trial.mapped);
  trial.table = table;
  return trial;
}

/// Whether all values of the lane are worth counting. With those that the sample has missed the table grows, and so
/// do indices: half of them by as many bits, for others are like their neighbours.
template <class Word>
bool table_may_pay(const ColumnBytes& column, const LaneSample<Word>& lane, const FewValues& few,
                   std::uint64_t limit) {
  const std::uint64_t seen = few.values.size(), sampled = lane.words.size();
  if (seen > most_table_entries(column.records)) return false;
  const std::uint64_t cost = look_up(lane, few.values).cost;
  if (cost >= limit) return false;
  const std::uint64_t table_bits = 8 * encode_table(few.values, column.column.type).bytes.size() *
                                   few.expected / seen * sampled / column.records;
  const std::uint64_t growth_bits =
      sampled * (fixed_log2(few.expected) - fixed_log2(seen)) >> (kFixedLog2Bits + 1);
  return cost + table_bits + growth_bits < limit;
}

/// Where it costs less than `limit`. The table's share of the lane is charged to the sample.
template <class Word>
std::optional<MapTrial<Word>> try_dictionary(const ColumnBytes& column, int number,
                                             const LaneSample<Word>& lane, std::uint64_t limit) {
  const ValueType type = column.column.type;
  if (value_bytes(type) == 1) return std::nullopt;
  const auto few = few_values({lane.words.begin(), lane.words.end()}, type);
  if (!few || !table_may_pay(column, lane, *few, limit)) return std::nullopt;
  const auto table = table_of_lane(column, number);
  if (!table) return std::nullopt;
  const std::uint64_t table_bits = 8 * encode_table(*table, type).bytes.size();
  MapTrial<Word> trial = look_up(lane, *table);
  trial.cost += table_bits * lane.words.size() / column.records;
  if (trial.cost >= limit) return std::nullopt;
  return trial;
}

/// None, one without fields, or, if that saves as much as a second pass has to, one with fields.
template <class Word>
MapTrial<Word> choose_map(const ColumnBytes& column, int number, const LaneSample<Word>& lane,
                          const EncodeSettings& settings) {
  const std::uint64_t gain_permille = level_policy(settings.level).strides.gain_permille;
  const ValueType type = column.column.type;
  MapTrial<Word> plain;
  MapTrial<Word> best;
  try_map(lane, {}, plain);
  if (is_float(type)) {
    try_map(lane, {.map = static_cast<std::uint8_t>(ValueMap::ordered)}, plain);
    if (type >= ValueType::f32) try_float_maps(lane, plain.cost, best);
  } else {
    try_multiple(lane, best);
  }
  const auto less = [&](std::uint64_t cost) { return cost * (1000 - gain_permille) / 1000; };
  const bool saves =
      best.cost < plain.cost && best.cost * 1000 < plain.cost * (1000 - gain_permille);
  if (!saves) best = std::move(plain);
  if (!settings.dictionaries) return best;
  auto dictionary = try_dictionary(column, number, lane, less(best.cost));
  return dictionary ? std::move(*dictionary) : best;
}

// ---- Lanes less other lanes

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
      const std::size_t nearest = target - std::min<std::size_t>(target, kMostSources);
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
  static LaneStep place(std::size_t target, std::size_t source, LaneStepKind kind) {
    return {static_cast<std::uint8_t>(target), static_cast<std::uint8_t>(source), kind};
  }

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
    if (step.target == step.source || cost * 1000 >= target.cost * (1000 - gain_permille_)) return;
    steps.push_back(step);
    target.mapped = stepped(step);
    target.cost = cost;
  }

  std::vector<MapTrial<Word>>& lanes_;
  std::uint64_t gain_permille_;
};

// ---- All of a column

template <class Word>
LaneSample<Word> sample_lane(const ColumnBytes& column, int lane) {
  const std::uint64_t most =
      kMostStretches * std::max<std::uint64_t>(1, column.bytes() / kSampledBytes);
  const std::uint64_t stretches = std::clamp<std::uint64_t>(column.records / kStretch, 1, most);
  LaneSample<Word> sample;
  sample.bits = value_bits(column.column.type);
  for (std::uint64_t k = 0; k < stretches; ++k) {
    const std::uint64_t length = std::min(kStretch, column.records);
    const std::uint64_t first =
        stretches == 1 ? 0 : k * (column.records - length) / (stretches - 1);
    sample.words.resize(sample.words.size() + length);
    load_lane(column.at(first, lane), column.record_bytes, length, column.format(ValueMap::none),
              sample.words.data() + sample.words.size() - length);
  }
  return sample;
}

template <class Word>
ColumnMaps choose_maps(const ColumnBytes& column, const EncodeSettings& settings) {
  std::vector<MapTrial<Word>> lanes;
  bool fields = false;
  for (int lane = 0; lane < column.column.tuple; ++lane) {
    lanes.push_back(choose_map(column, lane, sample_lane<Word>(column, lane), settings));
    fields |= format::has_fields(static_cast<ValueMap>(lanes.back().mapping.map));
  }
  const std::uint64_t gain_permille = level_policy(settings.level).strides.gain_permille;
  std::uint64_t before = 0, after = 0;
  for (const MapTrial<Word>& lane : lanes) before += lane.cost;
  ColumnMaps maps;
  maps.steps = StepChoice<Word>(lanes, gain_permille).choose();
  for (const MapTrial<Word>& lane : lanes) after += lane.cost;
  if (after * 1000 >= before * (1000 - gain_permille)) maps.steps.clear();
  if (!fields && maps.steps.empty()) return {};
  const bool looks_up =
      std::any_of(lanes.begin(), lanes.end(), [](const auto& lane) { return !lane.table.empty(); });
  for (MapTrial<Word>& lane : lanes) {
    maps.lanes.push_back(lane.mapping);
    if (looks_up) maps.tables.push_back(std::move(lane.table));
  }
  return maps;
}

}  // namespace

ColumnMaps choose_column_maps(const ColumnBytes& column, const EncodeSettings& settings) {
  constexpr int kFromLevel = 3;
  const bool has_numbers = !settings.plain_bytes && column.records >= kStretch;
  const bool has_front = !settings.coder || format::codes_residuals(*settings.coder);
  if (!has_numbers || !has_front || settings.level < kFromLevel) return {};
  return value_bytes(column.column.type) == 8 ? choose_maps<std::uint64_t>(column, settings)
                                              : choose_maps<std::uint32_t>(column, settings);
}

}  // namespace gdelta
