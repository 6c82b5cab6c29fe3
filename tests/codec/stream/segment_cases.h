// Segmentations and values that the tests of ragged streams share.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "gdelta/segment_stream.h"
#include "stream_tools.h"

namespace gdelta::test {

struct Segmentation {
  std::string name;
  std::vector<std::uint64_t> lengths;

  std::uint64_t records() const {
    return std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
  }
  std::vector<std::uint64_t> offsets() const {
    std::vector<std::uint64_t> offsets{0};
    for (const std::uint64_t length : lengths) offsets.push_back(offsets.back() + length);
    return offsets;
  }
};

inline std::vector<Segmentation> segmentations() {
  std::vector<Segmentation> all = {{"none", {}},
                                   {"one empty", {0}},
                                   {"empty ones alone", std::vector<std::uint64_t>(3000, 0)},
                                   {"one record", {1}},
                                   {"one segment", {5000}},
                                   {"of length one", std::vector<std::uint64_t>(2500, 1)},
                                   {"empty first and last", {0, 0, 700, 0, 0, 0, 1300, 1, 0, 0}},
                                   {"on borders of groups", {128, 1, 127, 129, 256, 255, 0, 257}}};
  std::mt19937 random(5);
  Segmentation uneven{"uneven", {}};
  for (int k = 0; k < 400; ++k)
    uneven.lengths.push_back(random() % 5 == 0 ? 0 : random() % (k % 50 == 0 ? 900 : 12));
  all.push_back(uneven);
  Segmentation huge{"a huge one among short ones", std::vector<std::uint64_t>(900, 2)};
  huge.lengths[400] = 9000;
  all.push_back(huge);
  return all;
}

/// Numbers that rise inside each segment, in every lane; tuples of any layout of one column.
inline Bytes rising_values(const Segmentation& segments, const Layout& layout, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  const Column& column = layout.columns[0];
  const int bytes = value_bytes(column.type);
  Bytes values;
  for (const std::uint64_t length : segments.lengths) {
    std::vector<std::uint64_t> lanes(column.tuple);
    for (std::uint64_t& lane : lanes) lane = random() % 100000;
    for (std::uint64_t i = 0; i < length; ++i)
      for (std::uint64_t& lane : lanes) {
        for (int b = 0; b < bytes; ++b)
          values.push_back(
              static_cast<std::byte>(lane >> 8 * (column.big_endian ? bytes - 1 - b : b)));
        lane += random() % 30;
      }
  }
  return values;
}

}  // namespace gdelta::test
