#include "codec/detect/layout_cost.h"

#include <algorithm>
#include <array>
#include <vector>

#include "codec/detect/value_load.h"
#include "kernels/bitpack/stretch_cost.h"
#include "kernels/pages/page_limits.h"

namespace gdelta {

namespace {

constexpr std::uint64_t kFewestTuples = 16;

template <class Word, int kBytes>
std::uint64_t cost_of(std::span<const std::byte> sample, const Cut& cut, Stretches stretches,
                      int num_orders, std::uint64_t* groups) {
  const std::uint64_t record_bytes = cut.record_bytes();
  const std::uint64_t all_tuples = sample.size() / record_bytes;
  // Long records need long stretches, of which there are fewer then.
  const std::uint64_t fewest_bytes = kFewestTuples * record_bytes;
  if (stretches.bytes < fewest_bytes) {
    stretches.count = std::max<std::uint64_t>(stretches.count * stretches.bytes / fewest_bytes, 1);
    stretches.bytes = fewest_bytes;
  }
  const bool whole = stretches.count * stretches.bytes >= sample.size();
  if (whole) stretches = {1, sample.size()};
  const std::uint64_t tuples =
      std::min(stretches.bytes / record_bytes, all_tuples - std::min(all_tuples, kStretchHistory));
  if (tuples < kFewestTuples) return kUnknownCost;

  std::vector<Word> room(tuples + kStretchHistory);
  const std::span<Word> values(room);
  std::uint64_t bits = 0;
  for (int lane = 0; lane < cut.tuple; ++lane) {
    std::array<std::uint64_t, kMostWeighedOrders> costs{};
    for (std::uint64_t i = 0; i < stretches.count; ++i) {
      // The same places for every cut, but for rounding to whole records.
      const std::uint64_t first = std::min(stretches.place(i, sample.size()) / record_bytes,
                                           all_tuples - (tuples + kStretchHistory));
      const std::byte* at = sample.data() + first * record_bytes + lane * kBytes;
      if (cut.big_endian) {
        load_values<Word, kBytes, true>(at, record_bytes, values);
      } else {
        load_values<Word, kBytes, false>(at, record_bytes, values);
      }
      add_stretch_costs(values.data(), tuples, 8 * kBytes, num_orders, costs.data());
    }
    bits += *std::min_element(costs.begin(), costs.begin() + num_orders);
  }
  if (groups)
    *groups += stretches.count * ((tuples + kGroupValues - 1) / kGroupValues) * cut.tuple *
               static_cast<std::uint64_t>(num_orders);
  return (bits << 16) / (stretches.count * tuples * record_bytes);
}

}  // namespace

std::uint64_t layout_cost(std::span<const std::byte> sample, Cut cut, Stretches stretches,
                          int num_orders, std::uint64_t* groups) {
  switch (cut.bytes) {
    case 1:
      return cost_of<std::uint8_t, 1>(sample, cut, stretches, num_orders, groups);
    case 2:
      return cost_of<std::uint16_t, 2>(sample, cut, stretches, num_orders, groups);
    case 3:
      return cost_of<std::uint32_t, 3>(sample, cut, stretches, num_orders, groups);
    case 4:
      return cost_of<std::uint32_t, 4>(sample, cut, stretches, num_orders, groups);
    default:
      return cost_of<std::uint64_t, 8>(sample, cut, stretches, num_orders, groups);
  }
}

}  // namespace gdelta
