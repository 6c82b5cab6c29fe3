#include "kernels/bitpack/stretch_cost.h"

#include <algorithm>

#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/zigzag_length.h"

namespace gdelta {
namespace {

constexpr std::size_t kGroup = kGroupValues;

// Loops go over whole rows, which vectors do without a rest. A group's residuals are padded with zeros.
constexpr std::size_t kRow = 32;
static_assert(kGroup % kRow == 0);

GDELTA_ALWAYS_INLINE std::uint64_t count_above(const std::uint8_t* lengths, std::size_t padded,
                                               std::uint8_t width) {
  std::uint8_t above = 0;
  for (std::size_t at = 0; at < padded; at += kRow)
    for (std::size_t i = 0; i < kRow; ++i)
      above = static_cast<std::uint8_t>(above + (lengths[at + i] > width ? 1 : 0));
  return above;
}

// Bits that pack spends on a group. Counting once for each width that may pay is cheaper than a
// histogram, since vectors count.
GDELTA_ALWAYS_INLINE std::uint64_t group_bits(const std::uint8_t* lengths, std::size_t padded,
                                              std::uint64_t values) {
  std::uint8_t longest = 0;
  for (std::size_t at = 0; at < padded; at += kRow)
    for (std::size_t i = 0; i < kRow; ++i)
      longest = lengths[at + i] > longest ? lengths[at + i] : longest;
  std::uint64_t best = values * longest;
  for (int width = longest - 1; width >= 0; --width) {
    const auto patches = static_cast<std::uint64_t>(exception_bits(
        static_cast<int>(count_above(lengths, padded, static_cast<std::uint8_t>(width))),
        high_bytes_of(longest - width)));
    if (patches >= best) break;
    best = std::min(best, values * static_cast<std::uint64_t>(width) + patches);
  }
  return best + kDescriptorBits;
}

template <class Word>
GDELTA_ALWAYS_INLINE void row_lengths(const Word* residuals, int spare_bits,
                                      std::uint8_t* lengths) {
  for (std::size_t i = 0; i < kRow; ++i) lengths[i] = zigzag_length(residuals[i], spare_bits);
}
GDELTA_ALWAYS_INLINE void row_lengths(const std::uint64_t* residuals, int /*spare_bits*/,
                                      std::uint8_t* lengths) {
  // In halves, for vectors hold words of one width at a time.
  std::uint32_t high[kRow], low[kRow];
  for (std::size_t i = 0; i < kRow; ++i) {
    const std::uint64_t zigzag = residuals[i] << 1 ^ (0 - (residuals[i] >> 63));
    high[i] = static_cast<std::uint32_t>(zigzag >> 32);
    low[i] = static_cast<std::uint32_t>(zigzag);
  }
  for (std::size_t i = 0; i < kRow; ++i)
    lengths[i] = static_cast<std::uint8_t>(bits_of_halves(high[i], low[i]));
}

template <class Word>
GDELTA_ALWAYS_INLINE std::uint64_t cost_of_group(const Word* residuals, std::size_t padded,
                                                 std::uint64_t values, int spare_bits) {
  std::uint8_t lengths[kGroup];
  for (std::size_t at = 0; at < padded; at += kRow)
    row_lengths(residuals + at, spare_bits, lengths + at);
  return group_bits(lengths, padded, values);
}

template <class Word>
GDELTA_ALWAYS_INLINE void add_costs(Word* values, std::size_t count, int value_bits, int num_orders,
                                    std::uint64_t* costs) {
  const int spare_bits = static_cast<int>(8 * sizeof(Word)) - value_bits;
  for (int order = 0; order < num_orders; ++order) {
    const Word* const residuals = values + kStretchHistory - order;
    for (std::size_t begin = 0; begin < count; begin += kGroup) {
      const std::size_t length = std::min(kGroup, count - begin);
      if (length == kGroup) {
        costs[order] += cost_of_group(residuals + begin, kGroup, kGroup, spare_bits);
      } else {
        const std::size_t padded = (length + kRow - 1) / kRow * kRow;
        Word last[kGroup];
        std::fill(std::copy_n(residuals + begin, length, last), last + padded, Word{0});
        costs[order] += cost_of_group(last, padded, length, spare_bits);
      }
    }
    if (order + 1 == num_orders) return;
    // Every difference moves one place to the front.
    const std::size_t left = kStretchHistory - order + count - 1;
    for (std::size_t i = 0; i < left; ++i) values[i] = static_cast<Word>(values[i + 1] - values[i]);
  }
}

#if GDELTA_HAS_AVX2_CODE
template <class Word>
GDELTA_AVX2 void add_costs_avx2(Word* values, std::size_t count, int value_bits, int num_orders,
                                std::uint64_t* costs) {
  add_costs(values, count, value_bits, num_orders, costs);
}
#endif

}  // namespace

template <class Word>
void add_stretch_costs(Word* values, std::size_t count, int value_bits, int num_orders,
                       std::uint64_t* costs) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) return add_costs_avx2(values, count, value_bits, num_orders, costs);
#endif
  add_costs(values, count, value_bits, num_orders, costs);
}

template void add_stretch_costs(std::uint8_t*, std::size_t, int, int, std::uint64_t*);
template void add_stretch_costs(std::uint16_t*, std::size_t, int, int, std::uint64_t*);
template void add_stretch_costs(std::uint32_t*, std::size_t, int, int, std::uint64_t*);
template void add_stretch_costs(std::uint64_t*, std::size_t, int, int, std::uint64_t*);

}  // namespace gdelta
