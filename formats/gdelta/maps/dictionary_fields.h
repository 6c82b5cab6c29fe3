// The fields of dictionaries as they stand in a model: one parser and one writer. Spec: dictionary.md.
#pragma once

#include "formats/gdelta/maps/map_of_lane.h"
#include "formats/gdelta/tags.h"

namespace gdelta::format {

inline constexpr std::uint64_t kMostTableEntries = 1 << 16;
/// A lane of so many tuples has one entry at most.
inline constexpr std::uint64_t kTuplesOfAnEntry = 8;

namespace detail {

/// Reads the bins of a table of so many bytes, whose entries are known.
GDELTA_HD inline HeadError parse_bins(Cursor& cursor, int value_bytes, std::uint64_t bytes,
                                      TableFields& table) {
  const Byte selector_bits = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  if (selector_bits > kMostSelectorBits) return HeadError::unsupported;
  const std::uint64_t others = table.entries - 1;
  const std::uint64_t least = value_bytes + (others * selector_bits + 7) / 8;
  if (bytes < least || bytes - least > others * value_bytes) return HeadError::corrupt;
  GDELTA_ROLLED
  for (int bin = 0; bin < 1 << selector_bits; ++bin) {
    table.bin_bits[bin] = cursor.byte();
    if (table.bin_bits[bin] > 8 * value_bytes) return HeadError::corrupt;
  }
  table.selector_bits = selector_bits;
  return HeadError::none;
}

}  // namespace detail

GDELTA_HD inline HeadError parse_dictionary_fields(Cursor& cursor, const MappedLane& lane,
                                                   MapFields& fields) {
  TableFields& table = fields.table;
  const std::uint64_t entries = cursor.varint();
  if (entries > kMostTableEntries) return HeadError::unsupported;
  if (cursor.failed || entries == 0 || entries > lane.tuples / kTuplesOfAnEntry)
    return HeadError::corrupt;
  const std::uint64_t bytes = cursor.varint();
  const Byte coder = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  table.coder = static_cast<Coder>(coder);
  if (coder >= kNumCoders || !(table.is_in_bins() || coder_traits(table.coder).codes_tables))
    return HeadError::unsupported;
  table.entries = static_cast<std::uint32_t>(entries);
  if (table.is_in_bins()) {
    const HeadError error = detail::parse_bins(cursor, lane.value_bytes, bytes, table);
    if (error != HeadError::none) return error;
  } else if (bytes > most_coded_bytes(entries * lane.value_bytes)) {
    return HeadError::corrupt;
  }
  table.bytes = static_cast<std::uint32_t>(bytes);
  return HeadError::none;
}

template <class Sink>
GDELTA_HD void write_dictionary_fields(Sink& sink, int /*value_bytes*/, const MapFields& fields) {
  const TableFields& table = fields.table;
  sink.varint(table.entries);
  sink.varint(table.bytes);
  sink.le(1, static_cast<std::uint64_t>(table.coder));
  if (!table.is_in_bins()) return;
  sink.le(1, table.selector_bits);
  for (int bin = 0; bin < 1 << table.selector_bits; ++bin) sink.le(1, table.bin_bits[bin]);
}

}  // namespace gdelta::format
