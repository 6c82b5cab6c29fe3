// Spec: maps/scaled.md.
#include "whole_steps.h"

namespace gdelta::plain::detail {
namespace {

std::uint64_t undo(std::uint64_t word, const LaneChoice& lane, const Column& column) {
  return nearest_bits(
      static_cast<double>(signed_of(word, column)) * std::bit_cast<double>(lane.step), column);
}

std::optional<std::uint64_t> find(std::uint64_t value, const LaneChoice& lane,
                                  const Column& column) {
  return word_near(float_of(value, column) / std::bit_cast<double>(lane.step), value, lane, column,
                   undo);
}

void append_fields(std::vector<std::byte>& out, const LaneChoice& lane, const Column&) {
  format::append_le(out, 8, lane.step);
}

}  // namespace

const PlainMap plain_scaled_map{.value_of = undo, .word_of = find, .append_fields = append_fields};

}  // namespace gdelta::plain::detail
