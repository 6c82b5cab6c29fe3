// The segmented scans on the CPU: one thread, the results of the device. For any C++ compiler.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "gdelta/primitives/segments.h"

namespace gdelta {

/// Calls `segment(first_row, rows)` for every segment that has rows, in order.
template <class Segment>
void for_each_segment(const HeadFlags& heads, std::uint64_t rows, Segment segment) {
  for (std::uint64_t first = 0, row = 1; first < rows; ++row) {
    if (row < rows && (heads.words[row / 32] >> (row % 32) & 1) == 0) continue;
    segment(first, row - first);
    first = row;
  }
}
template <class Key, class Segment>
void for_each_segment(const SegmentKeys<Key>& segments, std::uint64_t rows, Segment segment) {
  for (std::uint64_t first = 0, row = 1; first < rows; ++row) {
    if (row < rows && segments.keys[row - 1] == segments.keys[row]) continue;
    segment(first, row - first);
    first = row;
  }
}
template <class Offset, class Segment>
void for_each_segment(const SegmentOffsets<Offset>& segments, std::uint64_t rows, Segment segment) {
  std::uint64_t first = 0;
  for (std::uint64_t s = 0; s <= segments.segments; ++s) {
    const std::uint64_t end =
        s == segments.segments
            ? rows
            : std::min<std::uint64_t>(rows, static_cast<std::uint64_t>(segments.offsets[s]));
    if (end > first) segment(first, end - first);
    first = std::max(first, end);
  }
}

/// As gdelta/primitives/segmented_scan.cuh, with everything in host memory. Does nothing if values
/// are no whole rows.
template <class Value, class Op, class Segments>
void segmented_scan_host(const SegmentedScan& scan, const Value* in, Value* out,
                         const Segments& segments, Op op, Value identity) {
  if (scan.tuple < 1 || scan.count % static_cast<unsigned>(scan.tuple) != 0) return;
  const auto tuple = static_cast<std::size_t>(scan.tuple);
  std::vector<Value> sums(tuple);
  for_each_segment(segments, scan.count / tuple, [&](std::uint64_t first, std::uint64_t rows) {
    for (std::uint64_t r = 0; r < rows; ++r) {
      const std::size_t row = (first + (scan.backward ? rows - 1 - r : r)) * tuple;
      for (std::size_t lane = 0; lane < tuple; ++lane) {
        const Value own = in[row + lane];
        const Value before = r == 0 ? identity : sums[lane];
        sums[lane] = r == 0 ? own : op(before, own);
        out[row + lane] = scan.exclusive ? before : sums[lane];
      }
    }
  });
}

template <class Value>
Value wrapping_sum(const Value& a, const Value& b) {
  if constexpr (std::is_integral_v<Value>) {
    using Word = std::make_unsigned_t<Value>;
    return static_cast<Value>(static_cast<Word>(a) + static_cast<Word>(b));
  } else {
    return a + b;
  }
}

/// As gdelta/primitives/segmented_sums.cuh, for any order of 1 or more.
template <class Value, class Segments>
void segmented_sums_host(int order, const SegmentedScan& scan, const Value* in, Value* out,
                         const Segments& segments) {
  SegmentedScan one = scan;
  for (int q = 1; q <= order; ++q, in = out) {
    one.exclusive = scan.exclusive && q == order;
    segmented_scan_host(one, in, out, segments, wrapping_sum<Value>, Value{});
  }
}

}  // namespace gdelta
