// Section 4 of the specification and the pages of maps and predictors: the fields of a front.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plain_maps.h"

namespace plain_decoder {

/// An order for all lanes, or one for each.
inline void read_orders(Input& fields, std::vector<int>& lanes) {
  const std::uint64_t orders = fields.number(1);
  require_known(orders <= 8 || orders == 255, "an unknown order");
  for (int& order : lanes) {
    order = static_cast<int>(orders == 255 ? fields.number(1) : orders);
    require_known(order <= 8, "an unknown order");
  }
}

/// predictors/segments.md
inline void read_segments(Input& fields, bool in_segments, Model& model) {
  require(in_segments, "a chunk that does not say its segments");
  model.has_segments = true;
  model.inside_orders.resize(model.orders.size());
  read_orders(fields, model.inside_orders);
  const auto heads = static_cast<int>(fields.number(1));
  model.says_states = (heads & 16) != 0;
  model.head_order = heads & ~16;
  require_known(model.head_order <= 8, "an unknown order");
}

/// predictors/deltas.md
inline void read_deltas(Input& fields, std::uint64_t n, Model& model) {
  read_orders(fields, model.orders);
  const std::uint64_t strides = fields.number(1);
  require_known(strides <= 2, "more strides than are known");
  for (std::uint64_t i = 0; i < strides; ++i) {
    const std::uint64_t stride = fields.varint();
    require(stride >= 2 && stride <= (1 << 22) && 4 * stride <= n, "impossible stride");
    const auto order = static_cast<int>(fields.number(1));
    require(order >= 1, "impossible order of a stride");
    require_known(order <= 8, "an unknown order of a stride");
    model.links.push_back({stride, order});
  }
}

inline LinearLane read_linear_lane(Input& fields, std::uint64_t number) {
  LinearLane lane;
  std::uint64_t taps = lane.own = fields.number(1);
  require_known(lane.own <= 32, "more taps than are known");
  const std::uint64_t sources = fields.number(1);
  require_known(sources <= 2, "more sources than are known");
  lane.shift = fields.number(1);
  require_known(lane.shift <= 15, "an unknown shift");
  for (std::uint64_t i = 0; i < sources; ++i) {
    const std::uint64_t source = fields.number(1);
    require(source < number && (i == 0 || source > lane.sources.back().lane), "impossible source");
    lane.sources.push_back({source, fields.number(1)});
    require(lane.sources.back().taps > 0, "a source without taps");
    taps += lane.sources.back().taps;
    require_known(taps <= 32, "more taps than are known");
  }
  for (std::uint64_t i = 0; i < taps; ++i) {
    lane.taps.push_back({fields.number(2), fields.number(1)});
    require_known(lane.taps.back().width <= 16, "an unknown width");
  }
  return lane;
}

/// predictors/linear.md
inline void read_linear(Input& fields, std::uint64_t n, Model& model) {
  const std::uint64_t run_bits = fields.number(1);
  require_known(run_bits >= 8 && run_bits <= 16, "runs of unknown length");
  model.run_tuples = std::uint64_t{1} << run_bits;
  const std::uint64_t reading = fields.number(1);
  require_known(reading <= 1, "an unknown reading");
  model.reads_unsigned = reading == 1;
  std::uint64_t bits = 0;  // of a run
  for (std::uint64_t lane = 0; lane < model.orders.size(); ++lane) {
    model.linear.push_back(read_linear_lane(fields, lane));
    for (const LinearLane::Tap& tap : model.linear.back().taps) bits += tap.width;
  }
  const std::uint64_t runs = divide_up(n, model.run_tuples);
  const Input table = fields.take(divide_up(runs * bits, 8));
  require(row_bits(table, runs * bits, 8 * table.left() - runs * bits) == 0,
          "padding that is not zero");
  std::uint64_t at = 0;
  for (std::uint64_t run = 0; run < runs; ++run) {
    model.coefficients.emplace_back();
    for (const LinearLane& lane : model.linear)
      for (const LinearLane::Tap& tap : lane.taps) {
        const std::uint64_t c = (tap.base + row_bits(table, at, tap.width)) & 0xffff;
        model.coefficients.back().push_back(c < 0x8000 ? c : c - 0x10000);
        at += tap.width;
      }
  }
}

inline void require_map_of_type(std::uint64_t number, const Column& column) {
  require_known(number == 0 || value_map(number) != nullptr, "unknown value map");
  require(number == 0 || value_map(number)->fits(column), "a value map that is not for the type");
}

inline void read_value_maps(Input& fields, const Column& column, std::uint64_t n, Model& model) {
  constexpr std::uint64_t kByLane = 255;
  const std::uint64_t number = fields.number(1);
  if (number != kByLane) require_map_of_type(number, column);
  model.maps.resize(column.tuple);
  for (Map& map : model.maps) {
    map.number = number == kByLane ? fields.number(1) : number;
    require_map_of_type(map.number, column);
  }
  bool has_fields = false;
  for (Map& map : model.maps) {
    if (map.number == 0 || value_map(map.number)->read_fields == nullptr) continue;
    value_map(map.number)->read_fields(fields, column, n, map);
    has_fields = true;
  }
  if (has_fields) model.exceptions = fields.varint();
  require(model.exceptions <= n * column.tuple, "more exceptions than values");
  std::uint64_t bytes = model.exceptions * (4 + column.bytes);
  for (const Map& map : model.maps) bytes += map.table_bytes;
  require(bytes <= model.column_bytes, "more exceptions and tables than there is room for");
  model.section_bytes = model.column_bytes - bytes;
}

inline void read_lane_map(Input& fields, const Column& column, Model& model) {
  const std::uint64_t number = fields.number(1);
  if (number == 0) return;
  const ReadLaneMap read = lane_map_reader(number);
  require_known(read != nullptr, "unknown lane map");
  model.undo_lane_map = read(fields, column);
}

inline void read_front(Input& fields, const Column& column, std::uint64_t n, bool in_segments,
                       Model& model) {
  read_value_maps(fields, column, n, model);
  read_lane_map(fields, column, model);
  const std::uint64_t predictor = fields.number(1);
  require_known(predictor <= 3, "unknown predictor");
  model.orders.assign(column.tuple, 0);
  if (predictor == 1) read_deltas(fields, n, model);
  if (predictor == 2) read_linear(fields, n, model);
  if (predictor == 3) read_segments(fields, in_segments, model);
}

}  // namespace plain_decoder
