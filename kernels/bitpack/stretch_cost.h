// What a stretch of one lane costs once packed, at each of the low orders: the measure by which
// detection compares layouts. Word is the narrowest unsigned integer that holds a value; values lie
// in its upper bits, so that differences wrap at their width. Cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdelta {

/// No more orders are weighed, 0 among them.
inline constexpr int kMostWeighedOrders = 5;

/// Values before a stretch that its differences refer to.
inline constexpr std::size_t kStretchHistory = kMostWeighedOrders - 1;

/// costs[q] += bits of `count` values at order q, for q < num_orders: groups of 128 residuals, each
/// at its best width.
/// in  values [kStretchHistory + count], destroyed
template <class Word>
void add_stretch_costs(Word* values, std::size_t count, int value_bits, int num_orders,
                       std::uint64_t* costs);

}  // namespace gdelta
