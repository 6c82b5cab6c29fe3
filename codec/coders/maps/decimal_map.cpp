// Floats as whole numbers over a power of ten. Spec: formats/gdelta/maps/decimal.md.
#include <fmt/core.h>

#include <span>

#include "codec/coders/maps/exact_words.h"
#include "codec/coders/maps/value_map.h"
#include "formats/gdelta/maps/decimal_fields.h"
#include "kernels/words/maps/exact_maps.h"
#include "kernels/words/maps/scaled.h"

namespace gdelta {
namespace {

constexpr int kMostDigitsTried = 15;
static_assert(format::kMostDigits == gdelta::kMostDigits, "kernels have a power for each");

/// Of the fewest digits that give most values back.
template <class Word>
std::vector<LaneMapping> find(const LaneSample<Word>& lane) {
  for (int digits = 0; digits <= kMostDigitsTried; ++digits) {
    const LaneMapping mapping{.map = static_cast<std::uint8_t>(ValueMap::decimal),
                              .step = static_cast<std::uint64_t>(digits)};
    if (takes_most(lane, mapping)) return {mapping};
  }
  return {};
}

template <class Word>
std::optional<ExactMapping> find_exact(std::span<const Word> values, int value_bits) {
  for (int digits = 0; digits <= most_exact_digits<Word>(); ++digits) {
    const LaneMapping mapping{.map = static_cast<std::uint8_t>(ValueMap::decimal),
                              .step = static_cast<std::uint64_t>(digits)};
    WordSpan<Word> span;
    if (!gives_back(values, value_bits, mapping, span)) continue;
    if (!is_little(span.spread())) return std::nullopt;
    return ExactMapping{mapping, span.spread()};
  }
  return std::nullopt;
}

std::string words(const format::MapFields& fields, ValueType) {
  constexpr std::uint64_t kMostWritten = 6;
  const std::uint64_t digits = fields.step;
  return digits <= kMostWritten ? "/1" + std::string(static_cast<std::size_t>(digits), '0')
                                : fmt::format("/10^{}", digits);
}

}  // namespace

const ColumnValueMap decimal_map{
    .words = words,
    .find = {find<std::uint32_t>, find<std::uint64_t>},
    .find_exact = {find_exact<std::uint32_t>, find_exact<std::uint64_t>}};

}  // namespace gdelta
