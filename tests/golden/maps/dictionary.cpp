// Spec: maps/dictionary.md. Tables: plain_dictionary.h.
#include <algorithm>

#include "../plain_maps.h"

namespace gdelta::plain::detail {
namespace {

std::uint64_t undo(std::uint64_t word, const LaneChoice& lane, const Column&) {
  return lane.table.values[word % lane.table.values.size()];
}

std::optional<std::uint64_t> find(std::uint64_t value, const LaneChoice& lane, const Column&) {
  const auto& values = lane.table.values;
  return static_cast<std::uint64_t>(std::find(values.begin(), values.end(), value) -
                                    values.begin());
}

void append_fields(std::vector<std::byte>& out, const LaneChoice& lane, const Column& column) {
  append_table_fields(out, lane.table, column);
}

void append_table(std::vector<std::byte>& out, const LaneChoice& lane, const Column& column) {
  const std::vector<std::byte> table = table_bytes(lane.table, column);
  out.insert(out.end(), table.begin(), table.end());
}

}  // namespace

const PlainMap plain_dictionary_map{.value_of = undo,
                                    .word_of = find,
                                    .append_fields = append_fields,
                                    .append_table = append_table};

}  // namespace gdelta::plain::detail
