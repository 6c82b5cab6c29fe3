#include "golden_case.h"

namespace gdelta::plain {

Bytes wandering_values(const Layout& layout, std::size_t records, std::uint64_t step,
                       std::uint64_t seed) {
  Bytes bytes;
  std::size_t lanes = 0;  // of a record; layouts that break a rule may have any number
  for (const Column& column : layout.columns) lanes += column.tuple;
  std::vector<std::uint64_t> walks(lanes, seed << 20);
  std::uint64_t random = seed;
  for (std::size_t i = 0; i < records; ++i) {
    std::size_t next_walk = 0;
    for (std::size_t c = 0; c < layout.columns.size(); ++c)
      for (int lane = 0; lane < layout.columns[c].tuple; ++lane) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        std::uint64_t& walk = walks[next_walk++];
        walk += (random >> 40) % (2 * step + 1) - step;
        const bool outlier = (random >> 20) % 61 == 0;
        const std::uint64_t value = outlier ? random : walk;
        const int width = value_bytes(layout.columns[c].type);
        for (int b = 0; b < width; ++b)
          bytes.push_back(static_cast<std::byte>(
              value >> 8 * (layout.columns[c].big_endian ? width - 1 - b : b)));
      }
  }
  return bytes;
}

}  // namespace gdelta::plain
