// Section 5 of the specification and the pages of maps and predictors: from residuals to values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "plain_model.h"

namespace plain_decoder {

inline std::uint64_t undo_zigzag(std::uint64_t z, std::uint64_t mask) {
  return ((z >> 1) ^ (0 - (z & 1))) & mask;
}

/// The value after one residual; `state` is y1 … yq.
inline std::uint64_t undo_delta(std::uint64_t residual, Lane& state, std::uint64_t mask) {
  for (std::uint64_t& y : state) residual = y = (y + residual) & mask;
  return residual;
}

inline void undo_strides(Lane& x, const Model& model, std::uint64_t mask) {
  for (auto link = model.links.rbegin(); link != model.links.rend(); ++link)
    for (int k = 0; k < link->order; ++k)
      for (std::size_t i = link->stride; i < x.size(); ++i)
        x[i] = (x[i] + x[i - link->stride]) & mask;
}

/// The sum of what a lane is predicted from at tuple i; `c` are the lane's coefficients.
inline std::uint64_t linear_sum(const std::vector<Lane>& lanes, std::uint64_t number,
                                std::uint64_t i, const Model& model, const std::uint64_t* c,
                                std::uint64_t mask) {
  const std::uint64_t sign = mask ^ (mask >> 1);
  const auto read = [&](std::uint64_t word) {
    return !model.reads_unsigned && (word & sign) != 0 ? word | ~mask : word;
  };
  const LinearLane& lane = model.linear[number];
  std::uint64_t sum = 0;
  for (std::uint64_t k = 0; k < lane.own; ++k) sum += *c++ * read(lanes[number][i - 1 - k]);
  for (const LinearLane::Source& source : lane.sources)
    for (std::uint64_t k = 0; k < source.taps; ++k) sum += *c++ * read(lanes[source.lane][i - k]);
  return sum;
}

/// predictors/linear.md
inline void undo_linear(std::vector<Lane>& lanes, const Model& model, std::uint64_t mask) {
  for (std::uint64_t at = 0; model.run_tuples > 0 && at < lanes[0].size(); ++at) {
    const std::uint64_t i = at % model.run_tuples;
    const std::uint64_t* c = model.coefficients[at / model.run_tuples].data();
    for (std::uint64_t number = 0; number < lanes.size(); ++number) {
      const LinearLane& lane = model.linear[number];
      std::uint64_t history = lane.own;
      for (const LinearLane::Source& source : lane.sources)
        history = std::max(history, source.taps - 1);
      Lane& x = lanes[number];
      std::uint64_t p = 0;
      if (i >= history) {
        p = linear_sum(lanes, number, at, model, c, mask);
        if (lane.shift > 0) p += std::uint64_t{1} << (lane.shift - 1);
        p = static_cast<std::uint64_t>(static_cast<std::int64_t>(p) >> lane.shift);
      } else if (i > 0) {
        p = i == 1 ? x[at - 1] : 2 * x[at - 1] - x[at - 2];
      }
      x[at] = (x[at] + p) & mask;
      c += lane.taps.size();
    }
  }
}

/// What the pages of a lane begin with.
struct PageStates {
  std::uint64_t page_tuples;
  std::vector<Lane> of_pages;  // empty: nothing

  /// Takes over a state if a page begins with this residual.
  void begin(std::uint64_t residual, Lane& state) const {
    if (of_pages.empty() || residual % page_tuples != 0) return;
    std::copy_n(of_pages[residual / page_tuples].begin(), state.size(), state.begin());
  }
};

inline void read_page_states(Input page, const Model& model, const Column& column,
                             std::vector<PageStates>& lanes) {
  for (PageStates& lane : lanes) {
    lane.of_pages.emplace_back();
    for (int k = 0; k < model.page_states(); ++k)
      lane.of_pages.back().push_back(page.number(column.bytes));
  }
}

/// predictors/segments.md
inline void undo_segments(Lane& x, const std::vector<std::uint64_t>& lengths, int order,
                          int head_order, const PageStates& states, std::uint64_t mask) {
  std::uint64_t heads = 0;
  for (const std::uint64_t length : lengths) heads += length > 0;
  Lane along_heads(head_order);
  std::size_t next_head = 0, next_other = heads;
  Lane values;
  for (const std::uint64_t length : lengths) {
    if (length == 0) continue;
    states.begin(next_head, along_heads);
    const std::uint64_t head = undo_delta(x[next_head++], along_heads, mask);
    values.push_back(head);
    Lane inside(order);
    for (std::uint64_t i = 1; i < length; ++i) {
      if (i > 1) states.begin(next_other, inside);
      const std::uint64_t value = undo_delta(x[next_other++], inside, mask);
      values.push_back((value + (order > 0 ? head : 0)) & mask);
    }
  }
  x = values;
}

/// x, a number of w bits, as a two's complement number.
inline std::int64_t signed_number(std::uint64_t x, const Column& column) {
  const int above = 64 - 8 * column.bytes;
  return static_cast<std::int64_t>(x << above) >> above;
}

/// The bits of the float of the column's type that is nearest.
inline std::uint64_t nearest_float(double number, const Column& column) {
  if (column.bytes == 8) return std::bit_cast<std::uint64_t>(number);
  return std::bit_cast<std::uint32_t>(static_cast<float>(number));
}

/// Section 4: overwrites what the maps do not give back with the values behind the places.
inline void place_exceptions(Input places, const Model& model, const Column& column,
                             std::uint64_t n, std::uint8_t* records, std::uint64_t record) {
  Input values = places;
  values.take(4 * model.exceptions);
  const auto lanes = static_cast<std::uint64_t>(column.tuple);
  std::uint64_t next = 0;  // the lowest place that may come
  for (std::uint64_t i = 0; i < model.exceptions; ++i) {
    const std::uint64_t place = places.number(4);
    require(place >= next && place < n * lanes, "impossible place of an exception");
    next = place + 1;
    const Input value = values.take(column.bytes);
    std::copy(value.at, value.end, records + place / lanes * record + place % lanes * column.bytes);
  }
}

}  // namespace plain_decoder
