#include "codec/stream/map_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "codec/coders/maps/lane_map.h"
#include "codec/coders/maps/value_map.h"
#include "formats/gdelta/block_frame.h"

namespace gdelta {
namespace {

std::string words_of(const format::MapFields& fields, ValueType type) {
  const std::string_view name = map_name(fields.map);
  if (!format::has_fields(fields.map)) return std::string(name);
  return fmt::format("{} {}", name, column_value_map(fields.map).words(fields, type));
}

/// "decimal /100", or "by lane: ordered, decimal /10".
std::string words_of(const std::vector<std::string>& lanes) {
  if (std::equal(lanes.begin() + 1, lanes.end(), lanes.begin())) return lanes[0];
  std::string text = "by lane:";
  for (const std::string& lane : lanes)
    text += fmt::format("{}{}", &lane == lanes.data() ? " " : ", ", lane);
  return text;
}

}  // namespace

MapWords map_words(std::span<const std::byte> head, const Column& column,
                   const format::ColumnHead& column_head, std::uint64_t records) {
  format::Cursor cursor = format::cursor_over(head);
  cursor.skip(column_head.maps_at);
  format::Front front;
  std::uint64_t exceptions = 0;
  std::vector<std::string> lanes;
  MapWords words;
  format::parse_value_maps(cursor, column, value_bytes(column.type), records * column.tuple, front,
                           exceptions, [&](int, const format::MapFields& fields) {
                             lanes.push_back(words_of(fields, column.type));
                           });
  if (lanes.empty()) lanes.emplace_back(map_name(front.map));
  if (front.map != ValueMap::none) words.values = words_of(lanes);
  format::parse_lane_map(cursor, column, front, [&](const format::LaneStepFields& step) {
    words.lanes += fmt::format("{} {}", words.lanes.empty() ? "lanes" : "",
                               column_lane_map(front.lane_map).words(step));
  });
  return words;
}

}  // namespace gdelta
