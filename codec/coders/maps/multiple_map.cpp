// Integers as a whole number of steps from an offset. Spec: formats/gdelta/maps/multiple.md.
#include <fmt/core.h>

#include <numeric>
#include <type_traits>

#include "codec/coders/maps/exact_words.h"
#include "codec/coders/maps/value_map.h"
#include "kernels/words/maps/exact_maps.h"

namespace gdelta {
namespace {

template <class Word>
std::vector<LaneMapping> find(const LaneSample<Word>& lane) {
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
    if (step == 1) return {};
  }
  if (step < 2 || step > (~Word{0} >> spare) / 2) return {};
  // From zero on, or, if numbers without a sign go beyond half of their range, from one of them.
  const Word mask = ~Word{0} >> spare;
  const Signed first = static_cast<Signed>(lane.words[0] << spare) >> spare;
  std::vector<LaneMapping> found;
  for (const Word offset : {static_cast<Word>(first % static_cast<Signed>(step)), lane.words[0]})
    found.push_back({.map = static_cast<std::uint8_t>(ValueMap::multiple),
                     .step = step,
                     .offset = offset & mask});
  return found;
}

/// Of values as wide as words.
template <class Word>
std::optional<ExactMapping> find_exact(std::span<const Word> values, int value_bits) {
  Word step = 0;
  for (const Word value : values) {
    const Word distance = distance_of(value, values[0]);
    if (step != 0 && distance % step == 0) continue;  // most of them, if there is a step
    step = std::gcd(step, distance);
    if (step == 1) return std::nullopt;
  }
  if (!is_multiple_step(step)) return std::nullopt;
  for (int number = 0; number < kMultipleOffsets; ++number) {
    const LaneMapping mapping{.map = static_cast<std::uint8_t>(ValueMap::multiple),
                              .step = step,
                              .offset = multiple_offset(number, values[0], step)};
    WordSpan<Word> span;
    if (gives_back(values, value_bits, mapping, span)) return ExactMapping{mapping, span.spread()};
  }
  return std::nullopt;
}

/// "200", "200 +7", "200 -7"; of integers with a sign as one.
std::string words(const format::MapFields& fields, ValueType type) {
  const bool has_sign = static_cast<int>(type) % 2 == 0;  // of integers
  const int spare = 64 - value_bits(type);
  if (fields.offset == 0) return fmt::format("{}", fields.step);
  return has_sign ? fmt::format("{} {:+}", fields.step,
                                static_cast<std::int64_t>(fields.offset << spare) >> spare)
                  : fmt::format("{} +{}", fields.step, fields.offset);
}

}  // namespace

const ColumnValueMap multiple_map{
    .words = words,
    .find = {find<std::uint32_t>, find<std::uint64_t>},
    .find_exact = {find_exact<std::uint32_t>, find_exact<std::uint64_t>}};

}  // namespace gdelta
