// Integers as a whole number of steps from an offset. Spec: formats/gdelta/maps/multiple.md.
#include <fmt/core.h>

#include <numeric>
#include <span>
#include <type_traits>

#include "codec/coders/maps/exact_words.h"
#include "codec/coders/maps/value_map.h"
#include "kernels/words/maps/exact_maps.h"

namespace gdelta {
namespace {

/// The largest step that all words are apart, of as many bits as are not spare; 0 of words that are all alike.
template <class Word>
Word common_step(std::span<const Word> words, int spare) {
  Word step = 0;
  for (const Word word : words) {
    const auto distance =
        static_cast<Word>(distance_of<Word>(word << spare, words[0] << spare) >> spare);
    if (step != 0 && distance % step == 0) continue;  // most of them, if there is a step
    step = std::gcd(step, distance);
    if (step == 1) break;
  }
  return step;
}

template <class Word>
LaneMapping mapping_of(Word step, Word offset) {
  return {.map = static_cast<std::uint8_t>(ValueMap::multiple), .step = step, .offset = offset};
}

template <class Word>
std::vector<LaneMapping> find(const LaneSample<Word>& lane) {
  using Signed = std::make_signed_t<Word>;
  const int spare = 8 * static_cast<int>(sizeof(Word)) - lane.bits;
  const Word mask = ~Word{0} >> spare;
  const Word step = common_step(std::span<const Word>(lane.words), spare);
  if (!is_multiple_step(step, mask)) return {};
  const auto first = static_cast<Word>(static_cast<Signed>(lane.words[0] << spare) >> spare);
  std::vector<LaneMapping> found;
  found.reserve(kMultipleOffsets);
  for (int number = 0; number < kMultipleOffsets; ++number)
    found.push_back(
        mapping_of(step, static_cast<Word>(multiple_offset(number, first, step) & mask)));
  return found;
}

/// Of values as wide as words.
template <class Word>
std::optional<ExactMapping> find_exact(std::span<const Word> values, int value_bits) {
  const Word step = common_step(values, 0);
  if (!is_multiple_step(step, ~Word{0})) return std::nullopt;
  for (int number = 0; number < kMultipleOffsets; ++number) {
    const LaneMapping mapping = mapping_of(step, multiple_offset(number, values[0], step));
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
