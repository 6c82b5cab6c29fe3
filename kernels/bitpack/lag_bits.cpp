#include "kernels/bitpack/lag_bits.h"

#include <algorithm>

#include "kernels/bitpack/zigzag_length.h"

namespace gdelta {
namespace {

// Places that are looked at together: a vector's.
template <class Word>
constexpr std::size_t kRow = 32 / sizeof(Word);

// Bits at place `i` of kWays runs, whose places are of the same lane: those that the longest takes, by
// the better order.
template <class Word, int kWays>
GDELTA_ALWAYS_INLINE int bits_at(const Word* values, std::size_t run, std::size_t lag,
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
  return word_bits(low < order2 ? low : order2);
}

// The row that the run ends in is looked at whole, too, which lets it vectorise; what lies behind does not count.
template <class Word, int kWays>
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
        const auto bits =
            static_cast<Word>(bits_at<Word, kWays>(values, run, lag, at + i, spare_bits));
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

template <class Word>
GDELTA_ALWAYS_INLINE std::uint64_t sum_lag_bits(const Word* values, LagRuns runs, std::size_t lag,
                                                int spare_bits) {
  switch (runs.ways) {
    case 4:
      return sum_bits<Word, 4>(values, runs.length, lag, spare_bits);
    case 3:
      return sum_bits<Word, 3>(values, runs.length, lag, spare_bits);
    case 2:
      return sum_bits<Word, 2>(values, runs.length, lag, spare_bits);
    default:
      return sum_bits<Word, 1>(values, runs.length, lag, spare_bits);
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
  return sum_lag_bits(values, runs, lag, spare_bits);
}
#endif

}  // namespace

template <class Word>
std::uint64_t lag_bits(const Word* values, LagRuns runs, std::size_t lag, int spare_bits) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) return sum_lag_bits_avx2(values, runs, lag, spare_bits);
#endif
  return sum_lag_bits(values, runs, lag, spare_bits);
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
