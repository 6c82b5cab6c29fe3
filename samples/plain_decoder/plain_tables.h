// Section 4 of the specification: values in the place of their numbers in a table.
#pragma once

#include <cstdint>

#include "plain_maps.h"

namespace plain_decoder {

/// What stands in the records is a number of a value in the table.
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
    const ValueMap* const kind = value_map(map.number);
    if (kind == nullptr || kind->read_table == nullptr) continue;
    const Input table = tables.take(map.table_bytes);
    refuse_at(table.at, [&] {
      look_up_lane(kind->read_table(table, map, column), column, n, records + lane * column.bytes,
                   record);
    });
  }
}

}  // namespace plain_decoder
