// Maps whose words are whole numbers of steps: a word for a value is looked for near where it should be.
#pragma once

#include <cmath>

#include "../plain_maps.h"

namespace gdelta::plain::detail {

inline double float_of(std::uint64_t value, const Column& column) {
  return column.type == ValueType::f64 ? std::bit_cast<double>(value)
                                       : std::bit_cast<float>(static_cast<std::uint32_t>(value));
}

/// The bits of the float of the column's type that is nearest.
inline std::uint64_t nearest_bits(double number, const Column& column) {
  return column.type == ValueType::f64 ? std::bit_cast<std::uint64_t>(number)
                                       : std::bit_cast<std::uint32_t>(static_cast<float>(number));
}

/// Of `about` and its neighbours the first that `value_of` gives `value` for.
template <class ValueOf>
std::optional<std::uint64_t> word_near(std::int64_t about, std::uint64_t value,
                                       const LaneChoice& lane, const Column& column,
                                       ValueOf value_of) {
  for (std::int64_t k = about - 1; k <= about + 1; ++k) {
    const std::uint64_t word = static_cast<std::uint64_t>(k) & mask_of(column);
    if (value_of(word, lane, column) == value) return word;
  }
  return std::nullopt;
}

/// The same, of steps that may be no number.
template <class ValueOf>
std::optional<std::uint64_t> word_near(double steps, std::uint64_t value, const LaneChoice& lane,
                                       const Column& column, ValueOf value_of) {
  if (!(std::abs(steps) < 9e18)) return std::nullopt;
  return word_near(static_cast<std::int64_t>(steps), value, lane, column, value_of);
}

}  // namespace gdelta::plain::detail
