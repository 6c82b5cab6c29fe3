// Floats as whole numbers of steps. Spec: formats/gdelta/maps/scaled.md.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "codec/coders/maps/exact_words.h"
#include "codec/coders/maps/value_map.h"
#include "kernels/ans/ans_bins.h"
#include "kernels/words/maps/exact_maps.h"

namespace gdelta {
namespace {

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

/// A step, and between which numbers it is.
struct StepRange {
  double step, least, most;

  /// Makes it as exact as rising values tell, each rounded by up to `rounding` of itself: they are whole numbers of steps away from
  /// the origin, which is rounded, too. False if they are not.
  bool narrow(const std::vector<double>& values, double origin, double rounding) {
    for (const double value : values) {
      const double distance = value - origin, steps = std::floor(distance / step + 0.5);
      if (std::abs(distance - steps * step) > 0.25 * step) return false;
      if (steps == 0) continue;
      least = std::max(least, (value * (1 - rounding) - origin * (1 + rounding)) / steps);
      most = std::min(most, (value * (1 + rounding) - origin * (1 - rounding)) / steps);
      if (least > most) return false;
      step = least + (most - least) / 2;
    }
    return true;
  }
};

/// The step of which the values are multiples, each rounded by up to `rounding` of itself, as close as
/// they tell; 0 if there is none. The least distance of two of them is the first guess, which larger values
/// make more exact; where even the least of them are too many steps for that, distances from it do first.
double find_step(const std::vector<double>& values, double rounding) {
  if (values.size() < 2) return 0;
  double guess = values[0];
  for (std::size_t i = 1; i < values.size(); ++i)
    guess = std::min(guess, values[i] - values[i - 1]);
  constexpr double kSmallestShare = 1e-7;  // of the largest value: a float tells no smaller steps
  if (!(guess > values.back() * kSmallestShare)) return 0;
  const StepRange any{.step = guess, .least = 0, .most = values.back()};
  if (StepRange range = any; range.narrow(values, 0, rounding)) return range.step;
  StepRange range = any;
  const bool found = range.narrow(values, values[0], rounding) && range.narrow(values, 0, rounding);
  return found ? range.step : 0;
}

template <class Word>
std::vector<LaneMapping> find(const LaneSample<Word>& lane) {
  // It is twice as much of f64, since the bounds of the step are rounded, too.
  const double step = find_step(rising_magnitudes(lane), sizeof(Word) == 8 ? 0x1p-52 : 0x1p-24);
  if (step == 0) return {};
  for (const double candidate :
       {static_cast<double>(static_cast<float>(step)), step, 1 / std::floor(1 / step + 0.5)}) {
    const auto bits = std::bit_cast<std::uint64_t>(candidate);
    if (!format::is_scale(bits)) continue;
    const LaneMapping mapping{.map = static_cast<std::uint8_t>(ValueMap::scaled), .step = bits};
    if (takes_most(lane, mapping)) return {mapping};
  }
  return {};
}

/// Steps that are powers of two: floats that use few bits of their mantissas.
template <class Word>
std::optional<ExactMapping> find_exact(std::span<const Word> values, int value_bits) {
  int exponent = BinaryScaleMap::kHighest + 1;
  for (const Word value : values) exponent = std::min(exponent, lowest_exponent(value));
  if (!BinaryScaleMap::has_step(exponent)) return std::nullopt;
  const LaneMapping mapping{.map = static_cast<std::uint8_t>(ValueMap::scaled),
                            .step = BinaryScaleMap::step_of(exponent)};
  WordSpan<Word> span;
  if (!gives_back(values, value_bits, mapping, span) || !is_little(span.spread()))
    return std::nullopt;
  return ExactMapping{mapping, span.spread()};
}

std::string words(const format::MapFields& fields, ValueType) {
  const auto step = std::bit_cast<double>(fields.step);
  const auto rounded = static_cast<float>(step);  // "0.1", not what makes it an f64
  return static_cast<double>(rounded) == step ? fmt::format("x{}", rounded)
                                              : fmt::format("x{:.15g}", step);
}

}  // namespace

const ColumnValueMap scaled_map{
    .words = words,
    .find = {find<std::uint32_t>, find<std::uint64_t>},
    .find_exact = {find_exact<std::uint32_t>, find_exact<std::uint64_t>}};

}  // namespace gdelta
