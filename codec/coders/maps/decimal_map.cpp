// Floats as whole numbers over a power of ten. Spec: formats/gdelta/maps/decimal.md.
#include <fmt/core.h>

#include "codec/coders/maps/value_map.h"
#include "formats/gdelta/maps/decimal_fields.h"
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

std::string words(const format::MapFields& fields, ValueType) {
  constexpr std::uint64_t kMostWritten = 6;
  const std::uint64_t digits = fields.step;
  return digits <= kMostWritten ? "/1" + std::string(static_cast<std::size_t>(digits), '0')
                                : fmt::format("/10^{}", digits);
}

}  // namespace

const ColumnValueMap decimal_map{.words = words,
                                 .find = {find<std::uint32_t>, find<std::uint64_t>}};

}  // namespace gdelta
