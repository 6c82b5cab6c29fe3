// The part of plain_encoder.h for maps: slow, from the pages of the maps.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/gdelta/block_frame.h"
#include "gdelta/types.h"
#include "plain_dictionary.h"

namespace gdelta::plain {

/// The value map of a lane: `step` is digits of decimal, the bits of an f64 of scaled, the step of multiple.
struct LaneChoice {
  ValueMap map = ValueMap::none;
  std::uint64_t step = 0;
  std::uint64_t offset = 0;
  TableChoice table = {};
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

struct StepChoice {
  int target = 0;
  int source = 0;
  int kind = 0;
};

namespace detail {

using Lane = std::vector<std::uint64_t>;

inline std::uint64_t mask_of(const Column& column) {
  return ~std::uint64_t{0} >> (64 - value_bits(column.type));
}

inline std::int64_t signed_of(std::uint64_t value, const Column& column) {
  const std::uint64_t mask = mask_of(column);
  return static_cast<std::int64_t>(value > mask >> 1 ? value - mask - 1 : value);
}

inline double ten_to(std::uint64_t digits) {
  double power = 1;
  for (std::uint64_t i = 0; i < digits; ++i) power *= 10;
  return power;
}

/// What decoders make of `k`.
inline std::uint64_t value_of(std::uint64_t k, const LaneChoice& map, const Column& column) {
  const std::uint64_t mask = mask_of(column);
  const std::uint64_t sign = mask ^ (mask >> 1);
  const auto whole = static_cast<double>(signed_of(k, column));
  const auto nearest = [&](double number) {
    return column.type == ValueType::f64 ? std::bit_cast<std::uint64_t>(number)
                                         : std::bit_cast<std::uint32_t>(static_cast<float>(number));
  };
  switch (map.map) {
    case ValueMap::ordered:
      return k ^ ((k & sign) != 0 ? sign : mask);
    case ValueMap::decimal:
      return nearest(whole / ten_to(map.step));
    case ValueMap::scaled:
      return nearest(whole * std::bit_cast<double>(map.step));
    case ValueMap::multiple:
      return (k * map.step + map.offset) & mask;
    case ValueMap::dictionary:
      return map.table.values[k % map.table.values.size()];
    default:
      return k;
  }
}

/// A k that gives `value` back; none if there is none near where it should be.
inline std::optional<std::uint64_t> word_of(std::uint64_t value, const LaneChoice& map,
                                            const Column& column) {
  const std::uint64_t mask = mask_of(column);
  const std::uint64_t sign = mask ^ (mask >> 1);
  std::int64_t about = 0;
  if (map.map == ValueMap::none) return value;
  if (map.map == ValueMap::ordered) return value ^ ((value & sign) != 0 ? mask : sign);
  if (map.map == ValueMap::dictionary) {
    const auto& values = map.table.values;
    return static_cast<std::uint64_t>(std::find(values.begin(), values.end(), value) -
                                      values.begin());
  }
  if (map.map == ValueMap::multiple) {
    about = signed_of((value - map.offset) & mask, column);
    about = map.step == 0 || map.step > mask >> 1 ? 0 : about / static_cast<std::int64_t>(map.step);
  } else {
    const double number = column.type == ValueType::f64
                              ? std::bit_cast<double>(value)
                              : std::bit_cast<float>(static_cast<std::uint32_t>(value));
    const double steps = map.map == ValueMap::decimal ? number * ten_to(map.step)
                                                      : number / std::bit_cast<double>(map.step);
    if (!(std::abs(steps) < 9e18)) return std::nullopt;
    about = static_cast<std::int64_t>(steps);
  }
  for (std::int64_t k = about - 1; k <= about + 1; ++k) {
    const std::uint64_t word = static_cast<std::uint64_t>(k) & mask;
    if (value_of(word, map, column) == value) return word;
  }
  return std::nullopt;
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

inline void apply_step(std::vector<Lane>& lanes, const StepChoice& step, const Column& column) {
  const Lane& source = lanes[static_cast<std::size_t>(step.source)];
  Lane& target = lanes[static_cast<std::size_t>(step.target)];
  for (std::size_t i = 0; i < target.size(); ++i) {
    const std::int64_t x = signed_of(source[i], column);
    const std::int64_t half = x / 2 - (x % 2 < 0 ? 1 : 0);
    const std::int64_t lost = step.kind == 0 ? x : half;
    const auto change = static_cast<std::uint64_t>(lost);
    target[i] = (step.kind == 2 ? target[i] + change : target[i] - change) & mask_of(column);
  }
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
    any = any || lane.map >= ValueMap::decimal;
    if (lane.map == ValueMap::decimal) format::append_le(out, 1, lane.step);
    if (lane.map == ValueMap::scaled) format::append_le(out, 8, lane.step);
    if (lane.map == ValueMap::dictionary) append_table_fields(out, lane.table, column);
    if (lane.map != ValueMap::multiple) continue;
    format::append_varint(out, lane.step);
    format::append_le(out, value_bytes(column.type), lane.offset);
  }
  if (any) format::append_varint(out, exceptions);
  return out;
}

inline std::vector<std::byte> lane_map_fields(const std::vector<StepChoice>& steps) {
  std::vector<std::byte> out;
  format::append_le(out, 1, steps.size());
  for (const StepChoice& step : steps)
    for (const int field : {step.target, step.source, step.kind})
      format::append_le(out, 1, static_cast<std::uint64_t>(field));
  return out;
}

}  // namespace detail
}  // namespace gdelta::plain
