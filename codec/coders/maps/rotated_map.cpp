// Bits of values rotated to the left. Spec: formats/gdelta/maps/rotated.md.
#include <fmt/core.h>

#include "codec/coders/maps/value_map.h"

namespace gdelta {
namespace {

template <class Word>
std::vector<LaneMapping> find(const LaneSample<Word>& lane) {
  std::vector<LaneMapping> found;
  for (int bits = 1; bits < lane.bits; bits *= 2)
    found.push_back({.map = static_cast<std::uint8_t>(ValueMap::rotated),
                     .step = static_cast<std::uint64_t>(bits)});
  return found;
}

std::string words(const format::MapFields& fields, ValueType) {
  return fmt::format("by {}", fields.step);
}

}  // namespace

const ColumnValueMap rotated_map{.words = words,
                                 .find = {find<std::uint32_t>, find<std::uint64_t>}};

}  // namespace gdelta
