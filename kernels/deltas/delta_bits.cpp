#include "kernels/deltas/delta_bits.h"

#include "kernels/bitpack/zigzag_length.h"

namespace gdelta {
namespace {

template <class Word>
GDELTA_ALWAYS_INLINE void add_bits(Word* words, std::size_t count, int value_bits, int highest,
                                   std::uint64_t* bits) {
  const int spare = static_cast<int>(8 * sizeof(Word)) - value_bits;
  const auto history = static_cast<std::size_t>(highest);
  for (std::size_t i = 0; i < count; ++i) words[i] <<= spare;
  for (int order = 0;; ++order) {
    // Differences move to the front.
    const std::size_t first = history - static_cast<std::size_t>(order);
    std::uint32_t sum = 0;
    for (std::size_t i = history; i < count; ++i)
      sum += zigzag_length(words[i - history + first], spare);
    bits[order] += sum;
    if (order == highest) return;
    const std::size_t left = count - static_cast<std::size_t>(order) - 1;
    for (std::size_t i = 0; i < left; ++i) words[i] = words[i + 1] - words[i];
  }
}

#if GDELTA_HAS_AVX2_CODE
template <class Word>
GDELTA_AVX2 void add_bits_avx2(Word* words, std::size_t count, int value_bits, int highest,
                               std::uint64_t* bits) {
  add_bits(words, count, value_bits, highest, bits);
}
#endif

}  // namespace

template <class Word>
void add_delta_bits(Word* words, std::size_t count, int value_bits, int highest,
                    std::uint64_t* bits) {
  if (count <= static_cast<std::size_t>(highest)) return;
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) return add_bits_avx2(words, count, value_bits, highest, bits);
#endif
  add_bits(words, count, value_bits, highest, bits);
}

template void add_delta_bits(std::uint32_t*, std::size_t, int, int, std::uint64_t*);
template void add_delta_bits(std::uint64_t*, std::size_t, int, int, std::uint64_t*);

}  // namespace gdelta
