// Spec: maps/decimal.md.
#include "whole_steps.h"

namespace gdelta::plain::detail {
namespace {

double ten_to(std::uint64_t digits) {
  double power = 1;
  for (std::uint64_t i = 0; i < digits; ++i) power *= 10;
  return power;
}

std::uint64_t undo(std::uint64_t word, const LaneChoice& lane, const Column& column) {
  return nearest_bits(static_cast<double>(signed_of(word, column)) / ten_to(lane.step), column);
}

std::optional<std::uint64_t> find(std::uint64_t value, const LaneChoice& lane,
                                  const Column& column) {
  return word_near(float_of(value, column) * ten_to(lane.step), value, lane, column, undo);
}

void append_fields(std::vector<std::byte>& out, const LaneChoice& lane, const Column&) {
  format::append_le(out, 1, lane.step);
}

}  // namespace

const PlainMap plain_decimal_map{.value_of = undo, .word_of = find, .append_fields = append_fields};

}  // namespace gdelta::plain::detail
