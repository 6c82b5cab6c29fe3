#include "codec/plan/lane_orders.h"

#include <algorithm>
#include <atomic>

#include "codec/coders/default_pages.h"
#include "codec/plan/levels.h"
#include "codec/plan/sampled_groups.h"
#include "formats/gdelta/map_traits.h"
#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/group_pack.h"
#include "kernels/cpu/cpu_targets.h"
#include "kernels/deltas/zigzag.h"

namespace gdelta {
namespace {

// Fewer are not worth another thread.
constexpr std::uint64_t kFewestGroups = 128;
// One of so many groups is looked at first, unless there are few orders.
constexpr std::uint64_t kGlance = 8;
constexpr int kFewOrders = 3;
// So many take some milliseconds.
constexpr std::uint64_t kToldGroups = 4096;

// Adds to bits[q] what one group costs at each order up to `last`. words: kMaxOrder values before
// the group, then `count` of it; destroyed.
template <class Word>
GDELTA_ALWAYS_INLINE void add_costs_of_group(Word* words, std::uint64_t count, int last,
                                             int value_bits, std::uint64_t* bits) {
  for (int order = 0; order <= last; ++order) {
    Word residuals[kGroupValues] = {};
    const Word* group = words + kMaxOrder - order;
    for (std::uint64_t i = 0; i < count; ++i) residuals[i] = zigzag_encode(group[i], value_bits);
    std::uint8_t counts[65];
    count_bit_lengths(residuals, counts);
    bits[order] += fewest_group_bits(counts, value_bits);
    for (std::uint64_t i = 0; i + 1 < kMaxOrder - order + count; ++i)
      words[i] = words[i + 1] - words[i];
  }
}

#if GDELTA_HAS_AVX2_CODE
template <class Word>
GDELTA_AVX2 void add_group_costs_avx2(Word* words, std::uint64_t count, int last, int value_bits,
                                      std::uint64_t* bits) {
  add_costs_of_group(words, count, last, value_bits, bits);
}
template <class Word>
GDELTA_AVX512 void add_group_costs_avx512(Word* words, std::uint64_t count, int last,
                                          int value_bits, std::uint64_t* bits) {
  add_costs_of_group(words, count, last, value_bits, bits);
}
#endif

template <class Word>
void add_group_costs(Word* words, std::uint64_t count, int last, int value_bits,
                     std::uint64_t* bits) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx512()) return add_group_costs_avx512(words, count, last, value_bits, bits);
  if (cpu_has_avx2()) return add_group_costs_avx2(words, count, last, value_bits, bits);
#endif
  add_costs_of_group(words, count, last, value_bits, bits);
}

// A sum of bits for each order, added to by several threads.
struct SharedBits {
  void add(const std::uint64_t* more, int last) {
    for (int order = 0; order <= last; ++order)
      bits[order].fetch_add(more[order], std::memory_order_relaxed);
  }
  std::atomic<std::uint64_t> bits[kMaxOrder + 1] = {};
};

// The highest order that is worth a closer look: beyond the best of a few groups, and the next one,
// residuals only grow.
template <class Word>
int last_order(const ResidualSource& source, int lane, int last, std::uint64_t column_groups) {
  const GroupSample sample =
      sample_groups(source.records(), source.column().column.tuple, column_groups);
  if (last <= kFewOrders || sample.count < 2 * kGlance) return last;
  std::uint64_t bits[kMaxOrder + 1] = {};
  for (std::uint64_t k = 0; k < sample.count; k += kGlance)
    for_sampled_groups<Word>(source, lane, sample, k, k + 1, [&](Word* words, std::uint64_t count) {
      add_group_costs(words, count, last, value_bits(source.column().column.type), bits);
    });
  return std::min(last, static_cast<int>(std::min_element(bits, bits + last + 1) - bits) + 1);
}

std::uint64_t pages_of(const Column& column, std::uint64_t records) {
  const std::uint64_t page_values = default_page_tuples(column.tuple);
  return (records + page_values - 1) / page_values;
}

// bits[q] becomes the estimated size of the lane at each order up to `last`.
template <class Word>
void lane_costs(const ResidualSource& source, int lane, int last, std::uint64_t column_groups,
                Workers& workers, Work* work, std::uint64_t* bits) {
  const Column& column = source.column().column;
  const GroupSample sample = sample_groups(source.records(), column.tuple, column_groups);
  SharedBits sampled;
  workers.for_ranges(sample.count, kFewestGroups, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t of_range[kMaxOrder + 1] = {};
    for (std::uint64_t first = begin; first < end; first += kToldGroups) {
      const std::uint64_t behind = std::min(first + kToldGroups, end);
      for_sampled_groups<Word>(
          source, lane, sample, first, behind, [&](Word* words, std::uint64_t count) {
            add_group_costs(words, count, last, value_bits(column.type), of_range);
          });
      if (work != nullptr)
        work->add(static_cast<double>(behind - first) / static_cast<double>(sample.count));
    }
    sampled.add(of_range, last);
  });
  for (int order = 0; order <= last; ++order)
    bits[order] =
        lane_cost_bits(sampled.bits[order].load(), sample, pages_of(column, source.records()),
                       order, value_bits(column.type));
}

void lane_costs_of_type(const ResidualSource& source, int lane, int last,
                        std::uint64_t column_groups, Workers& workers, Work* work,
                        std::uint64_t* bits) {
  if (value_bytes(source.column().column.type) == 8) {
    lane_costs<std::uint64_t>(source, lane, last, column_groups, workers, work, bits);
  } else {
    lane_costs<std::uint32_t>(source, lane, last, column_groups, workers, work, bits);
  }
}

int last_order_of_type(const ResidualSource& source, int lane, int last,
                       std::uint64_t column_groups) {
  return value_bytes(source.column().column.type) == 8
             ? last_order<std::uint64_t>(source, lane, last, column_groups)
             : last_order<std::uint32_t>(source, lane, last, column_groups);
}

template <class Word>
std::uint64_t packed_bits_of(const ResidualSource& source, int lane, int order, std::uint64_t first,
                             std::uint64_t count, Workers& workers, Work* work) {
  const Column& column = source.column().column;
  const int value_width = value_bits(column.type);
  const std::uint64_t page_values = default_page_tuples(column.tuple);
  const std::uint64_t groups = (count + kGroupValues - 1) / kGroupValues;
  std::atomic<std::uint64_t> bits =
      (count + page_values - 1) / page_values * static_cast<std::uint64_t>(order * value_width);
  workers.for_ranges(groups, kFewestGroups, work, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t of_range = 0;
    for (std::uint64_t group = begin; group < end; ++group) {
      Word words[kMaxOrder + kGroupValues];
      Word states[kMaxOrder];
      std::uint8_t counts[65];
      const std::uint64_t at = group * kGroupValues;
      const std::uint64_t length = std::min<std::uint64_t>(kGroupValues, count - at);
      source.residuals(lane, first + at, length, order, History::first_value, words, states);
      std::fill(words + length, words + kGroupValues, Word{0});
      count_bit_lengths(words, counts);
      of_range += fewest_group_bits(counts, value_width);
    }
    bits += of_range;
  });
  return bits;
}

}  // namespace

std::vector<ValueMap> plain_maps(ValueType type, int level) {
  std::vector<ValueMap> maps;
  for (int number = 0; number < kNumValueMaps; ++number) {
    const auto map = static_cast<ValueMap>(number);
    if (!format::has_fields(map) && format::map_takes(map, type) &&
        level >= format::map_traits(map).tried_from_level)
      maps.push_back(map);
  }
  return maps;
}

std::uint64_t packed_lane_bits(const ResidualSource& source, int lane, int order,
                               std::uint64_t first, std::uint64_t count, Workers& workers,
                               Work* work) {
  return value_bytes(source.column().column.type) == 8
             ? packed_bits_of<std::uint64_t>(source, lane, order, first, count, workers, work)
             : packed_bits_of<std::uint32_t>(source, lane, order, first, count, workers, work);
}

std::uint64_t packed_bits(const ResidualSource& source, const std::uint8_t* orders,
                          std::uint64_t first, std::uint64_t count, Workers& workers, Work* work) {
  std::uint64_t bits = 0;
  for (int lane = 0; lane < source.column().column.tuple; ++lane) {
    WorkPart of_lane(work, 1.0 / source.column().column.tuple);
    bits += packed_lane_bits(source, lane, orders[lane], first, count, workers, &of_lane);
  }
  return bits;
}

bool has_orders(const format::Front& front, int lanes, std::uint8_t order) {
  return std::all_of(front.orders, front.orders + lanes,
                     [=](std::uint8_t lane_order) { return lane_order == order; });
}

std::uint64_t lane_bits(const ResidualSource& source, int lane, int order, OrderEffort effort,
                        Workers& workers) {
  std::uint64_t bits[kMaxOrder + 1];
  lane_costs_of_type(source, lane, order, effort.column_groups, workers, nullptr, bits);
  return bits[order];
}

template <class Word>
std::uint64_t least_lane_bits(std::span<const Word> groups, const Column& column,
                              std::uint64_t records, std::optional<int> asked, OrderEffort effort) {
  const GroupSample sample = sample_groups(records, column.tuple, effort.column_groups);
  const int last = asked.value_or(effort.max_order), width = value_bits(column.type);
  std::uint64_t bits[kMaxOrder + 1] = {};
  for (std::size_t at = 0; at < groups.size(); at += kMaxOrder + kGroupValues) {
    Word words[kMaxOrder + kGroupValues];
    std::copy_n(groups.data() + at, std::size(words), words);
    add_group_costs(words, kGroupValues, last, width, bits);
  }
  const auto cost = [&](int order) {
    return lane_cost_bits(bits[order], sample, pages_of(column, records), order, width);
  };
  std::uint64_t least = cost(last);
  for (int order = 0; !asked && order < last; ++order) least = std::min(least, cost(order));
  return least;
}

#define GDELTA_INSTANTIATE(Word)                                                              \
  template std::uint64_t least_lane_bits(std::span<const Word>, const Column&, std::uint64_t, \
                                         std::optional<int>, OrderEffort);
GDELTA_INSTANTIATE(std::uint32_t)
GDELTA_INSTANTIATE(std::uint64_t)
#undef GDELTA_INSTANTIATE

LaneOrders choose_orders(const ResidualSource& source, std::optional<int> asked, OrderEffort effort,
                         Workers& workers, Work* work) {
  LaneOrders chosen;
  for (int lane = 0; lane < source.column().column.tuple; ++lane) {
    WorkPart of_lane(work, 1.0 / source.column().column.tuple);
    std::uint64_t bits[kMaxOrder + 1];
    const int last =
        asked ? *asked : last_order_of_type(source, lane, effort.max_order, effort.column_groups);
    lane_costs_of_type(source, lane, last, effort.column_groups, workers, &of_lane, bits);
    const int best =
        asked ? last : static_cast<int>(std::min_element(bits, bits + last + 1) - bits);
    chosen.orders[lane] = static_cast<std::uint8_t>(best);
    chosen.lane_bits[lane] = bits[best];
    chosen.bits += bits[best];
  }
  return chosen;
}

PlainFronts choose_plain_fronts(const ColumnBytes& column, const EncodeSettings& settings,
                                Workers& workers, Work* work) {
  const OrderPolicy& orders = level_policy(settings.level).orders;
  PlainFronts plain;
  for (const ValueMap map : plain_maps(column.column.type, settings.level)) {
    WorkPart of_map(work, 0.5);  // there are seldom more than two
    format::Front& front = plain.fronts.emplace_back();
    front.map = map;
    const LaneOrders lanes = choose_orders({column, front}, settings.order,
                                           {orders.highest, orders.groups}, workers, &of_map);
    std::copy_n(lanes.orders, column.column.tuple, front.orders);
    if (plain.fronts.size() > 1 && lanes.bits >= plain.bits) continue;
    plain.bits = lanes.bits;
    plain.lane_bits.assign(lanes.lane_bits, lanes.lane_bits + column.column.tuple);
    plain.best = plain.fronts.size() - 1;
  }
  return plain;
}

}  // namespace gdelta
