#include "kernels/bitpack/lag_bits.h"

#include <algorithm>
#include <bit>

#include "kernels/bitpack/zigzag_length.h"

namespace gdelta {
namespace {

// Places that are looked at together: a vector's.
template <class Word>
constexpr std::size_t kRow = 32 / sizeof(Word);

// How a loop over vectors counts the bits of a word: as any machine can, or with AVX-512.
struct CountsByHalves {
  template <class Word>
  GDELTA_ALWAYS_INLINE static int bits_of(Word word) {
    return word_bits(word);
  }
};
// AVX-512 converts unsigned words, so that the exponent of a float tells. Without the bits that follow a set bit
// nothing is rounded up.
struct CountsByAvx512 {
  GDELTA_ALWAYS_INLINE static std::uint32_t bits_of(std::uint32_t word) {
    constexpr std::uint32_t kBelowOne = 126;
    const auto rounded = static_cast<float>(word & ~(word >> 1));
    return std::max(std::bit_cast<std::uint32_t>(rounded) >> 23, kBelowOne) - kBelowOne;
  }
  GDELTA_ALWAYS_INLINE static std::uint64_t bits_of(std::uint64_t word) {
    constexpr std::uint64_t kBelowOne = 1022;
    const auto rounded = static_cast<double>(word & ~(word >> 1));
    return std::max(std::bit_cast<std::uint64_t>(rounded) >> 52, kBelowOne) - kBelowOne;
  }
};

// Bits at place `i` of kWays runs, whose places are of the same lane: those that the longest takes, by
// the better order.
template <class Counts, class Word, int kWays>
GDELTA_ALWAYS_INLINE Word bits_at(const Word* values, std::size_t run, std::size_t lag,
                                  std::size_t i, int spare_bits) {
  Word order0 = 0, order1 = 0, order2 = 0;
  for (int way = 0; way < kWays; ++way) {
    const Word* const at = values + static_cast<std::size_t>(way) * run + i;
    const Word value = at[2 * lag];
    const auto difference = static_cast<Word>(value - at[lag]);
    const auto before = static_cast<Word>(at[lag] - at[0]);
    order0 = static_cast<Word>(order0 | zigzag_of(value, spare_bits));
    order1 = static_cast<Word>(order1 | zigzag_of(difference, spare_bits));
    order2 =
        static_cast<Word>(order2 | zigzag_of(static_cast<Word>(difference - before), spare_bits));
  }
  const Word low = order0 < order1 ? order0 : order1;
  return static_cast<Word>(Counts::bits_of(low < order2 ? low : order2));
}

// The row that the run ends in is looked at whole, too, which lets it vectorise; what lies behind does not count.
template <class Counts, class Word, int kWays>
GDELTA_ALWAYS_INLINE std::uint64_t sum_bits(const Word* values, std::size_t run, std::size_t lag,
                                            int spare_bits) {
  // So that a byte holds each sum for a while.
  constexpr std::size_t kRows = 255 / (8 * sizeof(Word));
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < run;) {
    Word sums[kRow<Word>] = {};
    for (std::size_t row = 0; row < kRows && at < run; ++row, at += kRow<Word>) {
      const auto counted = static_cast<Word>(std::min(kRow<Word>, run - at));
      for (std::size_t i = 0; i < kRow<Word>; ++i) {
        const Word bits = bits_at<Counts, Word, kWays>(values, run, lag, at + i, spare_bits);
        const auto counts = static_cast<Word>(-static_cast<int>(static_cast<Word>(i) < counted));
        sums[i] = static_cast<Word>(sums[i] + (bits & counts));
      }
    }
    std::uint32_t of_rows = 0;
    for (const Word part : sums) of_rows += static_cast<std::uint32_t>(part);
    sum += of_rows;
  }
  return sum;
}

template <class Counts, class Word>
GDELTA_ALWAYS_INLINE std::uint64_t sum_lag_bits(const Word* values, LagRuns runs, std::size_t lag,
                                                int spare_bits) {
  switch (runs.ways) {
    case 4:
      return sum_bits<Counts, Word, 4>(values, runs.length, lag, spare_bits);
    case 3:
      return sum_bits<Counts, Word, 3>(values, runs.length, lag, spare_bits);
    case 2:
      return sum_bits<Counts, Word, 2>(values, runs.length, lag, spare_bits);
    default:
      return sum_bits<Counts, Word, 1>(values, runs.length, lag, spare_bits);
  }
}

GDELTA_ALWAYS_INLINE void count_repeats(const std::uint8_t* bytes, std::size_t count,
                                        std::size_t longest, std::uint64_t* repeats) {
  for (std::size_t lag = 1; lag <= longest; ++lag)
    for (std::size_t at = 0; at < count; at += kRepeatBlock) {
      const std::uint8_t* now = bytes + at;
      const std::uint8_t* then = now - lag;
      std::uint8_t in_block = 0;  // a byte holds the count, which lets it vectorise
      for (std::size_t i = 0; i < kRepeatBlock; ++i)
        in_block = static_cast<std::uint8_t>(in_block + (now[i] == then[i]));
      repeats[lag] += in_block;
    }
}

#if GDELTA_HAS_AVX2_CODE
GDELTA_AVX2 void count_repeats_avx2(const std::uint8_t* bytes, std::size_t count,
                                    std::size_t longest, std::uint64_t* repeats) {
  count_repeats(bytes, count, longest, repeats);
}
template <class Word>
GDELTA_AVX2 std::uint64_t sum_lag_bits_avx2(const Word* values, LagRuns runs, std::size_t lag,
                                            int spare_bits) {
  return sum_lag_bits<CountsByHalves>(values, runs, lag, spare_bits);
}
// For words of 4 and 8 bytes.
template <class Word>
GDELTA_AVX512 std::uint64_t sum_lag_bits_avx512(const Word* values, LagRuns runs, std::size_t lag,
                                                int spare_bits) {
  return sum_lag_bits<CountsByAvx512>(values, runs, lag, spare_bits);
}
#endif

}  // namespace

template <class Word>
std::uint64_t lag_bits(const Word* values, LagRuns runs, std::size_t lag, int spare_bits) {
#if GDELTA_HAS_AVX2_CODE
  if constexpr (sizeof(Word) >= 4)
    if (cpu_has_avx512()) return sum_lag_bits_avx512(values, runs, lag, spare_bits);
  if (cpu_has_avx2()) return sum_lag_bits_avx2(values, runs, lag, spare_bits);
#endif
  return sum_lag_bits<CountsByHalves>(values, runs, lag, spare_bits);
}

void add_lag_repeats(const std::uint8_t* bytes, std::size_t count, std::size_t longest,
                     std::uint64_t* repeats) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) return count_repeats_avx2(bytes, count, longest, repeats);
#endif
  count_repeats(bytes, count, longest, repeats);
}

template std::uint64_t lag_bits(const std::uint8_t*, LagRuns, std::size_t, int);
template std::uint64_t lag_bits(const std::uint16_t*, LagRuns, std::size_t, int);
template std::uint64_t lag_bits(const std::uint32_t*, LagRuns, std::size_t, int);
template std::uint64_t lag_bits(const std::uint64_t*, LagRuns, std::size_t, int);

}  // namespace gdelta
