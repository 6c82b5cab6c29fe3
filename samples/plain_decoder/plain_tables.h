// maps/dictionary.md: tables that a coder has made, and values in the place of indices.
#pragma once

#include <cstdint>

#include "plain_coders.h"

namespace plain_decoder {

/// The entries of a table that a coder has made.
inline Lane read_numbers(Input table, const Map& map, const Column& column) {
  Bytes bytes(map.entries * column.bytes);
  residual_coder(map.table_coder)->decode_bytes(table, bytes.data(), bytes.size());
  table.finish();
  Input numbers{bytes.data(), bytes.data() + bytes.size()};
  Lane entries{numbers.number(column.bytes)};
  while (entries.size() < map.entries)
    entries.push_back((entries.back() + 1 + numbers.number(column.bytes)) & column.mask());
  return entries;
}

/// The values of a table.
inline Lane read_table(const Input& table, const Map& map, const Column& column) {
  Lane entries =
      map.table_coder == 0 ? read_bins(table, map, column) : read_numbers(table, map, column);
  if (column.is_float) undo_map(entries, Map{.number = 1}, column);
  return entries;
}

/// maps/dictionary.md: what stands in the records is an index.
inline void look_up_lane(const Lane& table, const Column& column, std::uint64_t n,
                         std::uint8_t* values, std::uint64_t record) {
  const auto byte_at = [&](std::uint64_t i, int b) {
    return values + i * record + (column.big_endian ? column.bytes - 1 - b : b);
  };
  for (std::uint64_t i = 0; i < n; ++i) {
    std::uint64_t index = 0;
    for (int b = 0; b < column.bytes; ++b) index |= std::uint64_t{*byte_at(i, b)} << (8 * b);
    require(index < table.size(), "an index beyond the table");
    for (int b = 0; b < column.bytes; ++b)
      *byte_at(i, b) = static_cast<std::uint8_t>(table[index] >> (8 * b));
  }
}

inline void look_up(Input tables, const Model& model, const Column& column, std::uint64_t n,
                    std::uint8_t* records, std::uint64_t record) {
  for (std::size_t lane = 0; lane < model.maps.size(); ++lane) {
    const Map& map = model.maps[lane];
    if (map.number != 5) continue;
    const Input table = tables.take(map.table_bytes);
    refuse_at(table.at, [&] {
      look_up_lane(read_table(table, map, column), column, n, records + lane * column.bytes,
                   record);
    });
  }
}

}  // namespace plain_decoder
