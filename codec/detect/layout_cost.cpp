#include "codec/detect/layout_cost.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "kernels/bitpack/stretch_cost.h"

namespace gdelta {

namespace {

constexpr std::uint64_t kFewestTuples = 16;

template <class Word>
Word swapped(Word value) {
  if constexpr (sizeof(Word) == 8) return __builtin_bswap64(value);
  if constexpr (sizeof(Word) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(Word) == 2) return __builtin_bswap16(value);
  return value;
}

/// A value of `kBytes` bytes in the upper bits of Word, so that arithmetic wraps at its width.
template <class Word, int kBytes, bool kBigEndian>
Word load(const std::byte* at) {
  Word value = 0;
  if constexpr (kBytes == sizeof(Word)) {
    std::memcpy(&value, at, kBytes);
    if constexpr (kBigEndian != (std::endian::native == std::endian::big)) value = swapped(value);
    return value;
  } else {
    for (int i = 0; i < kBytes; ++i)
      value = value << 8 | std::to_integer<Word>(at[kBigEndian ? i : kBytes - 1 - i]);
    return value << 8 * (static_cast<int>(sizeof(Word)) - kBytes);
  }
}

template <class Word, int kBytes, bool kBigEndian>
void gather(const std::byte* at, std::uint64_t record_bytes, std::span<Word> values) {
  for (Word& value : values) {
    value = load<Word, kBytes, kBigEndian>(at);
    at += record_bytes;
  }
}

template <class Word, int kBytes>
std::uint64_t cost_of(std::span<const std::byte> sample, const Cut& cut, Stretches stretches,
                      int num_orders) {
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
      const std::uint64_t spread = sample.size() - stretches.bytes;
      const std::uint64_t place = stretches.count > 1 ? spread * i / (stretches.count - 1) : 0;
      const std::uint64_t first =
          std::min(place / record_bytes, all_tuples - (tuples + kStretchHistory));
      const std::byte* at = sample.data() + first * record_bytes + lane * kBytes;
      if (cut.big_endian) {
        gather<Word, kBytes, true>(at, record_bytes, values);
      } else {
        gather<Word, kBytes, false>(at, record_bytes, values);
      }
      add_stretch_costs(values.data(), tuples, 8 * kBytes, num_orders, costs.data());
    }
    bits += *std::min_element(costs.begin(), costs.begin() + num_orders);
  }
  return (bits << 16) / (stretches.count * tuples * record_bytes);
}

}  // namespace

std::uint64_t layout_cost(std::span<const std::byte> sample, Cut cut, Stretches stretches,
                          int num_orders) {
  switch (cut.bytes) {
    case 1:
      return cost_of<std::uint8_t, 1>(sample, cut, stretches, num_orders);
    case 2:
      return cost_of<std::uint16_t, 2>(sample, cut, stretches, num_orders);
    case 3:
      return cost_of<std::uint32_t, 3>(sample, cut, stretches, num_orders);
    case 4:
      return cost_of<std::uint32_t, 4>(sample, cut, stretches, num_orders);
    default:
      return cost_of<std::uint64_t, 8>(sample, cut, stretches, num_orders);
  }
}

}  // namespace gdelta
