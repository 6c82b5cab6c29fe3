#include "codec/plan/segment_choice.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "codec/coders/default_pages.h"
#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/group_pack.h"
#include "kernels/deltas/segment_planes.h"
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

// Bits of packed groups.
template <class Word, class Lane>
std::uint64_t group_bits(std::span<const Lane> residuals, int value_bits) {
  std::uint64_t bits = 0;
  Word group[kGroupValues];
  for (std::size_t first = 0; first < residuals.size(); first += kGroupValues) {
    const std::size_t count = std::min<std::size_t>(residuals.size() - first, kGroupValues);
    for (std::size_t i = 0; i < count; ++i)
      group[i] = zigzag_encode(Word{residuals[first + i]}, value_bits);
    std::fill(group + count, group + kGroupValues, Word{0});
    std::uint8_t counts[65];
    count_bit_lengths(group, counts);
    bits += fewest_group_bits(counts, value_bits);
  }
  return bits;
}

template <class Word, class Lane>
std::uint64_t residual_bits(std::span<const Lane> residuals, int value_bits) {
  std::uint64_t bits = 0;
  for (const Lane residual : residuals)
    bits += static_cast<unsigned>(std::bit_width(zigzag_encode(Word{residual}, value_bits)));
  return bits;
}

// What a lane's residuals of an order cost, zigzagged. Pages of packed ones begin with states, as many of a lane as its order.
template <int kBytes, class Lane>
std::uint64_t lane_bits(const SegmentDelta& shape, std::span<const Lane> residuals, int order,
                        OrderCost cost) {
  using Word = typename PackedValue<kBytes>::Word;
  if (cost != OrderCost::groups) return residual_bits<Word>(residuals, 8 * kBytes);
  return group_bits<Word>(residuals, 8 * kBytes) +
         residuals.size() / default_page_tuples(shape.tuple) *
             static_cast<std::uint64_t>(8 * kBytes * order);
}

}  // namespace

ChosenSegmentOrders choose_segment_orders(const SegmentDelta& shape,
                                          std::span<const unsigned char> words,
                                          std::optional<int> asked, int highest, OrderCost cost) {
  constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  const int lowest = asked.value_or(0), last = std::max(asked.value_or(highest), lowest);
  std::uint64_t of_heads[kHighestHeadOrder + 1] = {};
  ChosenSegmentOrders best{};
  for_value_bytes(shape.value_bytes, [&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    for (int lane = 0; lane < shape.tuple; ++lane) {
      SegmentPlanes<kBytes> planes(shape, words.data(), lane);
      for (int order = 0; order <= kHighestHeadOrder; ++order) {
        if (order > 0) planes.raise_heads();
        of_heads[order] += lane_bits<kBytes>(shape, planes.heads(), order, cost);
      }
      std::uint64_t least = kNone;
      for (int order = 0; order <= last; ++order) {
        if (order > 0) planes.raise_body();
        if (order < lowest) continue;
        const std::uint64_t bits = lane_bits<kBytes>(shape, planes.body(), order, cost);
        if (!saves_enough(bits, least, cost)) continue;
        least = bits;
        best.orders.inside[lane] = static_cast<std::uint8_t>(order);
      }
      best.bits += least;
    }
  });
  std::uint64_t least_of_heads = kNone;
  for (int order = 0; order <= kHighestHeadOrder; ++order) {
    if (!saves_enough(of_heads[order], least_of_heads, cost)) continue;
    least_of_heads = of_heads[order];
    best.orders.heads = static_cast<std::uint8_t>(order);
  }
  best.bits += least_of_heads;
  best.head_bits = least_of_heads;
  return best;
}

}  // namespace gdelta
