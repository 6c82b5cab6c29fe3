// Value maps and lane maps as they stand in a model: one parser, for host and device. Spec: spec.md,
// section 4, and the pages of the maps.
#pragma once

#include "formats/gdelta/map_traits.h"
#include "formats/gdelta/model.h"
#include "formats/gdelta/tags.h"

namespace gdelta::format {

inline constexpr std::uint64_t kMostDigits = 22;
inline constexpr std::uint64_t kMostTableEntries = 1 << 16;
inline constexpr int kMostSelectorBits = 4;
/// A lane of so many tuples has one entry at most.
inline constexpr std::uint64_t kTuplesOfAnEntry = 8;
inline constexpr int kMostLaneSteps = 64;
inline constexpr int kNumLaneStepKinds = 3;
/// The place of an exception takes so many bytes, which stand before all values.
inline constexpr std::uint64_t kExceptionPlaceBytes = 4;

/// How the table of a dictionary is coded (maps/dictionary.md).
struct TableFields {
  std::uint32_t entries = 0;
  std::uint32_t bytes = 0;
  Coder coder = {};
  // Of tables in bins.
  std::uint8_t selector_bits = 0;
  std::uint8_t bin_bits[1 << kMostSelectorBits] = {};

  /// Whether no coder has made it: devices expand such tables, and no others.
  GDELTA_HD bool is_in_bins() const { return coder == Coder{}; }
};

/// The map of a lane, and what it needs to know.
struct MapFields {
  ValueMap map = ValueMap::none;
  std::uint64_t step = 0;    // digits of decimal; the bits of an f64 of scaled; of multiple
  std::uint64_t offset = 0;  // of multiple
  TableFields table;         // of dictionary
};

/// One lane changed by another; the kinds are those of maps/differences.md.
struct LaneStepFields {
  std::uint8_t target = 0;
  std::uint8_t source = 0;
  std::uint8_t kind = 0;
};

/// Whether the bits are those of a normal positive f64.
GDELTA_HD constexpr bool is_scale(std::uint64_t bits) {
  const std::uint64_t exponent = bits >> 52;
  return exponent >= 1 && exponent <= 2046;
}

namespace detail {

/// Reads the number of one map; `by_lane` is unsupported here.
GDELTA_HD inline HeadError parse_map(Cursor& cursor, ValueType type, ValueMap& map) {
  const Byte number = cursor.byte();
  map = static_cast<ValueMap>(number);
  if (cursor.failed) return HeadError::corrupt;
  if (number >= kNumValueMaps) return HeadError::unsupported;
  return map_takes(map, type) ? HeadError::none : HeadError::corrupt;
}

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

/// Reads what the head says of the table of a lane of so many tuples.
GDELTA_HD inline HeadError parse_table(Cursor& cursor, int value_bytes, std::uint64_t tuples,
                                       TableFields& table) {
  const std::uint64_t entries = cursor.varint();
  if (entries > kMostTableEntries) return HeadError::unsupported;
  if (cursor.failed || entries == 0 || entries > tuples / kTuplesOfAnEntry)
    return HeadError::corrupt;
  const std::uint64_t bytes = cursor.varint();
  const Byte coder = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  table.coder = static_cast<Coder>(coder);
  if (coder >= kNumCoders || !(table.is_in_bins() || coder_traits(table.coder).codes_tables))
    return HeadError::unsupported;
  table.entries = static_cast<std::uint32_t>(entries);
  if (table.is_in_bins()) {
    const HeadError error = parse_bins(cursor, value_bytes, bytes, table);
    if (error != HeadError::none) return error;
  } else if (bytes > most_coded_bytes(entries * value_bytes)) {
    return HeadError::corrupt;
  }
  table.bytes = static_cast<std::uint32_t>(bytes);
  return HeadError::none;
}

/// Reads the fields of the map of a lane of so many tuples.
GDELTA_HD inline HeadError parse_map_fields(Cursor& cursor, int value_bytes, std::uint64_t tuples,
                                            MapFields& fields) {
  switch (map_traits(fields.map).fields) {
    case MapFieldsOf::none:
      break;
    case MapFieldsOf::digits:
      fields.step = cursor.byte();
      if (!cursor.failed && fields.step > kMostDigits) return HeadError::unsupported;
      break;
    case MapFieldsOf::step:
      fields.step = cursor.fixed(8);
      if (!is_scale(fields.step)) return HeadError::corrupt;
      break;
    case MapFieldsOf::step_and_offset:
      fields.step = cursor.varint();
      if (fields.step < 2 || fields.step > ~0ull >> (64 - 8 * value_bytes))
        return HeadError::corrupt;
      fields.offset = cursor.fixed(value_bytes);
      break;
    case MapFieldsOf::table: {
      const HeadError error = parse_table(cursor, value_bytes, tuples, fields.table);
      if (error != HeadError::none) return error;
      break;
    }
  }
  return cursor.failed ? HeadError::corrupt : HeadError::none;
}

}  // namespace detail

/// Reads which map each lane has. `front.map` and `exceptions` become what they say; exceptions are at
/// most `values`, those of all lanes. Unless all lanes have the same map and it has no fields, visit(lane,
/// fields) is called for each lane in order.
template <class Visit>
GDELTA_HD inline HeadError parse_value_maps(Cursor& cursor, const Column& column, int value_bytes,
                                            std::uint64_t values, Front& front,
                                            std::uint64_t& exceptions, const Visit& visit) {
  HeadError error = detail::parse_map(cursor, column.type, front.map);
  const bool by_lane = front.map == ValueMap::by_lane;
  if (error != HeadError::none && !by_lane) return error;
  exceptions = 0;
  if (!by_lane && !has_fields(front.map)) return HeadError::none;
  const std::uint64_t maps_at = cursor.at;
  bool any_fields = has_fields(front.map);
  GDELTA_ROLLED
  for (int lane = 0; by_lane && lane < column.tuple; ++lane) {
    ValueMap own;
    error = detail::parse_map(cursor, column.type, own);
    if (error == HeadError::unsupported) front.map = own;
    if (error != HeadError::none) return error;
    any_fields |= has_fields(own);
  }
  GDELTA_ROLLED
  for (int lane = 0; lane < column.tuple; ++lane) {
    MapFields fields;
    fields.map = by_lane ? static_cast<ValueMap>(cursor.data[maps_at + lane]) : front.map;
    error = detail::parse_map_fields(cursor, value_bytes, values / column.tuple, fields);
    if (error != HeadError::none) return error;
    visit(lane, fields);
  }
  if (any_fields) exceptions = cursor.varint();
  return cursor.failed || exceptions > values ? HeadError::corrupt : HeadError::none;
}

/// Reads the lane map and calls visit(step) for each of its steps in order.
template <class Visit>
GDELTA_HD inline HeadError parse_lane_map(Cursor& cursor, const Column& column, Front& front,
                                          const Visit& visit) {
  const Byte lane_map = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  front.lane_map = static_cast<LaneMap>(lane_map);
  if (lane_map >= kNumLaneMaps) return HeadError::unsupported;
  if (front.lane_map == LaneMap::none) return HeadError::none;
  const Byte steps = cursor.byte();
  if (cursor.failed || steps == 0) return HeadError::corrupt;
  if (steps > kMostLaneSteps) return HeadError::unsupported;
  GDELTA_ROLLED
  for (int number = 0; number < steps; ++number) {
    LaneStepFields step;
    step.target = cursor.byte();
    step.source = cursor.byte();
    step.kind = cursor.byte();
    if (cursor.failed || step.target >= column.tuple || step.source >= column.tuple ||
        step.target == step.source)
      return HeadError::corrupt;
    if (step.kind >= kNumLaneStepKinds) return HeadError::unsupported;
    visit(step);
  }
  return HeadError::none;
}

}  // namespace gdelta::format
