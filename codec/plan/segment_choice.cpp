#include "codec/plan/segment_choice.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "kernels/deltas/zigzag.h"
#include "kernels/words/packed_value.h"

namespace gdelta {
namespace {

constexpr int kHighestHeadOrder = 2;

struct TupleStretch {
  std::size_t first;
  std::size_t end;
};

// Bits of a lane's residuals, zigzagged, without leading zeros.
std::uint64_t lane_bits(const SegmentDelta& shape, std::span<const unsigned char> residuals,
                        int lane, TupleStretch tuples) {
  std::uint64_t bits = 0;
  for_value_bytes(shape.value_bytes, [&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    const std::size_t step = static_cast<std::size_t>(shape.tuple) * kBytes;
    const unsigned char* at =
        residuals.data() + tuples.first * step + static_cast<std::size_t>(lane) * kBytes;
    for (std::size_t i = tuples.first; i < tuples.end; ++i, at += step)
      bits += static_cast<unsigned>(
          std::bit_width(zigzag_encode(PackedValue<kBytes>::load(at), 8 * kBytes)));
  });
  return bits;
}

}  // namespace

format::SegmentOrders choose_segment_orders(SegmentDelta shape,
                                            std::span<const unsigned char> words,
                                            std::optional<int> asked, int highest) {
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
      of_heads += lane_bits(shape, residuals, static_cast<int>(lane), {0, heads});
      if (order < asked.value_or(0) || order > asked.value_or(highest)) continue;
      const std::uint64_t bits =
          lane_bits(shape, residuals, static_cast<int>(lane), {heads, tuples});
      if (bits >= least[lane]) continue;
      least[lane] = bits;
      best.inside[lane] = static_cast<std::uint8_t>(order);
    }
    if (order > kHighestHeadOrder || of_heads >= least_of_heads) continue;
    least_of_heads = of_heads;
    best.heads = static_cast<std::uint8_t>(order);
  }
  return best;
}

}  // namespace gdelta
