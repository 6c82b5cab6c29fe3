#include "codec/layout_cost.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace gdelta {

namespace {

constexpr std::uint64_t kHistory =
    kMostCostedOrders - 1;  // tuples before a stretch that it refers to
constexpr std::uint64_t kGroup = 128;
constexpr std::uint64_t kDescriptorBits = 16;
constexpr std::uint64_t kFewestTuples = 16;

using LengthCounts = std::array<std::uint32_t, 65>;

/// Bits that pack spends on a group, given how many of its residuals have each bit length.
std::uint64_t group_bits(const LengthCounts& counts, std::uint64_t values, int most_bits) {
  int longest = most_bits;
  while (longest > 0 && counts[static_cast<std::size_t>(longest)] == 0) --longest;
  std::uint64_t best = values * static_cast<std::uint64_t>(longest);
  std::uint64_t exceptions = 0;
  for (int width = longest - 1; width >= 0; --width) {
    exceptions += counts[static_cast<std::size_t>(width) + 1];
    const int high_bits = longest - width;
    const std::uint64_t high_bytes = high_bits <= 8    ? 1
                                     : high_bits <= 16 ? 2
                                     : high_bits <= 32 ? 4
                                                       : 8;
    const std::uint64_t patches = 8 * exceptions * (1 + high_bytes);
    if (patches >= best) break;
    best = std::min(best, values * static_cast<std::uint64_t>(width) + patches);
  }
  return best + kDescriptorBits;
}

/// Values of `kBytes` bytes live in the upper bits of Word, so that arithmetic wraps at their width.
template <class Word, int kBytes>
struct ValueReader {
  static constexpr int kBits = 8 * kBytes;
  static constexpr int kShift = 8 * static_cast<int>(sizeof(Word)) - kBits;

  static Word load(const std::byte* at, const Cut& cut) {
    Word value = 0;
    if constexpr (kBytes == sizeof(Word)) {
      std::memcpy(&value, at, kBytes);
      if (cut.big_endian != (std::endian::native == std::endian::big)) value = swapped(value);
    } else {
      for (int i = 0; i < kBytes; ++i)
        value = value << 8 | std::to_integer<Word>(at[cut.big_endian ? i : kBytes - 1 - i]);
    }
    return static_cast<Word>(value << kShift);
  }

  static Word swapped(Word value) {
    if constexpr (sizeof(Word) == 8) return __builtin_bswap64(value);
    if constexpr (sizeof(Word) == 4) return __builtin_bswap32(value);
    if constexpr (sizeof(Word) == 2) return __builtin_bswap16(value);
    return value;
  }

  /// How many bits the zigzag of a residual has.
  static int length(Word residual) {
    const auto sign = static_cast<Word>(Word{0} - (residual >> (8 * sizeof(Word) - 1)));
    return std::bit_width(
        static_cast<Word>(static_cast<Word>((residual ^ sign) >> kShift) << 1 | (sign & 1)));
  }
};

/// Adds the cost of one lane of one stretch, for every order. `values` starts with kHistory values
/// of history; it is overwritten.
template <class Reader, class Word>
void add_lane_costs(std::span<Word> values, std::array<std::uint64_t, kMostCostedOrders>& costs,
                    int num_orders) {
  for (int order = 0; order < num_orders; ++order) {
    for (std::size_t begin = kHistory; begin < values.size(); begin += kGroup) {
      const std::size_t end = std::min(values.size(), begin + kGroup);
      LengthCounts counts{};
      for (std::size_t i = begin; i < end; ++i)
        ++counts[static_cast<std::size_t>(Reader::length(values[i]))];
      costs[static_cast<std::size_t>(order)] += group_bits(counts, end - begin, Reader::kBits);
    }
    for (std::size_t i = values.size() - 1; i > static_cast<std::size_t>(order); --i)
      values[i] = static_cast<Word>(values[i] - values[i - 1]);
  }
}

template <class Word, int kBytes>
std::uint64_t cost_of(std::span<const std::byte> sample, const Cut& cut, Stretches stretches,
                      int num_orders) {
  using Reader = ValueReader<Word, kBytes>;
  const std::uint64_t record_bytes = cut.record_bytes();
  const std::uint64_t all_tuples = sample.size() / record_bytes;
  const bool whole = stretches.count * stretches.bytes >= sample.size();
  if (whole) stretches = {1, sample.size()};
  const std::uint64_t tuples =
      std::min(stretches.bytes / record_bytes, all_tuples - std::min(all_tuples, kHistory));
  if (tuples < kFewestTuples) return kUnknownCost;

  std::vector<Word> values(tuples + kHistory);
  std::uint64_t bits = 0;
  for (int lane = 0; lane < cut.tuple; ++lane) {
    std::array<std::uint64_t, kMostCostedOrders> costs{};
    for (std::uint64_t i = 0; i < stretches.count; ++i) {
      // The same places for every cut, but for rounding to whole records.
      const std::uint64_t spread = sample.size() - stretches.bytes;
      const std::uint64_t place = stretches.count > 1 ? spread * i / (stretches.count - 1) : 0;
      const std::uint64_t first = std::min(place / record_bytes, all_tuples - (tuples + kHistory));
      const std::byte* at = sample.data() + first * record_bytes + lane * kBytes;
      for (Word& value : values) {
        value = Reader::load(at, cut);
        at += record_bytes;
      }
      add_lane_costs<Reader>(std::span<Word>(values), costs, num_orders);
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
