// Columns: their sections become bytes of records (sections 4 to 6 of the specification), which are checked (section 7).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plain_coders.h"
#include "plain_tables.h"

namespace plain_decoder {

/// Writes the column's bytes into the records at `records`. `lengths` are those of the segments.
inline void decode_column(Input section, const Model& model, const Column& column, std::uint64_t n,
                          const std::vector<std::uint64_t>& lengths, std::uint8_t* records,
                          std::uint64_t record) {
  const std::uint64_t tuple_bytes = std::uint64_t(column.bytes) * column.tuple;
  if (!model.has_front()) {
    for (std::uint64_t i = 0; i < n; ++i)
      std::copy_n(section.at + (model.coder == 0 ? i * tuple_bytes : 0), tuple_bytes,
                  records + i * record);
    return;
  }
  std::vector<Lane> lanes(column.tuple);
  std::vector<Lane> states;
  for (const int order : model.orders) states.emplace_back(order);
  std::vector<PageStates> states_of_pages(lanes.size(), {model.part_tuples, {}});
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < model.part_ends.size(); ++i) {
    const std::uint64_t tuples = std::min(model.part_tuples, n - i * model.part_tuples);
    const Input part = section.take(model.part_ends[i] - begin);
    refuse_at(part.at, [&] {
      if (model.says_states) read_page_states(part, model, column, states_of_pages);
      residual_coder(model.coder)->decode(part, model, column, tuples, states, lanes);
    });
    begin = model.part_ends[i];
  }
  undo_linear(lanes, model, column.mask());
  for (Lane& lane : lanes) undo_strides(lane, model, column.mask());
  for (std::size_t lane = 0; model.has_segments && lane < lanes.size(); ++lane)
    undo_segments(lanes[lane], lengths, model.inside_orders[lane], model.head_order,
                  states_of_pages[lane], column.mask());
  if (model.undo_lane_map) model.undo_lane_map(lanes);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    undo_map(lanes[lane], model.maps[lane], column);
    for (std::uint64_t i = 0; i < n; ++i)
      for (int b = 0; b < column.bytes; ++b)
        records[i * record + lane * column.bytes + b] = static_cast<std::uint8_t>(
            lanes[lane][i] >> 8 * (column.big_endian ? column.bytes - 1 - b : b));
  }
  refuse_at(section.at, [&] { place_exceptions(section, model, column, n, records, record); });
  section.take(model.exceptions * (4 + column.bytes));
  look_up(section, model, column, n, records, record);
}

// ---- Section 7: checks of parts

inline constexpr std::uint64_t kBase = 0x5851F42D4C957F2D;

inline std::uint64_t part_check(std::uint64_t tuples, const Bytes& bytes) {
  std::uint64_t sum = tuples;
  std::uint64_t power = kBase;
  for (std::size_t at = 0; at < bytes.size(); at += 4) {
    std::uint64_t word = 0;
    for (std::size_t b = 0; b < 4 && at + b < bytes.size(); ++b)
      word |= std::uint64_t{bytes[at + b]} << (8 * b);
    sum += word * power;
    power *= kBase;
  }
  return ((sum ^ (sum >> 29)) * 0x9E3779B97F4A7C15) >> 32;
}

/// Compares the column that stands in the records at `records`.
inline void check_column(Input section, const Model& model, const Column& column, std::uint64_t n,
                         const std::uint8_t* records, std::uint64_t record) {
  const std::uint64_t tuple_bytes = std::uint64_t(column.bytes) * column.tuple;
  for (std::size_t i = 0; i < model.part_checks.size(); ++i) {
    const std::uint64_t first = i * model.part_tuples;
    const std::uint64_t tuples = std::min(n - first, model.part_tuples);
    const std::uint64_t end = model.coder == 1 ? 1 : first + tuples;
    Bytes bytes;
    for (std::uint64_t t = first; t < end; ++t)
      bytes.insert(bytes.end(), records + t * record, records + t * record + tuple_bytes);
    std::uint64_t begin = i == 0 ? 0 : first * tuple_bytes;
    if (i > 0 && model.has_front()) begin = model.part_ends[i - 1];
    refuse_at(section.at + begin, [&] {
      require(part_check(tuples, bytes) == model.part_checks[i], "the content of a part differs");
    });
  }
}

}  // namespace plain_decoder
