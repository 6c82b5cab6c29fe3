#include "codec/plan/lane_orders.h"

#include <algorithm>

#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/group_pack.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/deltas/zigzag.h"

namespace gdelta {
namespace {

// Adds to bits[q] what one group costs at each order up to `last`. words: kMaxOrder values before
// the group, then `count` of it; destroyed.
template <class Word>
void add_group_costs(Word* words, std::uint64_t count, int last, int value_bits,
                     std::uint64_t* bits) {
  for (int order = 0; order <= last; ++order) {
    Word residuals[kGroupValues] = {};
    const Word* group = words + kMaxOrder - order;
    for (std::uint64_t i = 0; i < count; ++i) residuals[i] = zigzag_encode(group[i], value_bits);
    std::uint8_t counts[65];
    count_bit_lengths(residuals, counts);
    bits[order] += choose_width(counts, value_bits).bits;
    for (std::uint64_t i = 0; i + 1 < kMaxOrder - order + count; ++i)
      words[i] = words[i + 1] - words[i];
  }
}

// bits[q] becomes the estimated size of the lane at each order up to `last`.
template <class Word>
void lane_costs(const ResidualSource& source, int lane, int last, std::uint64_t column_groups,
                std::uint64_t* bits) {
  const Column& column = source.column().column;
  const GroupSample sample = sample_groups(source.records(), column.tuple, column_groups);
  std::fill_n(bits, last + 1, 0);
  for (std::uint64_t k = 0; k < sample.count; ++k) {
    Word words[kMaxOrder + kGroupValues];
    const std::uint64_t first = sample.first_tuple(k);
    const std::uint64_t count = std::min<std::uint64_t>(kGroupValues, source.records() - first);
    source.values_with_history(lane, first, count, kMaxOrder, History::first_value, words);
    add_group_costs(words, count, last, value_bits(column.type), bits);
  }
  const std::uint64_t page_values = 128ull * default_page_groups(column.tuple);
  const std::uint64_t pages = (source.records() + page_values - 1) / page_values;
  for (int order = 0; order <= last; ++order)
    bits[order] = lane_cost_bits(bits[order], sample, pages, order, value_bits(column.type));
}

void lane_costs_of_type(const ResidualSource& source, int lane, int last,
                        std::uint64_t column_groups, std::uint64_t* bits) {
  if (value_bytes(source.column().column.type) == 8) {
    lane_costs<std::uint64_t>(source, lane, last, column_groups, bits);
  } else {
    lane_costs<std::uint32_t>(source, lane, last, column_groups, bits);
  }
}

template <class Word>
std::uint64_t packed_bits_of(const ResidualSource& source, int lane, int order, std::uint64_t first,
                             std::uint64_t count) {
  const Column& column = source.column().column;
  const int value_width = value_bits(column.type);
  const std::uint64_t page_values = 128ull * default_page_groups(column.tuple);
  std::uint64_t bits =
      (count + page_values - 1) / page_values * static_cast<std::uint64_t>(order * value_width);
  for (std::uint64_t done = 0; done < count; done += kGroupValues) {
    Word words[kMaxOrder + kGroupValues];
    Word states[kMaxOrder];
    std::uint8_t counts[65];
    const std::uint64_t length = std::min<std::uint64_t>(kGroupValues, count - done);
    source.residuals(lane, first + done, length, order, History::first_value, words, states);
    std::fill(words + length, words + kGroupValues, Word{0});
    count_bit_lengths(words, counts);
    bits += choose_width(counts, value_width).bits;
  }
  return bits;
}

}  // namespace

std::uint64_t packed_lane_bits(const ResidualSource& source, int lane, int order,
                               std::uint64_t first, std::uint64_t count) {
  return value_bytes(source.column().column.type) == 8
             ? packed_bits_of<std::uint64_t>(source, lane, order, first, count)
             : packed_bits_of<std::uint32_t>(source, lane, order, first, count);
}

std::uint64_t packed_bits(const ResidualSource& source, const std::uint8_t* orders,
                          std::uint64_t first, std::uint64_t count) {
  std::uint64_t bits = 0;
  for (int lane = 0; lane < source.column().column.tuple; ++lane)
    bits += packed_lane_bits(source, lane, orders[lane], first, count);
  return bits;
}

std::uint64_t lane_bits(const ResidualSource& source, int lane, int order, OrderEffort effort) {
  std::uint64_t bits[kMaxOrder + 1];
  lane_costs_of_type(source, lane, order, effort.column_groups, bits);
  return bits[order];
}

LaneOrders choose_orders(const ResidualSource& source, std::optional<int> asked,
                         OrderEffort effort) {
  LaneOrders chosen;
  for (int lane = 0; lane < source.column().column.tuple; ++lane) {
    std::uint64_t bits[kMaxOrder + 1];
    const int last = asked.value_or(effort.max_order);
    lane_costs_of_type(source, lane, last, effort.column_groups, bits);
    const int best =
        asked ? last : static_cast<int>(std::min_element(bits, bits + last + 1) - bits);
    chosen.orders[lane] = static_cast<std::uint8_t>(best);
    chosen.bits += bits[best];
  }
  return chosen;
}

}  // namespace gdelta
