// Spec: maps/rotated.md.
#include "../plain_maps.h"

namespace gdelta::plain::detail {
namespace {

std::uint64_t undo(std::uint64_t word, const LaneChoice&, const Column& column) {
  return (word >> 1) | ((word & 1) != 0 ? mask_of(column) ^ (mask_of(column) >> 1) : 0);
}

std::optional<std::uint64_t> find(std::uint64_t value, const LaneChoice&, const Column& column) {
  const std::uint64_t top = mask_of(column) ^ (mask_of(column) >> 1);
  return ((value << 1) & mask_of(column)) | ((value & top) != 0 ? 1 : 0);
}

}  // namespace

const PlainMap plain_rotated_map{.value_of = undo, .word_of = find};

}  // namespace gdelta::plain::detail
