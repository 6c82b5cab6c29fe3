#include "kernels/bitpack/stretch_cost.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "kernels/bitpack/group_layout.h"
#include "kernels/cpu/cpu_targets.h"

namespace gdelta {
namespace {

constexpr std::size_t kGroup = kGroupValues;

// Bits of a magnitude below 2^31. They come from the exponent of a float, which vectors do; without
// the bits that follow a set bit nothing is rounded up.
GDELTA_ALWAYS_INLINE int magnitude_bits(std::uint32_t magnitude) {
  const auto rounded = static_cast<float>(static_cast<std::int32_t>(magnitude & ~(magnitude >> 1)));
  const int exponent = static_cast<int>(std::bit_cast<std::uint32_t>(rounded) >> 23);
  return exponent > 126 ? exponent - 126 : 0;
}

// How many bits the zigzag of a residual has: those of its magnitude and one for the sign.
template <class Word>
GDELTA_ALWAYS_INLINE std::uint8_t zigzag_length(Word residual, int spare_bits) {
  using Signed = std::make_signed_t<Word>;
  const auto sign = static_cast<Word>(static_cast<Signed>(residual) >> (8 * sizeof(Word) - 1));
  const auto magnitude = static_cast<Word>(static_cast<Word>(residual ^ sign) >> spare_bits);
  const int any = residual != 0;
  if constexpr (sizeof(Word) == 8)
    return static_cast<std::uint8_t>(std::bit_width(magnitude) + any);
  return static_cast<std::uint8_t>(magnitude_bits(static_cast<std::uint32_t>(magnitude)) + any);
}

GDELTA_ALWAYS_INLINE std::uint64_t count_above(const std::uint8_t* lengths, std::uint8_t width) {
  std::uint8_t above = 0;
  for (std::size_t i = 0; i < kGroup; ++i)
    above = static_cast<std::uint8_t>(above + (lengths[i] > width ? 1 : 0));
  return above;
}

// Bits that pack spends on a group. Counting once for each width that may pay is cheaper than a
// histogram, since vectors count.
GDELTA_ALWAYS_INLINE std::uint64_t group_bits(const std::uint8_t* lengths, std::uint64_t values) {
  std::uint8_t longest = 0;
  for (std::size_t i = 0; i < kGroup; ++i) longest = lengths[i] > longest ? lengths[i] : longest;
  std::uint64_t best = values * longest;
  for (int width = longest - 1; width >= 0; --width) {
    const auto patches = static_cast<std::uint64_t>(
        exception_bits(static_cast<int>(count_above(lengths, static_cast<std::uint8_t>(width))),
                       high_bytes_of(longest - width)));
    if (patches >= best) break;
    best = std::min(best, values * static_cast<std::uint64_t>(width) + patches);
  }
  return best + kDescriptorBits;
}

template <class Word>
GDELTA_ALWAYS_INLINE void add_costs(Word* values, std::size_t count, int value_bits, int num_orders,
                                    std::uint64_t* costs) {
  const int spare_bits = static_cast<int>(8 * sizeof(Word)) - value_bits;
  for (int order = 0; order < num_orders; ++order) {
    const Word* const residuals = values + kStretchHistory - order;
    for (std::size_t begin = 0; begin < count; begin += kGroup) {
      std::uint8_t lengths[kGroup] = {};
      const std::size_t length = std::min(kGroup, count - begin);
      for (std::size_t i = 0; i < length; ++i)
        lengths[i] = zigzag_length(residuals[begin + i], spare_bits);
      costs[order] += group_bits(lengths, length);
    }
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
