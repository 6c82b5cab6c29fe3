#include "codec/stream/map_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "formats/gdelta/block_frame.h"

namespace gdelta {
namespace {

std::string words_of_step(double step) {
  const auto rounded = static_cast<float>(step);  // "0.1", not what makes it an f64
  return static_cast<double>(rounded) == step ? fmt::format("{}", rounded)
                                              : fmt::format("{:.15g}", step);
}

std::string words_of_digits(std::uint64_t digits) {
  constexpr std::uint64_t kMostWritten = 6;
  return digits <= kMostWritten ? "1" + std::string(static_cast<std::size_t>(digits), '0')
                                : fmt::format("10^{}", digits);
}

/// " +7", " -7", or nothing; of integers with a sign as one.
std::string words_of_offset(std::uint64_t offset, ValueType type) {
  const bool has_sign = static_cast<int>(type) % 2 == 0;  // of integers
  const int spare = 64 - value_bits(type);
  if (offset == 0) return {};
  return has_sign ? fmt::format(" {:+}", static_cast<std::int64_t>(offset << spare) >> spare)
                  : fmt::format(" +{}", offset);
}

std::string words_of(const format::MapFields& fields, ValueType type) {
  const std::string_view name = map_name(fields.map);
  switch (format::map_traits(fields.map).fields) {
    case format::MapFieldsOf::none:
      break;
    case format::MapFieldsOf::digits:
      return fmt::format("{} /{}", name, words_of_digits(fields.step));
    case format::MapFieldsOf::step:
      return fmt::format("{} x{}", name, words_of_step(std::bit_cast<double>(fields.step)));
    case format::MapFieldsOf::step_and_offset:
      return fmt::format("{} {}{}", name, fields.step, words_of_offset(fields.offset, type));
    case format::MapFieldsOf::table:
      return fmt::format("{} of {}{}", name, fields.table.entries,
                         fields.table.is_in_bins()
                             ? std::string()
                             : fmt::format(" by {}", coder_name(fields.table.coder)));
  }
  return std::string(name);
}

/// "decimal /100", or "by lane: ordered, decimal /10".
std::string words_of(const std::vector<std::string>& lanes) {
  if (std::equal(lanes.begin() + 1, lanes.end(), lanes.begin())) return lanes[0];
  std::string text = "by lane:";
  for (const std::string& lane : lanes)
    text += fmt::format("{}{}", &lane == lanes.data() ? " " : ", ", lane);
  return text;
}

const char* words_of_kind(int kind) { return kind == 2 ? "+" : "-"; }

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
    words.lanes += fmt::format("{} {}{}{}{}", words.lanes.empty() ? "lanes" : "", step.target,
                               words_of_kind(step.kind), step.source, step.kind == 0 ? "" : "/2");
  });
  return words;
}

}  // namespace gdelta
