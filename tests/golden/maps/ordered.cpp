// Spec: maps/ordered.md.
#include "../plain_maps.h"

namespace gdelta::plain::detail {
namespace {

std::uint64_t sign_of(const Column& column) { return mask_of(column) ^ (mask_of(column) >> 1); }

std::uint64_t undo(std::uint64_t word, const LaneChoice&, const Column& column) {
  return word ^ ((word & sign_of(column)) != 0 ? sign_of(column) : mask_of(column));
}

std::optional<std::uint64_t> find(std::uint64_t value, const LaneChoice&, const Column& column) {
  return value ^ ((value & sign_of(column)) != 0 ? mask_of(column) : sign_of(column));
}

}  // namespace

const PlainMap plain_ordered_map{.value_of = undo, .word_of = find};

}  // namespace gdelta::plain::detail
