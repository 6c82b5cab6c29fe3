// For benches: tuples whose lanes are random walks of an order. Residuals need 4 to 12 bits, another width for every
// 128 of them, and a share of them four bits more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "gdelta/types.h"

namespace gdelta::bench {

/// `exceptions` is the share of residuals with four bits more; `stride` > 0 adds, last of all, the value so many
/// tuples before. `out` holds whole tuples of the column. The same seed gives the same values.
inline void fill_random_walks(std::span<std::byte> out, Column column, int order, double exceptions,
                              std::uint64_t seed, std::uint64_t stride = 0) {
  const std::size_t bytes = static_cast<std::size_t>(value_bytes(column.type));
  const std::size_t tuple = static_cast<std::size_t>(column.tuple);
  const std::uint64_t records = out.size() / column.bytes();
  const auto rare = static_cast<std::uint64_t>(exceptions * 65536);
  std::mt19937_64 random(seed);
  for (std::size_t lane = 0; lane < tuple; ++lane) {
    std::uint64_t sums[8] = {};
    int width = 4;
    for (std::uint64_t i = 0; i < records; ++i) {
      if (i % 128 == 0) width = 4 + static_cast<int>(random() % 9);
      const std::uint64_t bits = random();
      const int used = (bits >> 48) < rare ? width + 4 : width;
      const std::uint64_t z = bits & ((1ull << used) - 1);
      std::uint64_t value = (z >> 1) ^ (0 - (z & 1));
      for (int k = 0; k < order; ++k) value = sums[k] += value;
      std::byte* const at = out.data() + (i * tuple + lane) * bytes;
      if (stride > 0 && i >= stride) {
        std::uint64_t before = 0;
        std::memcpy(&before, at - stride * tuple * bytes, bytes);
        value += before;
      }
      std::memcpy(at, &value, bytes);
    }
  }
}

/// The same in each column of whole records, other walks in each.
inline void fill_record_walks(std::span<std::byte> out, const Layout& layout, int order,
                              double exceptions, std::uint64_t seed) {
  const std::uint64_t record_bytes = layout.record_bytes(), records = out.size() / record_bytes;
  std::uint64_t offset = 0;
  for (const Column& column : layout.columns) {
    const auto bytes = static_cast<std::uint64_t>(column.bytes());
    std::vector<std::byte> own(records * bytes);
    fill_random_walks(own, column, order, exceptions, seed + offset);
    for (std::uint64_t r = 0; r < records; ++r)
      std::memcpy(out.data() + r * record_bytes + offset, own.data() + r * bytes, bytes);
    offset += bytes;
  }
}

}  // namespace gdelta::bench
