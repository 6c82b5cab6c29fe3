// Spec: maps/multiple.md.
#include "whole_steps.h"

namespace gdelta::plain::detail {
namespace {

std::uint64_t undo(std::uint64_t word, const LaneChoice& lane, const Column& column) {
  return (word * lane.step + lane.offset) & mask_of(column);
}

std::optional<std::uint64_t> find(std::uint64_t value, const LaneChoice& lane,
                                  const Column& column) {
  const std::int64_t distance = signed_of((value - lane.offset) & mask_of(column), column);
  const bool has_steps = lane.step != 0 && lane.step <= mask_of(column) >> 1;
  return word_near(has_steps ? distance / static_cast<std::int64_t>(lane.step) : std::int64_t{0},
                   value, lane, column, undo);
}

void append_fields(std::vector<std::byte>& out, const LaneChoice& lane, const Column& column) {
  format::append_varint(out, lane.step);
  format::append_le(out, value_bytes(column.type), lane.offset);
}

}  // namespace

const PlainMap plain_multiple_map{
    .value_of = undo, .word_of = find, .append_fields = append_fields};

}  // namespace gdelta::plain::detail
