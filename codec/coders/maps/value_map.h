// What the library does with a value map. A row of gdelta/value_maps.h names an object of this kind, NAME_map, which
// the map's own file defines.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codec/coders/maps/lane_sample.h"
#include "codec/coders/maps/word_functions.h"
#include "formats/gdelta/maps/map_fields.h"

namespace gdelta {

/// The mappings of a kind that may suit a lane, by a sample of it.
template <class Word>
using FindMappings = std::vector<LaneMapping> (*)(const LaneSample<Word>& lane);

/// Tries a map whose words are looked up in a table: the sample behind it, with the table of the whole lane, if that
/// costs less than `limit`.
template <class Word>
using TryTable = std::optional<MapTrial<Word>> (*)(const ColumnBytes& column, int lane,
                                                   const LaneSample<Word>& sample,
                                                   std::uint64_t limit);

/// A mapping that gives all words of a lane back.
struct ExactMapping {
  LaneMapping mapping;
  std::uint64_t spread;  // from the least to the greatest of what it makes of them
};

/// The mapping of a kind that gives every one of these words back, the first of those it tries; nothing if none does, or
/// what it makes of them differs too much to be shorter. Words that get nothing get nothing among others either, unless they are
/// all alike.
template <class Word>
using FindExact = std::optional<ExactMapping> (*)(std::span<const Word> words, int value_bits);

/// Maps without fields have none of these.
struct ColumnValueMap {
  /// What stands behind the map's name if people look into a file: "/100".
  std::string (*words)(const format::MapFields& fields, ValueType type) = nullptr;
  WordFunctions<FindMappings> find = {};
  WordFunctions<TryTable> try_table = {};
  WordFunctions<FindExact> find_exact = {};
};

#define GDELTA_DECLARATION(name, ...) extern const ColumnValueMap name##_map;
GDELTA_VALUE_MAPS(GDELTA_DECLARATION)
#undef GDELTA_DECLARATION

/// Precondition: a number from 1 to kNumValueMaps - 1.
const ColumnValueMap& column_value_map(ValueMap map);

}  // namespace gdelta
