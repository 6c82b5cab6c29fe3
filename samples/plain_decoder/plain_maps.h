// Section 5 of the specification: what a reader has to know of a value map or a lane map. A map is a row here and a file
// of its own, map_NAME.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "plain_values.h"

/// row(name, number)
#define PLAIN_MAPS(row) \
  row(ordered, 1) row(decimal, 2) row(scaled, 3) row(multiple, 4) row(dictionary, 5)

/// row(name, number)
#define PLAIN_LANE_MAPS(row) row(differences, 1)

namespace plain_decoder {

struct ValueMap {
  bool (*fits)(const Column& column);  // which types it is for
  /// Reads the fields of a lane that has this map, if maps of the kind have some.
  void (*read_fields)(Input& fields, const Column& column, std::uint64_t n, Map& map) = nullptr;
  std::uint64_t (*undo)(std::uint64_t word, const Map& map, const Column& column) = nullptr;
  /// The values that words stand for; of these maps, which are undone last, words are numbers of values.
  Lane (*read_table)(const Input& table, const Map& map, const Column& column) = nullptr;
};

#define PLAIN_DECLARATION(name, number) extern const ValueMap name##_map;
PLAIN_MAPS(PLAIN_DECLARATION)
#undef PLAIN_DECLARATION

/// nullptr: there is none of this number.
inline const ValueMap* value_map(std::uint64_t number) {
#define PLAIN_CASE(name, its_number) \
  if (number == (its_number)) return &name##_map;
  PLAIN_MAPS(PLAIN_CASE)
#undef PLAIN_CASE
  return nullptr;
}

inline void undo_map(Lane& x, const Map& map, const Column& column) {
  if (map.number == 0 || value_map(map.number)->undo == nullptr) return;
  for (std::uint64_t& word : x) word = value_map(map.number)->undo(word, map, column);
}

/// Reads the fields of a lane map, and gives what undoes it.
using ReadLaneMap = std::function<void(std::vector<Lane>& lanes)> (*)(Input& fields,
                                                                      const Column& column);

#define PLAIN_DECLARATION(name, number) \
  std::function<void(std::vector<Lane>&)> read_##name(Input& fields, const Column& column);
PLAIN_LANE_MAPS(PLAIN_DECLARATION)
#undef PLAIN_DECLARATION

/// nullptr: there is none of this number.
inline ReadLaneMap lane_map_reader(std::uint64_t number) {
#define PLAIN_CASE(name, its_number) \
  if (number == (its_number)) return read_##name;
  PLAIN_LANE_MAPS(PLAIN_CASE)
#undef PLAIN_CASE
  return nullptr;
}

inline bool is_any_type(const Column&) { return true; }
inline bool is_integer(const Column& column) { return !column.is_float; }
inline bool is_any_float(const Column& column) { return column.is_float; }
inline bool is_long_float(const Column& column) { return column.is_float && column.bytes >= 4; }

}  // namespace plain_decoder
