// A slow encoder that writes any model the format allows, also those that no planner chooses. It
// makes the golden files, and streams for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "coders/plain_coders.h"
#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/chunk_block.h"
#include "formats/gdelta/end_block.h"
#include "formats/gdelta/layout_block.h"
#include "formats/gdelta/metadata_block.h"
#include "formats/gdelta/stream_header.h"
#include "plain_choice.h"

namespace gdelta::plain {

namespace detail {

/// The values of one lane of a column.
inline Lane read_lane(std::span<const std::byte> tuples, const Column& column, int lane) {
  const int bytes = value_bytes(column.type);
  Lane values;
  for (std::size_t at = 0; at < tuples.size(); at += static_cast<std::size_t>(column.bytes())) {
    std::uint64_t value = 0;
    for (int b = 0; b < bytes; ++b) {
      const int from = column.big_endian ? bytes - 1 - b : b;
      value |=
          std::to_integer<std::uint64_t>(tuples[at + static_cast<std::size_t>(lane * bytes + from)])
          << (8 * b);
    }
    values.push_back(value);
  }
  return values;
}

inline void apply_strides(Lane& lane, const Column& column, const format::Front& front) {
  const std::uint64_t mask = mask_of(column);
  for (int link = 0; link < front.num_strides; ++link)
    for (int k = 0; k < front.strides[link].order; ++k)
      for (std::size_t i = lane.size(); i-- > front.strides[link].stride;)
        lane[i] = (lane[i] - lane[i - front.strides[link].stride]) & mask;
}

/// States that nothing before leads to, others in every page.
inline void set_free_states(std::vector<Lane>& states, std::size_t page_at, const Column& column) {
  std::uint64_t random = page_at + 1;
  for (Lane& state : states)
    for (std::uint64_t& y : state) {
      random = random * 6364136223846793005ull + 1442695040888963407ull;
      y = random >> 3 & mask_of(column);
    }
}

/// Section 7 of the specification, word by word.
inline std::uint32_t check_of(std::uint64_t tuples, std::span<const std::byte> bytes) {
  constexpr std::uint64_t kBase = 0x5851F42D4C957F2D;
  std::uint64_t sum = tuples;
  std::uint64_t power = kBase;
  for (std::size_t at = 0; at < bytes.size(); at += 4) {
    std::uint64_t word = 0;
    for (std::size_t b = 0; b < 4 && at + b < bytes.size(); ++b)
      word |= std::to_integer<std::uint64_t>(bytes[at + b]) << (8 * b);
    sum += word * power;
    power *= kBase;
  }
  return static_cast<std::uint32_t>(((sum ^ (sum >> 29)) * 0x9E3779B97F4A7C15) >> 32);
}

/// As it stands in records.
inline void append_value(Bytes& out, std::uint64_t value, const Column& column) {
  const int bytes = value_bytes(column.type);
  for (int b = 0; b < bytes; ++b)
    out.push_back(static_cast<std::byte>(value >> 8 * (column.big_endian ? bytes - 1 - b : b)));
}

}  // namespace detail

/// A section, what follows it, and what its model says of its parts and maps.
struct Section {
  Bytes bytes;
  std::vector<std::uint64_t> places;  // of exceptions
  Bytes exceptions;                   // their values
  Bytes tables;                       // of dictionaries
  format::SectionTable parts;

  Bytes column() const {
    Bytes all = bytes;
    for (const std::uint64_t place : places) format::append_le(all, 4, place);
    all.insert(all.end(), exceptions.begin(), exceptions.end());
    all.insert(all.end(), tables.begin(), tables.end());
    return all;
  }
};

/// The values of each column of whole records, without the other columns.
inline std::vector<Bytes> values_of_columns(std::span<const std::byte> records,
                                            const Layout& layout) {
  std::vector<Bytes> columns(layout.columns.size());
  const auto record_bytes = static_cast<std::size_t>(layout.record_bytes());
  for (std::size_t at = 0; at + record_bytes <= records.size();) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto tuple = records.subspan(at, static_cast<std::size_t>(layout.columns[c].bytes()));
      columns[c].insert(columns[c].end(), tuple.begin(), tuple.end());
      at += tuple.size();
    }
  }
  return columns;
}

/// Value maps and lane map of a column of `values`, which `lanes` hold: they become what is behind.
inline void apply_maps(std::span<const std::byte> values, const Column& column,
                       const Choice& choice, std::vector<detail::Lane>& lanes, Section& section) {
  std::vector<LaneChoice> maps(lanes.size(), LaneChoice{choice.model.front.map});
  for (std::size_t lane = 0; !choice.maps.empty() && lane < lanes.size(); ++lane)
    maps[lane] = choice.maps[choice.maps.size() == 1 ? 0 : lane];
  std::set<std::uint64_t> places = choice.exceptions;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (const std::size_t i : detail::apply_map(lanes[lane], maps[lane], column))
      places.insert(i * lanes.size() + lane);
  section.places.assign(places.begin(), places.end());
  const auto bytes = static_cast<std::size_t>(value_bytes(column.type));
  for (const std::uint64_t place : places) {
    if (detail::has_table(maps[place % lanes.size()].map)) {
      detail::append_value(section.exceptions, lanes[place % lanes.size()][place / lanes.size()],
                           column);
      continue;
    }
    const auto value = values.subspan(place * bytes, bytes);
    section.exceptions.insert(section.exceptions.end(), value.begin(), value.end());
  }
  for (const LaneChoice& map : maps)
    if (detail::has_table(map.map))
      detail::plain_map(map.map)->append_table(section.tables, map, column);
  section.parts.map_fields =
      detail::map_fields(maps, choice.maps.size() > 1, column, places.size());
  if (choice.steps.empty()) return;
  const detail::PlainLaneMap& lane_map = detail::plain_lane_map(choice.model.front.lane_map);
  for (const StepChoice& step : choice.steps) lane_map.apply(lanes, step, column);
  lane_map.append_fields(section.parts.lane_map_fields, choice.steps, column);
}

/// The section of a column of `values`.
inline Section encode_column(std::span<const std::byte> values, const Column& column,
                             const Choice& choice) {
  const auto tuple_bytes = static_cast<std::size_t>(column.bytes());
  const std::size_t records = values.size() / tuple_bytes;
  const bool is_constant = choice.model.section.coder == Coder::constant;
  Section section;
  std::vector<detail::Lane> lanes;
  std::vector<detail::Lane> states;
  for (int lane = 0; lane < column.tuple; ++lane)
    lanes.push_back(detail::read_lane(values, column, lane));
  apply_maps(values, column, choice, lanes, section);
  for (int lane = 0; lane < column.tuple; ++lane) {
    detail::apply_strides(lanes[static_cast<std::size_t>(lane)], column, choice.model.front);
    states.emplace_back(choice.model.front.orders[lane]);
    if (choice.begin_at_first_value && !states.back().empty())
      states.back().back() = lanes[static_cast<std::size_t>(lane)][0];
  }
  if (!choice.linear.empty()) {
    section.parts.predictor_fields = detail::linear_fields(choice.linear, records);
    lanes = detail::predict_linear(choice.linear, lanes, detail::mask_of(column));
  }
  std::vector<detail::HeadsFirst> in_segments;  // of each lane
  if (!choice.segments.lengths.empty()) {
    section.parts.predictor_fields = detail::segment_fields(choice.segments);
    const std::size_t page = format::part_tuples(choice.model.section, records);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      in_segments.push_back(
          detail::heads_first(choice.segments, lane, lanes[lane], page, detail::mask_of(column)));
      lanes[lane] = in_segments.back().residuals;
    }
  }
  if (choice.model.section.coder == Coder::ans) section.parts.fields = ans_fields(choice.ans);
  const std::size_t part = format::part_tuples(choice.model.section, records);
  for (std::size_t begin = 0; begin < records; begin += part) {
    const std::size_t tuples = std::min(records - begin, part);
    const std::size_t end = is_constant ? 1 : begin + tuples;
    const auto original = values.subspan(begin * tuple_bytes, (end - begin) * tuple_bytes);
    section.parts.checks.push_back(detail::check_of(tuples, original));
    if (!format::codes_residuals(choice.model.section.coder)) {
      section.bytes.insert(section.bytes.end(), original.begin(), original.end());
      continue;
    }
    for (std::size_t lane = 0; choice.segments.says_states && lane < lanes.size(); ++lane)
      for (const std::uint64_t y : in_segments[lane].states[begin / part])
        format::append_le(section.bytes, value_bytes(column.type), y);
    if (choice.free_states) detail::set_free_states(states, begin, column);
    detail::part_appender(choice.model.section.coder)(section.bytes, lanes, states, begin, end,
                                                      choice, column);
    section.parts.ends.push_back(static_cast<std::uint32_t>(section.bytes.size()));
  }
  return section;
}

/// The segments of a chunk, and how their lengths are coded.
struct ChunkSegments {
  std::vector<std::uint64_t> lengths;  // empty: the chunk does not say its segments
  bool continues = false;
  bool goes_on = false;
  Choice choice = raw();

  format::SegmentsHead head() const {
    return {.lengths = lengths.size(),
            .joins = static_cast<format::Byte>((continues ? 1 : 0) + (goes_on ? 2 : 0))};
  }
  Bytes bytes() const {
    Bytes bytes;
    for (const std::uint64_t length : lengths) format::append_le(bytes, 4, length);
    return bytes;
  }
};

/// A whole chunk block of whole records, one choice for each column.
inline Bytes encode_chunk(std::span<const std::byte> values, const Layout& layout,
                          const std::vector<Choice>& choices, bool opaque = false,
                          const ChunkSegments& segments = {}) {
  Bytes models;
  Bytes payload;
  const auto add = [&](const Column& column, const Choice& choice, const Section& section) {
    const Bytes bytes = section.column();
    payload.insert(payload.end(), bytes.begin(), bytes.end());
    format::append_column_model(models, column, choice.model, bytes.size(), section.parts);
  };
  if (!segments.lengths.empty())
    add(format::kLengthColumn, segments.choice,
        encode_column(segments.bytes(), format::kLengthColumn, segments.choice));
  const std::vector<Bytes> columns = values_of_columns(values, layout);
  for (std::size_t c = 0; !values.empty() && c < columns.size(); ++c)
    add(layout.columns[c], choices[c], encode_column(columns[c], layout.columns[c], choices[c]));
  Bytes block;
  format::append_chunk_head(block, opaque, values.size() / layout.record_bytes(), payload.size(),
                            models, segments.head());
  block.insert(block.end(), payload.begin(), payload.end());
  return block;
}

/// Puts blocks together; the index is written if `with_index`.
class StreamBuilder {
 public:
  StreamBuilder() : bytes_(format::kStreamHeader.begin(), format::kStreamHeader.end()) {}

  StreamBuilder& layout(const Layout& layout, LayoutNote note = {}) {
    Bytes head;
    format::append_layout_head(head, {layout, note});
    layout_ = layout;
    return block(format::BlockTag::layout, head);
  }
  StreamBuilder& metadata(const std::vector<MetadataEntry>& entries) {
    Bytes head;
    format::append_metadata_head(head, entries);
    return block(format::BlockTag::metadata, head);
  }
  /// Any block that is no chunk.
  StreamBuilder& block(format::BlockTag tag, const Bytes& head, const Bytes& payload = {}) {
    Bytes block;
    const std::uint32_t check = format::append_block(block, tag, head, payload.size());
    block.insert(block.end(), payload.begin(), payload.end());
    return add(
        {.tag = tag, .block_bytes = block.size(), .check = check, .records = 0, .head = head},
        block);
  }
  StreamBuilder& chunk(std::span<const std::byte> values, const std::vector<Choice>& choices) {
    return add_chunk(encode_chunk(values, layout_, choices), format::BlockTag::chunk,
                     values.size() / layout_.record_bytes());
  }
  StreamBuilder& segments(std::span<const std::byte> values, const std::vector<Choice>& choices,
                          const ChunkSegments& segments) {
    return add_chunk(encode_chunk(values, layout_, choices, false, segments),
                     format::BlockTag::chunk, values.size() / layout_.record_bytes(),
                     segments.head());
  }
  StreamBuilder& opaque(std::span<const std::byte> values, const Choice& choice = raw()) {
    return add_chunk(encode_chunk(values, byte_layout(), {choice}, true),
                     format::BlockTag::opaque_chunk, values.size());
  }
  Bytes finish(bool with_index = true) {
    format::append_end_block(bytes_, with_index ? blocks_ : 0, index_);
    return bytes_;
  }

 private:
  StreamBuilder& add_chunk(const Bytes& block, format::BlockTag tag, std::uint64_t records,
                           const format::SegmentsHead& segments = {}) {
    format::Cursor cursor = format::cursor_over(block);
    format::BlockFrame frame;
    format::parse_block_frame(cursor, frame);
    cursor.skip(frame.head_bytes);
    const auto check = static_cast<std::uint32_t>(cursor.fixed(format::kCheckBytes));
    return add({.tag = tag,
                .block_bytes = block.size(),
                .check = check,
                .records = records,
                .head = {},
                .segments = segments},
               block);
  }
  StreamBuilder& add(const format::IndexEntry& entry, const Bytes& block) {
    format::append_index_entry(index_, entry);
    bytes_.insert(bytes_.end(), block.begin(), block.end());
    ++blocks_;
    return *this;
  }

  Bytes bytes_;
  Bytes index_;
  std::uint64_t blocks_ = 0;
  Layout layout_;
};

}  // namespace gdelta::plain
