#include "codec/plan/segment_choice.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "codec/coders/default_pages.h"
#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/group_pack.h"
#include "kernels/deltas/zigzag.h"
#include "kernels/words/packed_value.h"

namespace gdelta {
namespace {

constexpr int kHighestHeadOrder = 2;
// What an order more has to save of packed groups: they are for speed, and decoders take longer for it.
constexpr std::uint64_t kLeastShareSaved = 128;

bool saves_enough(std::uint64_t bits, std::uint64_t least, OrderCost cost) {
  return bits < least - (cost == OrderCost::groups ? least / kLeastShareSaved : 0);
}

struct TupleStretch {
  std::size_t first;
  std::size_t end;
};

// Bits of packed groups.
template <class Word>
struct GroupBits {
  explicit GroupBits(int bits_of_value) : value_bits(bits_of_value) {}

  void take(Word zigzagged) {
    group[count++] = zigzagged;
    if (count == kGroupValues) end_group();
  }
  std::uint64_t close() {
    if (count > 0) end_group();
    return all;
  }
  void end_group() {
    std::fill(group + count, group + kGroupValues, Word{0});
    std::uint8_t counts[65];
    count_bit_lengths(group, counts);
    all += fewest_group_bits(counts, value_bits);
    count = 0;
  }

  Word group[kGroupValues];
  int value_bits;
  int count = 0;
  std::uint64_t all = 0;
};

// The states of pages, which have as many of a lane as its order.
std::uint64_t state_bits(const SegmentDelta& shape, int order, TupleStretch tuples) {
  return (tuples.end - tuples.first) / default_page_tuples(shape.tuple) *
         static_cast<std::uint64_t>(8 * shape.value_bytes * order);
}

// What a lane's residuals of an order cost, zigzagged.
std::uint64_t lane_bits(const SegmentDelta& shape, std::span<const unsigned char> residuals,
                        int order, int lane, TupleStretch tuples, OrderCost cost) {
  std::uint64_t bits = 0;
  for_value_bytes(shape.value_bytes, [&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    const std::size_t step = static_cast<std::size_t>(shape.tuple) * kBytes;
    const unsigned char* const first =
        residuals.data() + tuples.first * step + static_cast<std::size_t>(lane) * kBytes;
    const auto for_each = [&](const auto& take) {
      for (std::size_t i = 0; i < tuples.end - tuples.first; ++i)
        take(zigzag_encode(PackedValue<kBytes>::load(first + i * step), 8 * kBytes));
    };
    if (cost == OrderCost::groups) {
      GroupBits<typename PackedValue<kBytes>::Word> groups(8 * kBytes);
      for_each([&](auto zigzagged) { groups.take(zigzagged); });
      bits = groups.close() + state_bits(shape, order, tuples);
    } else {
      for_each([&](auto zigzagged) { bits += static_cast<unsigned>(std::bit_width(zigzagged)); });
    }
  });
  return bits;
}

}  // namespace

format::SegmentOrders choose_segment_orders(SegmentDelta shape,
                                            std::span<const unsigned char> words,
                                            std::optional<int> asked, int highest, OrderCost cost) {
  constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  const auto lanes = static_cast<std::size_t>(shape.tuple);
  const std::size_t tuples = words.size() / (lanes * static_cast<std::size_t>(shape.value_bytes));
  const std::size_t heads = shape.heads();
  std::vector<unsigned char> residuals(words.size());
  std::vector<std::uint64_t> least(lanes, kNone);
  std::uint64_t least_of_heads = kNone;
  format::SegmentOrders best;
  const int last = std::max(asked.value_or(highest), kHighestHeadOrder);
  for (int order = 0; order <= last; ++order) {
    const std::vector<std::uint8_t> orders(lanes, static_cast<std::uint8_t>(order));
    shape.orders = orders.data();
    shape.head_order = std::min(order, kHighestHeadOrder);
    split_segments(shape, words.data(), residuals.data());
    std::uint64_t of_heads = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      of_heads +=
          lane_bits(shape, residuals, shape.head_order, static_cast<int>(lane), {0, heads}, cost);
      if (order < asked.value_or(0) || order > asked.value_or(highest)) continue;
      const std::uint64_t bits =
          lane_bits(shape, residuals, order, static_cast<int>(lane), {heads, tuples}, cost);
      if (!saves_enough(bits, least[lane], cost)) continue;
      least[lane] = bits;
      best.inside[lane] = static_cast<std::uint8_t>(order);
    }
    if (order > kHighestHeadOrder || !saves_enough(of_heads, least_of_heads, cost)) continue;
    least_of_heads = of_heads;
    best.heads = static_cast<std::uint8_t>(order);
  }
  return best;
}

}  // namespace gdelta
