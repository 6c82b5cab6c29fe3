// The scan as its definition reads: order 1, again and again, one value after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/scan/scan_types.h"

namespace gdelta::scan {

template <class Value>
Value identity_of(Operator op) {
  using Limits = std::numeric_limits<Value>;
  switch (op) {
    case Operator::product:
      return Value(1);
    case Operator::max:
      return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    case Operator::min:
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
    case Operator::bit_and:
      if constexpr (std::is_integral_v<Value>) return static_cast<Value>(~Value(0));
      return Value(0);
    default:
      return Value(0);
  }
}

template <class Value>
Value combine(Operator op, Value a, Value b) {
  if (op == Operator::max) return std::max(a, b);
  if (op == Operator::min) return std::min(a, b);
  if constexpr (std::is_integral_v<Value>) {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    switch (op) {
      case Operator::sum:
        return static_cast<Value>(x + y);
      case Operator::product:
        return static_cast<Value>(x * y);
      case Operator::bit_xor:
        return static_cast<Value>(x ^ y);
      case Operator::bit_and:
        return static_cast<Value>(x & y);
      default:
        return static_cast<Value>(x | y);
    }
  } else {
    return op == Operator::product ? a * b : a + b;
  }
}

/// In place; `exclusive` shifts the last order by one tuple.
template <class Value>
void reference_scan(const Shape& shape, std::vector<Value>& values) {
  const std::size_t count = values.size();
  if (shape.backward) std::reverse(values.begin(), values.end());
  for (int order = 1; order <= shape.order; ++order) {
    for (std::size_t i = shape.tuple; i < count; ++i) {
      values[i] = combine(shape.op, values[i - shape.tuple], values[i]);
    }
  }
  if (shape.exclusive) {
    for (std::size_t i = count; i-- > 0;) {
      values[i] = i >= shape.tuple ? values[i - shape.tuple] : identity_of<Value>(shape.op);
    }
  }
  if (shape.backward) std::reverse(values.begin(), values.end());
}

/// Every bit pattern for integers; small whole numbers for floating point, whose sums are then
/// exact.
template <class Value>
std::vector<Value> random_values(std::size_t count, std::uint64_t seed, Operator op) {
  std::mt19937_64 random(seed);
  std::vector<Value> values(count);
  for (Value& value : values) {
    if constexpr (std::is_integral_v<Value>) {
      value = static_cast<Value>(random());
      if (op == Operator::bit_and) value |= static_cast<Value>(random() | random() | random());
      if (op == Operator::bit_or) value &= static_cast<Value>(random() & random() & random());
      if (op == Operator::product) value |= 1;  // or everything is zero soon
    } else {
      value = op == Operator::product ? static_cast<Value>((random() & 1) ? 1 : -1)
                                      : static_cast<Value>(static_cast<int>(random() % 7) - 3);
    }
  }
  return values;
}

inline std::string describe(const Shape& shape) {
  return "op " + std::to_string(int(shape.op)) + " type " + std::to_string(int(shape.type)) +
         " order " + std::to_string(shape.order) + " tuple " + std::to_string(shape.tuple) +
         " count " + std::to_string(shape.count) + (shape.exclusive ? " exclusive" : "") +
         (shape.backward ? " backward" : "");
}

}  // namespace gdelta::scan
