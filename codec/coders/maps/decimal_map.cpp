// Floats as whole numbers over a power of ten. Spec: formats/gdelta/maps/decimal.md.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <span>
#include <type_traits>

#include "codec/coders/maps/value_map.h"
#include "formats/gdelta/maps/decimal_fields.h"
#include "kernels/words/map_lane.h"
#include "kernels/words/maps/exact_decimal.h"
#include "kernels/words/maps/scaled.h"

namespace gdelta {
namespace {

constexpr int kMostDigitsTried = 15;
// So many words are mapped before they are asked for exceptions.
constexpr std::size_t kGlance = 128;
static_assert(format::kMostDigits == gdelta::kMostDigits, "kernels have a power for each");

static_assert(kExactMap == static_cast<std::uint8_t>(ValueMap::decimal));

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

/// Widens [lowest, highest] by the words that all of these values have; false if one has none.
template <class Word>
bool widen(std::span<const Word> values, int value_bits, const LaneMapping& mapping,
           std::make_signed_t<Word>& lowest, std::make_signed_t<Word>& highest) {
  Word words[kGlance];
  std::copy(values.begin(), values.end(), words);
  std::vector<std::uint64_t> exceptions;
  map_lane(words, values.size(), value_bits, mapping, 0, exceptions);
  for (const Word word : std::span(words, values.size())) {
    lowest = std::min(lowest, static_cast<std::make_signed_t<Word>>(word));
    highest = std::max(highest, static_cast<std::make_signed_t<Word>>(word));
  }
  return exceptions.empty();
}

template <class Word>
std::optional<LaneMapping> find_exact(std::span<const Word> values, int value_bits) {
  using Limits = std::numeric_limits<std::make_signed_t<Word>>;
  for (int digits = 0; digits <= most_exact_digits<Word>(); ++digits) {
    const LaneMapping mapping{.map = static_cast<std::uint8_t>(ValueMap::decimal),
                              .step = static_cast<std::uint64_t>(digits)};
    auto lowest = Limits::max(), highest = Limits::min();
    bool takes_all = true;
    for (std::size_t first = 0; takes_all && first < values.size(); first += kGlance)
      takes_all = widen(values.subspan(first, std::min(kGlance, values.size() - first)), value_bits,
                        mapping, lowest, highest);
    if (!takes_all) continue;
    if (!spans_little<Word>(lowest, highest)) return std::nullopt;
    return mapping;
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
