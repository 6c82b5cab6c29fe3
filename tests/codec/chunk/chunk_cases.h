// Values and layouts that chunk tests go through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gdelta/types.h"

namespace gdelta::test {

using Bytes = std::vector<std::byte>;

/// What a case's values look like.
enum class Pattern { smooth, random, extremes, alternating, special_floats, equal, repeated };
inline constexpr Pattern kPatterns[] = {Pattern::smooth,        Pattern::random, Pattern::extremes,
                                        Pattern::alternating,   Pattern::equal,  Pattern::repeated,
                                        Pattern::special_floats};

inline void put_value(Bytes& out, std::uint64_t value, int bytes, bool big_endian) {
  for (int i = 0; i < bytes; ++i) {
    const int byte = big_endian ? bytes - 1 - i : i;
    out.push_back(static_cast<std::byte>(value >> (8 * byte)));
  }
}

/// Value i of a pattern, as the bits of a number of `bytes` bytes.
inline std::uint64_t pattern_value(Pattern pattern, std::uint64_t i, int lane, int bytes,
                                   std::mt19937_64& random) {
  const std::uint64_t top = 1ull << (8 * bytes - 1);
  switch (pattern) {
    case Pattern::smooth:
      return i * i / 7 + 1000 * lane + random() % 5;
    case Pattern::random:
      return random();
    case Pattern::extremes: {
      const std::uint64_t values[] = {0, 1, top - 1, top, top + 1, ~0ull, ~0ull - 1};
      return values[random() % 7];
    }
    case Pattern::alternating:
      return (i + lane) % 2 == 0 ? top : top - 1;
    case Pattern::special_floats: {
      // NaNs with payloads, both zeros, infinities and subnormals of the type's width.
      const std::uint64_t quiet = bytes == 8   ? 0x7ff8000000000000ull
                                  : bytes == 4 ? 0x7fc00000ull
                                               : 0x7e00ull;
      const std::uint64_t values[] = {quiet, quiet | top, quiet + 77, quiet - 1,
                                      0,     top,         1,          top + 1};
      return values[random() % 8];
    }
    case Pattern::equal:
      return 0x0102030405060708ull + lane;
    case Pattern::repeated:
      return (i % 37) * 0x9e3779b97f4a7c15ull;
  }
  return 0;
}

/// `records` records of `layout`, every column in the given pattern.
inline Bytes make_values(const Layout& layout, std::uint64_t records, Pattern pattern,
                         std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Bytes out;
  out.reserve(records * layout.record_bytes());
  for (std::uint64_t i = 0; i < records; ++i) {
    for (const Column& column : layout.columns) {
      for (int lane = 0; lane < column.tuple; ++lane) {
        const int bytes = value_bytes(column.type);
        put_value(out, pattern_value(pattern, i, lane, bytes, random), bytes, column.big_endian);
      }
    }
  }
  return out;
}

}  // namespace gdelta::test
