// The dictionaries that low levels look for, and the planner of a device with them
// (codec/cuda/container/make_dictionaries.cu): of lanes that have few values, where little else helps.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codec/coders/column_bytes.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/words/spread_bits.h"

namespace gdelta {

/// A quick table has no more entries, and a lane at least so many values for each.
inline constexpr std::uint32_t kMostQuickEntries = 16384;
inline constexpr std::uint32_t kTuplesOfQuickEntry = 8;
/// What one has to save of the lane: values that are looked up are decoded slower than others.
inline constexpr std::uint64_t kQuickDictionaryPermille = 250;

/// They are of narrow tuples: to look at all lanes of wide ones takes a tenth of encoding them.
inline constexpr int kMostLookedUpLanes = 4;
constexpr bool may_have_quick_dictionaries(int tuple) { return tuple <= kMostLookedUpLanes; }

/// So many groups of a lane, spread evenly, are looked at first.
inline constexpr std::uint32_t kFewValuesGroups = 8;
template <class Count>
GDELTA_HD GroupSampleOf<Count> few_values_groups(Count tuples) {
  const Count groups = tuples / kGroupValues;
  return {groups, groups < kFewValuesGroups ? groups : kFewValuesGroups};
}

/// Each of their values has a place; those that differ seldom have the same one.
inline constexpr std::uint32_t kFewPlaces = 1 << 16;
GDELTA_HD constexpr std::uint32_t few_place(std::uint64_t value) {
  return static_cast<std::uint32_t>(spread_bits(value) >> 48);
}

/// How many places the values of every other group take, those of the others, and how many values of both do.
struct PlacesSeen {
  std::uint32_t even = 0, odd = 0, both = 0;
};

/// Whether the lane may have no more than `most` values: of two draws from N of them, a and b different ones, about a b / N are in
/// both (Petersen 1896, of fish that are marked and caught again). Half as many values more are let pass. Noise has a few places
/// in both by chance, a b / kFewPlaces of them: there have to be clearly more, or most of all. Values that only their
/// neighbours have again do not count.
GDELTA_HD constexpr bool may_be_few(const PlacesSeen& seen, std::uint32_t most) {
  const std::uint32_t pairs = seen.even * seen.odd;
  const bool is_chance = seen.both < 4 + pairs / (kFewPlaces / 4) && 2 * seen.both < seen.even;
  return seen.even <= most && seen.odd <= most && !is_chance &&
         std::uint64_t{3} * seen.both * most >= std::uint64_t{2} * pairs;
}

/// That a table of a lane of `bits` may have, for indices of order 0 to save enough.
GDELTA_HD constexpr std::uint32_t most_quick_entries(std::uint32_t tuples, std::uint64_t bits) {
  const std::uint64_t width = bits / 1000 * (1000 - kQuickDictionaryPermille) / tuples;
  std::uint32_t most = 0;  // they are zigzagged
  if (width > 0) most = width > 14 ? kMostQuickEntries : 1u << (width - 1);
  const std::uint32_t by_tuples = tuples / kTuplesOfQuickEntry;
  return most < by_tuples ? most : by_tuples;
}
static_assert(most_quick_entries(1 << 20, ~std::uint64_t{0} / 1000) == kMostQuickEntries);

/// Whether the table and the indices of a lane save enough of what it takes otherwise.
GDELTA_HD constexpr bool dictionary_pays(std::uint64_t table_bytes, std::uint64_t index_bits,
                                         std::uint64_t bits_without) {
  return saves_a_pass(8 * table_bytes + index_bits, bits_without, kQuickDictionaryPermille);
}

/// The values of a lane as a table has them, if
///   1. few_values_groups say that it may have no more than a table may (may_be_few, most_quick_entries),
///   2. the whole lane has not.
/// `bits` is what it takes otherwise. Then dictionary_pays says whether it is worth it.
std::optional<std::vector<std::uint64_t>> choose_quick_dictionary(const ColumnBytes& column,
                                                                  int lane, std::uint64_t bits);

}  // namespace gdelta
