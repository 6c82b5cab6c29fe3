// Scans of floats that begin with the lowest value of all: a NaN with every bit set for a maximum, one
// with every bit but the sign for a minimum. An inclusive scan gives it back; an exclusive one, which
// starts with an infinity, never shows it.
#pragma once

#include <cstring>
#include <vector>

#include "kernels/scan/scan_types.h"

namespace gdelta::scan {

struct LowestCase {
  Shape shape;
  std::vector<unsigned char> in, expected;
};

inline LowestCase lowest_case(Operator op, Type type, std::uint64_t tuple, bool exclusive,
                              std::uint64_t count, std::uint64_t leading) {
  const auto bytes = static_cast<std::size_t>(type_bytes(type));
  const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1), all = sign | (sign - 1);
  const std::uint64_t infinity = type == Type::f16    ? 0x7c00
                                 : type == Type::bf16 ? 0x7f80
                                 : type == Type::f32  ? 0x7f800000
                                                      : 0x7ff0000000000000;
  const bool max = op == Operator::max;
  const std::uint64_t lowest = max ? all : all ^ sign;
  const std::uint64_t start = max ? infinity | sign : infinity;
  LowestCase made{
      {.op = op, .type = type, .order = 1, .tuple = tuple, .exclusive = exclusive, .count = count},
      {},
      {}};
  made.in.resize(bytes * count);
  made.expected.resize(bytes * count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t value = i < leading ? lowest : 0;  // and then zeros
    const std::uint64_t inclusive = value;
    const std::uint64_t shifted = i < tuple || i - tuple < leading ? start : 0;
    const std::uint64_t expected = exclusive ? shifted : inclusive;
    std::memcpy(made.in.data() + bytes * i, &value, bytes);
    std::memcpy(made.expected.data() + bytes * i, &expected, bytes);
  }
  return made;
}

/// `leading` values are the lowest, a whole number of tuples.
inline std::vector<LowestCase> lowest_cases(std::uint64_t count, std::uint64_t leading) {
  std::vector<LowestCase> cases;
  for (const Operator op : {Operator::max, Operator::min})
    for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64})
      for (const std::uint64_t tuple : {1, 3})
        for (const bool exclusive : {false, true})
          cases.push_back(lowest_case(op, type, tuple, exclusive, count, leading / 3 * 3));
  return cases;
}

}  // namespace gdelta::scan
