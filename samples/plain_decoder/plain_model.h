// Sections 3.1 and 4 of the specification: what a layout and a model say.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "plain_input.h"

namespace plain_decoder {

// ---- Section 3.1: layouts

struct Column {
  int bytes = 0;  // of a value
  int tuple = 0;
  bool is_float = false;
  bool big_endian = false;
  std::uint64_t mask() const { return ~std::uint64_t{0} >> (64 - 8 * bytes); }
};
using Layout = std::vector<Column>;

inline std::uint64_t record_bytes(const Layout& layout) {
  std::uint64_t bytes = 0;
  for (const Column& column : layout) bytes += std::uint64_t(column.bytes) * column.tuple;
  return bytes;
}

inline Layout read_layout(Input& head) {
  constexpr int kValueBytes[] = {1, 1, 2, 2, 3, 3, 4, 4, 8, 8, 2, 2, 4, 8};
  const std::uint64_t columns = head.varint();
  require(columns >= 1 && columns <= 4096, "a layout has 1 to 4096 columns");
  Layout layout;
  for (std::uint64_t i = 0; i < columns; ++i) {
    const auto type = static_cast<int>(head.number(1));
    require((type & 0x7f) < 14, "unknown type", "unsupported_feature");
    const auto tuple = static_cast<int>(head.number(1));
    require(tuple >= 1 && tuple <= 64, "a tuple has 1 to 64 values");
    layout.push_back({.bytes = kValueBytes[type & 0x7f],
                      .tuple = tuple,
                      .is_float = (type & 0x7f) >= 10,
                      .big_endian = type >= 0x80});
  }
  head.number(1);  // the note
  head.finish();
  require(record_bytes(layout) <= 65536, "a record has at most 65536 bytes");
  return layout;
}

// ---- Section 4: models

using Lane = std::vector<std::uint64_t>;

/// coders/ans.md: a bin as one of its slots sees it.
struct Slot {
  std::uint64_t lower;
  int offset_bits;
  std::uint64_t frequency;
  std::uint64_t place;
};
using Table = std::vector<Slot>;

/// The value map of a lane, with the fields of its page: numbers, or what it says of a table.
struct Map {
  std::uint64_t number = 0;
  std::vector<std::uint64_t> fields = {};
  std::uint64_t entries = 0;
  std::uint64_t table_bytes = 0;
  int table_coder = 0;  // 0: bins
  int selector_bits = 0;
  std::vector<int> bin_bits = {};
};

/// predictors/linear.md: the sum is over own values, then over values of each source.
struct LinearLane {
  std::uint64_t own = 0;
  std::uint64_t shift = 0;
  struct Source {
    std::uint64_t lane;
    std::uint64_t taps;
  };
  std::vector<Source> sources;
  struct Tap {
    std::uint64_t base;
    std::uint64_t width;
  };
  std::vector<Tap> taps;
};

struct Model {
  int coder = 0;
  std::vector<Map> maps;  // one a lane
  std::uint64_t exceptions = 0;
  std::function<void(std::vector<Lane>& lanes)> undo_lane_map;  // empty: there is none
  std::vector<int> orders;                                      // one a lane
  struct Link {
    std::uint64_t stride;
    int order;
  };
  std::vector<Link> links;
  std::uint64_t run_tuples = 0;  // 0: not predicted linearly
  bool reads_unsigned = false;
  std::vector<LinearLane> linear;
  std::vector<std::vector<std::uint64_t>> coefficients;  // of each run: of all taps
  bool has_segments = false;                             // deltas are taken inside of them
  std::vector<int> inside_orders;                        // one a lane
  int head_order = 0;
  bool says_states = false;  // pages begin with those of deltas inside segments

  /// So many of each lane.
  int page_states() const {
    int most = head_order;
    for (const int order : inside_orders) most = std::max(most, order);
    return says_states ? most : 0;
  }
  std::uint64_t arrangement = 0;
  int slot_bits = 0;
  int span_bits = 0;
  std::vector<Table> tables;
  std::uint64_t part_tuples = 0;
  std::vector<std::uint64_t> part_ends;
  std::vector<std::uint64_t> part_checks;
  std::uint64_t column_bytes = 0;
  std::uint64_t section_bytes = 0;  // without the exceptions and tables behind it

  bool has_front() const { return coder >= 2; }
};

}  // namespace plain_decoder
