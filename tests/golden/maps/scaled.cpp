// Spec: maps/scaled.md.
#include "whole_steps.h"

namespace gdelta::plain::detail {
namespace {

std::uint64_t undo(std::uint64_t word, const LaneChoice& lane, const Column& column) {
  return nearest_bits(
      static_cast<double>(signed_of(word, column)) * std::bit_cast<double>(lane.step), column);
}

/// The nearest to zero of some words whose products are too large for the type.
std::optional<std::uint64_t> find_infinity(std::uint64_t value, const LaneChoice& lane,
                                           const Column& column) {
  const bool negative = float_of(value, column) < 0;
  for (std::uint64_t steps = 1; steps <= mask_of(column) >> 1; steps *= 2) {
    const std::uint64_t word = (negative ? 0 - steps : steps) & mask_of(column);
    if (undo(word, lane, column) == value) return word;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> find(std::uint64_t value, const LaneChoice& lane,
                                  const Column& column) {
  if (lane.overflows && std::isinf(float_of(value, column)))
    return find_infinity(value, lane, column);
  return word_near(float_of(value, column) / std::bit_cast<double>(lane.step), value, lane, column,
                   undo);
}

void append_fields(std::vector<std::byte>& out, const LaneChoice& lane, const Column&) {
  format::append_le(out, 8, lane.step);
}

}  // namespace

const PlainMap plain_scaled_map{.value_of = undo, .word_of = find, .append_fields = append_fields};

}  // namespace gdelta::plain::detail
