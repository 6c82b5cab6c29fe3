// The part of plain_encoder.h for maps: slow, from the pages of the maps, which are a file of `maps` each.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/gdelta/block_frame.h"
#include "gdelta/types.h"
#include "plain_dictionary.h"

namespace gdelta::plain {

/// The value map of a lane: numbers that it needs, whose meaning is its own (digits of decimal, the bits of an f64 of
/// scaled), and its table.
struct LaneChoice {
  ValueMap map = ValueMap::none;
  std::uint64_t step = 0;
  std::uint64_t offset = 0;
  TableChoice table = {};
  bool overflows = false;  // infinities are products that are too large, and no exceptions
};

inline LaneChoice decimal(int digits) {
  return {ValueMap::decimal, static_cast<std::uint64_t>(digits)};
}
inline LaneChoice scaled(double step) {
  return {ValueMap::scaled, std::bit_cast<std::uint64_t>(step)};
}
inline LaneChoice multiple(std::uint64_t step, std::uint64_t offset = 0) {
  return {ValueMap::multiple, step, offset};
}
/// `values` in the order of their indices.
inline LaneChoice dictionary(std::vector<std::uint64_t> values, std::vector<int> bins) {
  return {.map = ValueMap::dictionary,
          .step = 0,
          .offset = 0,
          .table = {std::move(values), std::move(bins)}};
}

/// The same by lzma in the place of bins.
inline LaneChoice dictionary_by_lzma(std::vector<std::uint64_t> values) {
  LaneChoice choice = dictionary(std::move(values), {});
  choice.table.coder = Coder::lzma;
  return choice;
}

/// A step of a lane map; the kind is as its page numbers it.
struct StepChoice {
  int target = 0;
  int source = 0;
  int kind = 0;
};

struct GoldenCase;

namespace detail {

using Lane = std::vector<std::uint64_t>;

inline std::uint64_t mask_of(const Column& column) {
  return ~std::uint64_t{0} >> (64 - value_bits(column.type));
}

inline std::int64_t signed_of(std::uint64_t value, const Column& column) {
  const std::uint64_t mask = mask_of(column);
  return static_cast<std::int64_t>(value > mask >> 1 ? value - mask - 1 : value);
}

/// A map, from its page alone: what decoders make of a word, and a word that gives `value` back, if there is one.
struct PlainMap {
  std::uint64_t (*value_of)(std::uint64_t word, const LaneChoice& lane, const Column& column);
  std::optional<std::uint64_t> (*word_of)(std::uint64_t value, const LaneChoice& lane,
                                          const Column& column);
  /// Appends the fields of a lane, if maps of the kind have some.
  void (*append_fields)(std::vector<std::byte>& out, const LaneChoice& lane,
                        const Column& column) = nullptr;
  /// Appends the table in which words are looked up, if maps of the kind have one.
  void (*append_table)(std::vector<std::byte>& out, const LaneChoice& lane,
                       const Column& column) = nullptr;
  /// Golden cases, if golden_maps.cpp has none of the map.
  void (*add_cases)(std::vector<GoldenCase>& cases) = nullptr;
};

/// row(name): maps/NAME.cpp defines the map, codec/faults/fault_NAME.cpp its hostile streams (`add_faults_of_NAME`), and
/// samples/plain_decoder has its decoder.
#define GDELTA_PLAIN_MAPS(row) row(ordered) row(decimal) row(scaled) row(multiple) row(dictionary)

#define GDELTA_DECLARATION(name) extern const PlainMap plain_##name##_map;
GDELTA_PLAIN_MAPS(GDELTA_DECLARATION)
#undef GDELTA_DECLARATION

/// nullptr: no map.
inline const PlainMap* plain_map(ValueMap map) {
#define GDELTA_CASE(name) \
  if (map == ValueMap::name) return &plain_##name##_map;
  GDELTA_PLAIN_MAPS(GDELTA_CASE)
#undef GDELTA_CASE
  return nullptr;
}

inline bool has_table(ValueMap map) {
  return plain_map(map) != nullptr && plain_map(map)->append_table != nullptr;
}

/// A lane map, from its page alone.
struct PlainLaneMap {
  void (*apply)(std::vector<Lane>& lanes, const StepChoice& step, const Column& column);
  void (*append_fields)(std::vector<std::byte>& out, const std::vector<StepChoice>& steps,
                        const Column& column);
  /// As of value maps.
  void (*add_cases)(std::vector<GoldenCase>& cases) = nullptr;
};

/// row(name): as of value maps.
#define GDELTA_PLAIN_LANE_MAPS(row) row(differences)

#define GDELTA_DECLARATION(name) extern const PlainLaneMap plain_##name##_map;
GDELTA_PLAIN_LANE_MAPS(GDELTA_DECLARATION)
#undef GDELTA_DECLARATION

/// Precondition: a row says it.
inline const PlainLaneMap& plain_lane_map(LaneMap map) {
  const PlainLaneMap* found = nullptr;
#define GDELTA_CASE(name) \
  if (map == LaneMap::name) found = &plain_##name##_map;
  GDELTA_PLAIN_LANE_MAPS(GDELTA_CASE)
#undef GDELTA_CASE
  return *found;
}

/// What decoders make of `k`.
inline std::uint64_t value_of(std::uint64_t k, const LaneChoice& lane, const Column& column) {
  const PlainMap* const map = plain_map(lane.map);
  return map == nullptr ? k : map->value_of(k, lane, column);
}

inline std::optional<std::uint64_t> word_of(std::uint64_t value, const LaneChoice& lane,
                                            const Column& column) {
  const PlainMap* const map = plain_map(lane.map);
  return map == nullptr ? value : map->word_of(value, lane, column);
}

/// Maps a lane in place, and says which values are exceptions: there stands a number of no meaning.
inline std::vector<std::size_t> apply_map(Lane& lane, const LaneChoice& map, const Column& column) {
  std::vector<std::size_t> exceptions;
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const auto word = word_of(lane[i], map, column);
    if (!word) exceptions.push_back(i);
    lane[i] = word.value_or(i == 0 ? 77 : lane[i - 1]);
  }
  return exceptions;
}

/// What follows the number of the value map.
inline std::vector<std::byte> map_fields(const std::vector<LaneChoice>& maps, bool by_lane,
                                         const Column& column, std::size_t exceptions) {
  std::vector<std::byte> out;
  if (by_lane)
    for (const LaneChoice& lane : maps)
      format::append_le(out, 1, static_cast<std::uint64_t>(lane.map));
  bool any = false;
  for (const LaneChoice& lane : maps) {
    const PlainMap* const map = plain_map(lane.map);
    if (map == nullptr || map->append_fields == nullptr) continue;
    map->append_fields(out, lane, column);
    any = true;
  }
  if (any) format::append_varint(out, exceptions);
  return out;
}

}  // namespace detail
}  // namespace gdelta::plain
