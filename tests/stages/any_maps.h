// Any maps of the rows, with any fields that a model may have: what a parser makes of random bytes.
#pragma once

#include <random>
#include <utility>
#include <vector>

#include "codec/coders/column_maps.h"
#include "codec/coders/maps/dictionary_choice.h"
#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/maps/map_fields.h"
#include "stages/registry.h"

namespace gdelta::test {

/// Bytes of any size, small ones no less often, of which a parser makes fields.
inline std::vector<std::byte> any_fields(std::mt19937_64& random) {
  std::vector<std::byte> fields(4 * format::kMostLaneSteps);
  for (std::byte& byte : fields) byte = static_cast<std::byte>(random() % (1 << random() % 9));
  return fields;
}

inline constexpr int kMostTries = 50;

/// A map that its type may go through, with fields that a model may have.
inline LaneMapping any_mapping(std::mt19937_64& random, ValueType type) {
  const auto map = static_cast<ValueMap>(random() % kNumValueMaps);
  if (!format::map_takes(map, type)) return {};
  if (format::map_traits(map).has_table)  // put_tables makes it
    return {.map = static_cast<std::uint8_t>(map)};
  for (int tries = 0; tries < kMostTries; ++tries) {
    const std::vector<std::byte> bytes = any_fields(random);
    format::Cursor cursor = format::cursor_over(bytes);
    format::MapFields fields;
    fields.map = map;
    if (format::parse_map_fields(cursor, {value_bytes(type), 1}, fields) == format::HeadError::none)
      return {static_cast<std::uint8_t>(map), fields.step, fields.offset};
  }
  return {};
}

/// A lane map with steps that a model may have; none if the bytes do not say one.
inline std::vector<LaneStep> any_steps(std::mt19937_64& random, const Column& column) {
  for (int tries = 0; tries < kMostTries; ++tries) {
    std::vector<std::byte> bytes = any_fields(random);
    bytes[0] = static_cast<std::byte>(random() % kNumLaneMaps);
    format::Cursor cursor = format::cursor_over(bytes);
    format::Front front;
    std::vector<LaneStep> steps;
    const auto visit = [&](const format::LaneStepFields& step) {
      steps.push_back({step.target, step.source, static_cast<LaneStepKind>(step.kind)});
    };
    if (format::parse_lane_map(cursor, column, front, visit) == format::HeadError::none)
      return steps;
  }
  return {};
}

/// Of lanes whose maps have tables; those with too many values have no map.
inline void put_tables(const ColumnBytes& column, ColumnMaps& maps) {
  for (int lane = 0; lane < column.column.tuple; ++lane) {
    LaneMapping& mapping = maps.lanes[static_cast<std::size_t>(lane)];
    maps.tables.emplace_back();
    if (!format::map_traits(static_cast<ValueMap>(mapping.map)).has_table) continue;
    auto table = table_of_lane(column, lane, most_table_entries(column.records));
    if (table) maps.tables.back() = std::move(*table);
    if (!table) mapping = {};
  }
}

inline ColumnMaps any_maps(std::mt19937_64& random, const ColumnBytes& column) {
  ColumnMaps maps;
  for (int lane = 0; lane < column.column.tuple; ++lane)
    maps.lanes.push_back(any_mapping(random, column.column.type));
  if (random() % 2 == 0) maps.table_coders = table_coders();
  put_tables(column, maps);
  maps.steps = any_steps(random, column.column);
  return maps;
}

}  // namespace gdelta::test
