// A slow encoder that writes any model the format allows, also those that no planner chooses. It
// makes the golden files, and streams for tests.
#pragma once

#include <lzma.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/chunk_block.h"
#include "formats/gdelta/end_block.h"
#include "formats/gdelta/layout_block.h"
#include "formats/gdelta/metadata_block.h"
#include "formats/gdelta/stream_header.h"
#include "kernels/bitpack/group_layout.h"
#include "plain_ans.h"
#include "plain_linear.h"
#include "plain_maps.h"
#include "plain_segments.h"

namespace gdelta::plain {

using Bytes = std::vector<std::byte>;

/// A model, and what the encoder is free to choose besides.
struct Choice {
  format::ColumnModel model;
  int width = -1;                     // of every group of pack; -1: the cheapest
  bool begin_at_first_value = false;  // the state of the first page of pack and ans
  bool free_states = false;           // every page of pack and ans begins with some states
  std::vector<LaneChoice> maps;       // one for all lanes, or one for each
  std::vector<StepChoice> steps;
  /// Places that are exceptions though their maps give their values back.
  std::set<std::uint64_t> exceptions;
  AnsModel ans;
  LinearPlainModel linear;
  SegmentChoice segments;
  /// Makes the page of ans whose residuals these are, lane by lane; without it, encode_ans_page does.
  std::function<AnsPage(std::size_t first_tuple, const AnsLanes& residuals)> make_ans_page;
};

inline Choice raw() { return {}; }

inline Choice constant() {
  Choice choice;
  choice.model.section.coder = Coder::constant;
  return choice;
}

/// `orders` names one order for all lanes or one for each.
inline Choice linked(Coder coder, const Column& column, std::vector<int> orders) {
  Choice choice;
  choice.model.section.coder = coder;
  if (format::coder_traits(coder).parts == format::PartRule::pages)
    choice.model.section.part_groups = 1;
  if (coder == Coder::ans) choice.ans = ans_model(value_bits(column.type));
  for (int lane = 0; lane < column.tuple; ++lane)
    choice.model.front.orders[lane] = static_cast<std::uint8_t>(
        orders[std::min<std::size_t>(static_cast<std::size_t>(lane), orders.size() - 1)]);
  return choice;
}

inline Choice with_stride(Choice choice, std::uint32_t stride, int order) {
  choice.model.front.strides[choice.model.front.num_strides++] = {stride,
                                                                  static_cast<std::uint8_t>(order)};
  return choice;
}

/// Predicted linearly in place of deltas.
inline Choice predicted(Coder coder, const Column& column, const LinearPlainModel& linear) {
  Choice choice = linked(coder, column, {0});
  choice.model.front.predictor = Predictor::linear;
  choice.linear = linear;
  return choice;
}

/// Inside segments in place of deltas.
inline Choice inside(Coder coder, const Column& column, const SegmentChoice& segments) {
  Choice choice = linked(coder, column, {0});
  choice.model.front.predictor = Predictor::segments;
  choice.segments = segments;
  return choice;
}

/// One map for all lanes, or one for each.
inline Choice with_maps(Choice choice, std::vector<LaneChoice> maps) {
  choice.model.front.map = maps.size() == 1 ? maps[0].map : ValueMap::by_lane;
  choice.maps = std::move(maps);
  return choice;
}

inline Choice with_steps(Choice choice, std::vector<StepChoice> steps) {
  choice.model.front.lane_map = format::LaneMap::differences;
  choice.steps = std::move(steps);
  return choice;
}

namespace detail {

/// Bytes `at`, `at + step`, ... of one column as the values of one lane.
inline Lane read_lane(std::span<const std::byte> records, std::size_t record_bytes,
                      std::size_t column_at, const Column& column, int lane) {
  const int bytes = value_bytes(column.type);
  Lane values;
  for (std::size_t at = column_at; at < records.size(); at += record_bytes) {
    std::uint64_t value = 0;
    for (int b = 0; b < bytes; ++b) {
      const int from = column.big_endian ? bytes - 1 - b : b;
      value |= std::to_integer<std::uint64_t>(
                   records[at + static_cast<std::size_t>(lane * bytes + from)])
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

/// The residual that leads from `state` (y1 ... yq) to the value, and the state after.
inline std::uint64_t plain_step(Lane& state, std::uint64_t value, const Column& column) {
  const std::uint64_t mask = mask_of(column);
  std::uint64_t residual = value;
  for (std::size_t k = state.size(); k-- > 0;) {
    const std::uint64_t before = state[k];
    state[k] = residual;
    residual = (residual - before) & mask;
  }
  return residual;
}

/// The same, zigzagged.
inline std::uint64_t step(Lane& state, std::uint64_t value, const Column& column) {
  const std::uint64_t residual = plain_step(state, value, column);
  const std::uint64_t mask = mask_of(column);
  const std::uint64_t sign = mask ^ (mask >> 1);
  return ((residual << 1) ^ ((residual & sign) != 0 ? ~std::uint64_t{0} : 0)) & mask;
}

inline void append_group(Bytes& groups, Bytes& descriptors, Bytes& exceptions,
                         std::span<const std::uint64_t> residuals, const Choice& choice,
                         const Column& column) {
  const int bits = value_bits(column.type);
  std::uint8_t counts[65] = {};
  std::uint64_t padded[format::kGroupValues] = {};
  std::copy(residuals.begin(), residuals.end(), padded);
  int longest = 0;
  for (const std::uint64_t z : padded) {
    int needed = 0;
    while (needed < 64 && (z >> needed) != 0) ++needed;
    ++counts[needed];
    longest = std::max(longest, needed);
  }
  GroupDescriptor descriptor = choose_width(counts, bits).descriptor;
  if (choice.width >= 0) {
    int above = 0;
    for (int b = choice.width + 1; b <= bits; ++b) above += counts[b];
    const int high_bits = longest - choice.width;
    const int high_bytes = high_bits <= 8 ? 1 : high_bits <= 16 ? 2 : high_bits <= 32 ? 4 : 8;
    descriptor = above > 127 ? make_descriptor(longest, 0, 1)
                             : make_descriptor(choice.width, above, high_bytes);
  }
  format::append_le(descriptors, 2, descriptor.bits);
  const int width = descriptor.width();
  const std::size_t at = groups.size();
  groups.resize(at + static_cast<std::size_t>(descriptor.group_bytes()));
  Bytes positions;
  Bytes highs;
  for (int l = 0; l < 16; ++l)
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t z = padded[8 * l + i];
      for (int bit = 0; bit < width; ++bit) {
        const int to = (16 * i + l) * width + bit;
        if ((z >> bit) & 1)
          groups[at + static_cast<std::size_t>(to / 8)] |= std::byte{1} << (to % 8);
      }
      if (width < 64 && (z >> width) != 0) {
        format::append_le(positions, 1, static_cast<std::uint64_t>(8 * l + i));
        format::append_le(highs, descriptor.high_bytes(), z >> width);
      }
    }
  exceptions.insert(exceptions.end(), positions.begin(), positions.end());
  exceptions.insert(exceptions.end(), highs.begin(), highs.end());
}

inline void append_states(Bytes& section, const std::vector<Lane>& states, const Column& column) {
  for (const Lane& state : states)
    for (const std::uint64_t y : state) format::append_le(section, value_bytes(column.type), y);
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

inline void append_page(Bytes& section, const std::vector<Lane>& lanes, std::vector<Lane>& states,
                        std::size_t begin, std::size_t end, const Choice& choice,
                        const Column& column) {
  Bytes descriptors;
  Bytes groups;
  Bytes exceptions;
  append_states(section, states, column);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    Lane residuals;
    for (std::size_t i = begin; i < end; ++i)
      residuals.push_back(step(states[lane], lanes[lane][i], column));
    for (std::size_t g = 0; g < residuals.size(); g += format::kGroupValues)
      append_group(groups, descriptors, exceptions,
                   std::span(residuals).subspan(
                       g, std::min<std::size_t>(format::kGroupValues, residuals.size() - g)),
                   choice, column);
  }
  section.insert(section.end(), descriptors.begin(), descriptors.end());
  section.insert(section.end(), groups.begin(), groups.end());
  section.insert(section.end(), exceptions.begin(), exceptions.end());
}

inline void append_ans_page(Bytes& section, const std::vector<Lane>& lanes,
                            std::vector<Lane>& states, std::size_t begin, std::size_t end,
                            const Choice& choice, const Column& column) {
  append_states(section, states, column);
  std::vector<Lane> residuals(lanes.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (std::size_t i = begin; i < end; ++i)
      residuals[lane].push_back(plain_step(states[lane], lanes[lane][i], column));
  const Bytes page = bytes_of_page(
      choice.make_ans_page ? choice.make_ans_page(begin, residuals)
                           : encode_ans_page(choice.ans, value_bits(column.type), residuals));
  section.insert(section.end(), page.begin(), page.end());
}

inline Bytes zstd_frame(std::span<const std::byte> bytes) {
  Bytes frame(ZSTD_compressBound(bytes.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), 3));
  return frame;
}

inline Bytes lzma2_stream(std::span<const std::byte> bytes) {
  lzma_options_lzma options;
  lzma_lzma_preset(&options, 3);
  options.dict_size = LZMA_DICT_SIZE_MIN;
  const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  Bytes stream(2 * bytes.size() + 64);
  std::size_t written = 0;
  if (lzma_raw_buffer_encode(filters, nullptr, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                             bytes.size(), reinterpret_cast<std::uint8_t*>(stream.data()), &written,
                             stream.size()) != LZMA_OK)
    throw std::bad_alloc();
  stream.resize(written);
  return stream;
}

inline void append_frame(Bytes& section, const std::vector<Lane>& lanes, std::vector<Lane>& states,
                         std::size_t begin, std::size_t end, const Choice& choice,
                         const Column& column) {
  const std::size_t n = end - begin;
  const std::size_t width = static_cast<std::size_t>(value_bytes(column.type));
  const bool planes = choice.model.section.arrangement != format::Arrangement::values;
  Bytes arranged(n * lanes.size() * width);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t z = step(states[lane], lanes[lane][begin + i], column);
      for (std::size_t b = 0; b < width; ++b) {
        const std::size_t to =
            planes ? (lane * width + b) * n + i : (i * lanes.size() + lane) * width + b;
        arranged[to] = static_cast<std::byte>(z >> (8 * b));
      }
    }
  const bool apart = choice.model.section.arrangement == format::Arrangement::plane_frames;
  const std::size_t piece = apart ? n : arranged.size();
  for (std::size_t at = 0; at < arranged.size(); at += piece) {
    const std::span<const std::byte> bytes(arranged.data() + at, piece);
    const Bytes frame =
        choice.model.section.coder == Coder::lzma ? lzma2_stream(bytes) : zstd_frame(bytes);
    section.insert(section.end(), frame.begin(), frame.end());
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

/// The bytes of tuples [begin, end) of a column, without the other columns.
inline Bytes column_bytes(std::span<const std::byte> values, const Layout& layout,
                          std::size_t number, std::size_t begin, std::size_t end) {
  const auto record_bytes = static_cast<std::size_t>(layout.record_bytes());
  std::size_t column_at = 0;
  for (std::size_t c = 0; c < number; ++c)
    column_at += static_cast<std::size_t>(layout.columns[c].bytes());
  const auto tuple_bytes = static_cast<std::size_t>(layout.columns[number].bytes());
  Bytes bytes;
  for (std::size_t i = begin; i < end; ++i) {
    const auto tuple = values.subspan(i * record_bytes + column_at, tuple_bytes);
    bytes.insert(bytes.end(), tuple.begin(), tuple.end());
  }
  return bytes;
}

}  // namespace detail

namespace detail {

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

/// Value maps and lane map of a column whose values `lanes` are: they become what is behind.
inline void apply_maps(std::span<const std::byte> values, const Layout& layout, std::size_t number,
                       const Choice& choice, std::vector<detail::Lane>& lanes, Section& section) {
  const Column& column = layout.columns[number];
  std::vector<LaneChoice> maps(lanes.size(), LaneChoice{choice.model.front.map});
  for (std::size_t lane = 0; !choice.maps.empty() && lane < lanes.size(); ++lane)
    maps[lane] = choice.maps[choice.maps.size() == 1 ? 0 : lane];
  std::set<std::uint64_t> places = choice.exceptions;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (const std::size_t i : detail::apply_map(lanes[lane], maps[lane], column))
      places.insert(i * lanes.size() + lane);
  section.places.assign(places.begin(), places.end());
  const auto bytes = static_cast<std::size_t>(value_bytes(column.type));
  const Bytes original = detail::column_bytes(values, layout, number, 0, lanes[0].size());
  for (const std::uint64_t place : places) {
    if (maps[place % lanes.size()].map == ValueMap::dictionary) {
      detail::append_value(section.exceptions, lanes[place % lanes.size()][place / lanes.size()],
                           column);
      continue;
    }
    const auto value = original.begin() + static_cast<std::ptrdiff_t>(place * bytes);
    section.exceptions.insert(section.exceptions.end(), value,
                              value + static_cast<std::ptrdiff_t>(bytes));
  }
  for (const LaneChoice& map : maps) {
    if (map.map != ValueMap::dictionary) continue;
    const Bytes table = detail::table_bytes(map.table, column);
    section.tables.insert(section.tables.end(), table.begin(), table.end());
  }
  section.parts.map_fields =
      detail::map_fields(maps, choice.maps.size() > 1, column, places.size());
  for (const StepChoice& step : choice.steps) detail::apply_step(lanes, step, column);
  if (!choice.steps.empty()) section.parts.lane_map_fields = detail::lane_map_fields(choice.steps);
}

/// The section of one column of whole records.
inline Section encode_column(std::span<const std::byte> values, const Layout& layout,
                             std::size_t number, const Choice& choice) {
  const auto records = values.size() / static_cast<std::size_t>(layout.record_bytes());
  const Column& column = layout.columns[number];
  const bool is_constant = choice.model.section.coder == Coder::constant;
  Section section;
  std::vector<detail::Lane> lanes;
  std::vector<detail::Lane> states;
  for (int lane = 0; lane < column.tuple; ++lane) {
    lanes.push_back(detail::read_lane(detail::column_bytes(values, layout, number, 0, records),
                                      static_cast<std::size_t>(column.bytes()), 0, column, lane));
  }
  apply_maps(values, layout, number, choice, lanes, section);
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
  if (!choice.segments.lengths.empty()) {
    section.parts.predictor_fields = detail::segment_fields(choice.segments);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
      lanes[lane] =
          detail::heads_first(choice.segments, lane, lanes[lane], detail::mask_of(column));
  }
  if (choice.model.section.coder == Coder::ans) section.parts.fields = ans_fields(choice.ans);
  const std::size_t part = format::part_tuples(choice.model.section, records);
  for (std::size_t begin = 0; begin < records; begin += part) {
    const std::size_t tuples = std::min(records - begin, part);
    const std::size_t end = is_constant ? 1 : begin + tuples;
    const Bytes original = detail::column_bytes(values, layout, number, begin, end);
    section.parts.checks.push_back(detail::check_of(tuples, original));
    if (!format::codes_residuals(choice.model.section.coder)) {
      section.bytes.insert(section.bytes.end(), original.begin(), original.end());
      continue;
    }
    const auto append = choice.model.section.coder == Coder::pack  ? detail::append_page
                        : choice.model.section.coder == Coder::ans ? detail::append_ans_page
                                                                   : detail::append_frame;
    if (choice.free_states) detail::set_free_states(states, begin, column);
    append(section.bytes, lanes, states, begin, end, choice, column);
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

/// The layout of lengths.
inline const Layout& length_layout() {
  static const Layout layout{{format::kLengthColumn}};
  return layout;
}

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
        encode_column(segments.bytes(), length_layout(), 0, segments.choice));
  for (std::size_t c = 0; !values.empty() && c < layout.columns.size(); ++c)
    add(layout.columns[c], choices[c], encode_column(values, layout, c, choices[c]));
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
