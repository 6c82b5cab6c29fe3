// Spec: maps/rotated.md.
#include <string>

#include "../golden_parts.h"

namespace gdelta::plain::detail {
namespace {

std::uint64_t rotated(std::uint64_t value, std::uint64_t to_the_left, const Column& column) {
  const auto w = static_cast<std::uint64_t>(value_bits(column.type));
  return ((value << to_the_left) | (value >> (w - to_the_left))) & mask_of(column);
}

std::uint64_t undo(std::uint64_t word, const LaneChoice& lane, const Column& column) {
  return rotated(word, static_cast<std::uint64_t>(value_bits(column.type)) - lane.step, column);
}

std::optional<std::uint64_t> find(std::uint64_t value, const LaneChoice& lane,
                                  const Column& column) {
  return rotated(value, lane.step, column);
}

void append_fields(std::vector<std::byte>& out, const LaneChoice& lane, const Column&) {
  format::append_le(out, 1, lane.step);
}

void add_cases(std::vector<GoldenCase>& cases) {
  for (const char* record : {"u8", "i24x2", "f32", "u64"})
    mapped_chunk(cases, std::string("rotated_") + record, record, 140, 5,
                 mapped_by(Coder::pack, {{ValueMap::rotated, 3}}));
}

}  // namespace

const PlainMap plain_rotated_map{
    .value_of = undo, .word_of = find, .append_fields = append_fields, .add_cases = add_cases};

}  // namespace gdelta::plain::detail
