// Segments as the slow encoder has them: differences inside segments, heads first. Spec:
// predictors/segments.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "formats/gdelta/block_frame.h"

namespace gdelta::plain {

/// How a column of a chunk that says its segments is predicted.
struct SegmentChoice {
  std::vector<std::uint64_t> lengths;  // empty: not inside of segments
  std::vector<int> orders;             // one for all lanes or one for each
  int head_order = 0;
  bool says_states = false;  // pages begin with those of deltas
  bool free_states = false;  // some, those of other deltas

  int highest_order() const {
    return std::max(head_order, *std::max_element(orders.begin(), orders.end()));
  }
  int order_of(std::size_t lane) const { return orders[orders.size() == 1 ? 0 : lane]; }
};

namespace detail {

/// A lane of a column as the coder gets it, and what its pages begin with.
struct HeadsFirst {
  std::vector<std::uint64_t> residuals;
  std::vector<std::vector<std::uint64_t>> states;  // of each page
};

/// Residuals that a decoder makes values of, one after the other.
class SlowDelta {
 public:
  SlowDelta(const SegmentChoice& choice, std::size_t page_tuples, std::uint64_t mask,
            HeadsFirst& made)
      : choice_(choice), page_tuples_(page_tuples), mask_(mask), made_(made) {}

  void begin(int order) { state_.assign(static_cast<std::size_t>(order), 0); }
  /// `is_first` behind a head, where states are not taken.
  void add(std::uint64_t value, bool is_first = false) {
    if (made_.residuals.size() % page_tuples_ == 0) begin_page(is_first);
    std::uint64_t residual = value;
    for (std::size_t k = state_.size(); k-- > 0;) {
      const std::uint64_t before = state_[k];
      state_[k] = residual;
      residual = (residual - before) & mask_;
    }
    made_.residuals.push_back(residual);
  }

 private:
  void begin_page(bool is_first) {
    std::vector<std::uint64_t> said(is_first ? std::vector<std::uint64_t>{} : state_);
    if (choice_.says_states && choice_.free_states) {
      for (std::size_t k = 0; k < said.size(); ++k)
        said[k] = (0x9e3779b97f4a7c15 * (made_.residuals.size() + k + 1) >> 11) & mask_;
      if (!is_first) state_ = said;
    }
    said.resize(static_cast<std::size_t>(choice_.highest_order()), choice_.free_states ? 7 : 0);
    made_.states.push_back(said);
  }

  const SegmentChoice& choice_;
  std::size_t page_tuples_;
  std::uint64_t mask_;
  HeadsFirst& made_;
  std::vector<std::uint64_t> state_;
};

inline HeadsFirst heads_first(const SegmentChoice& choice, std::size_t lane,
                              const std::vector<std::uint64_t>& values, std::size_t page_tuples,
                              std::uint64_t mask) {
  HeadsFirst made;
  SlowDelta delta(choice, page_tuples, mask, made);
  const auto for_each = [&](const auto& visit) {
    std::size_t at = 0;
    for (const std::uint64_t length : choice.lengths) {
      if (length > 0) visit(at, length);
      at += length;
    }
  };
  delta.begin(choice.head_order);
  for_each([&](std::size_t at, std::uint64_t) { delta.add(values[at]); });
  for_each([&](std::size_t at, std::uint64_t length) {
    delta.begin(choice.order_of(lane));
    const std::uint64_t base = choice.order_of(lane) > 0 ? values[at] : 0;
    for (std::uint64_t i = 1; i < length; ++i) delta.add((values[at + i] - base) & mask, i == 1);
  });
  return made;
}

inline std::vector<std::byte> segment_fields(const SegmentChoice& choice) {
  std::vector<std::byte> fields;
  if (choice.orders.size() > 1) format::append_le(fields, 1, 255);
  for (const int order : choice.orders)
    format::append_le(fields, 1, static_cast<std::uint64_t>(order));
  format::append_le(fields, 1,
                    static_cast<std::uint64_t>(choice.head_order | (choice.says_states ? 16 : 0)));
  return fields;
}

}  // namespace detail

}  // namespace gdelta::plain
