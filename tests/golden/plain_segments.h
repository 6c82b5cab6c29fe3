// Segments as the slow encoder has them: differences inside segments, heads first. Spec:
// predictors/segments.md.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/gdelta/block_frame.h"

namespace gdelta::plain {

/// How a column of a chunk that says its segments is predicted.
struct SegmentChoice {
  std::vector<std::uint64_t> lengths;  // empty: not inside of segments
  std::vector<int> orders;             // one for all lanes or one for each
  int head_order = 0;

  int order_of(std::size_t lane) const { return orders[orders.size() == 1 ? 0 : lane]; }
};

namespace detail {

/// Of the delta of this order, from a state of zero.
inline std::vector<std::uint64_t> differences(std::vector<std::uint64_t> values, int order,
                                              std::uint64_t mask) {
  for (int pass = 0; pass < order; ++pass)
    for (std::size_t i = values.size(); i-- > 1;) values[i] = (values[i] - values[i - 1]) & mask;
  return values;
}

inline std::vector<std::uint64_t> heads_first(const SegmentChoice& choice, std::size_t lane,
                                              const std::vector<std::uint64_t>& values,
                                              std::uint64_t mask) {
  std::vector<std::uint64_t> heads, others;
  std::size_t at = 0;
  for (const std::uint64_t length : choice.lengths) {
    if (length == 0) continue;
    const std::uint64_t head = values[at];
    heads.push_back(head);
    std::vector<std::uint64_t> inside;
    for (std::uint64_t i = 1; i < length; ++i)
      inside.push_back((values[at + i] - (choice.order_of(lane) > 0 ? head : 0)) & mask);
    inside = differences(inside, choice.order_of(lane), mask);
    others.insert(others.end(), inside.begin(), inside.end());
    at += length;
  }
  heads = differences(heads, choice.head_order, mask);
  heads.insert(heads.end(), others.begin(), others.end());
  return heads;
}

inline std::vector<std::byte> segment_fields(const SegmentChoice& choice) {
  std::vector<std::byte> fields;
  if (choice.orders.size() > 1) format::append_le(fields, 1, 255);
  for (const int order : choice.orders)
    format::append_le(fields, 1, static_cast<std::uint64_t>(order));
  format::append_le(fields, 1, static_cast<std::uint64_t>(choice.head_order));
  return fields;
}

}  // namespace detail

}  // namespace gdelta::plain
