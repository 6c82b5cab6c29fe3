#include <bit>
#include <cstring>

#include "kernels/bitpack/group_pack.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/bitpack/count_lengths.cpp"
#include "kernels/cpu/each_target.h"

HWY_BEFORE_NAMESPACE();
namespace gdelta {
namespace HWY_NAMESPACE {
namespace {

#if GDELTA_HAS_VECTORS
namespace hn = hwy::HWY_NAMESPACE;

// The length comes from the exponent of a float of as many bits; without the bits that follow a set bit nothing is rounded
// up. What has its highest bit set is a negative number there, whose sign counts for more than any length.
template <class D>
HWY_INLINE hn::Vec<D> bit_lengths(D d, hn::Vec<D> words) {
  constexpr bool kIsLong = sizeof(hn::TFromD<D>) == 8;
#if HWY_TARGET == HWY_AVX2
  if constexpr (kIsLong) {  // floats of 64 bits cannot be made of integers there
    const hn::Repartition<std::uint32_t, D> halves;
    const auto lengths = hn::BitCast(d, bit_lengths(halves, hn::BitCast(halves, words)));
    const auto high = hn::ShiftRight<32>(lengths);
    return hn::IfThenElse(hn::Eq(high, hn::Zero(d)), lengths, hn::Add(high, hn::Set(d, 32)));
  }
#endif
  constexpr int kFraction = kIsLong ? 52 : 23, kBias = kIsLong ? 1023 : 127;
  const hn::RebindToSigned<D> signed_words;
  const hn::RebindToFloat<D> floats;
  const hn::Repartition<std::uint16_t, D> parts;
  const auto cut = hn::AndNot(hn::ShiftRight<1>(words), words);
  const auto number = hn::ConvertTo(floats, hn::BitCast(signed_words, cut));
  const auto exponents = hn::BitCast(parts, hn::ShiftRight<kFraction>(hn::BitCast(d, number)));
  const auto lengths = hn::SaturatedSub(exponents, hn::BitCast(parts, hn::Set(d, kBias - 1)));
  return hn::BitCast(d, hn::Min(lengths, hn::BitCast(parts, hn::Set(d, kIsLong ? 64 : 32))));
}

// Lengths are bytes, in any order. How many there are of each is asked from 0 up; of long words from the longest down,
// because those of long residuals are all long.
template <class Word>
void count_lengths(const Word* residuals, std::uint8_t* counts) {
  constexpr bool kFromLongest = sizeof(Word) == 8;
  const hn::ScalableTag<Word> d;
  const hn::Repartition<std::uint8_t, decltype(d)> d8;
  constexpr std::size_t kVectors = kGroupValues / hn::MaxLanes(d8);
  hn::Vec<decltype(d8)> lengths[kVectors];
  auto any = hn::Zero(d);
  for (std::size_t v = 0; v < kVectors; ++v) {
    auto packed = hn::Zero(d);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < sizeof(Word); ++i, residuals += hn::MaxLanes(d)) {
      const auto words = hn::LoadU(d, residuals);
      if constexpr (kFromLongest) any = hn::Or(any, words);
      packed = hn::Or(hn::ShiftLeft<8>(packed), bit_lengths(d, words));
    }
    lengths[v] = hn::BitCast(d8, packed);
  }
  int length = 0;
  if constexpr (kFromLongest) {
    alignas(64) Word bits[hn::MaxLanes(d)];
    hn::Store(any, d, bits);
    Word all = 0;
    for (const Word some : bits) all |= some;
    length = std::bit_width(all);
  }
  std::memset(counts, 0, 65);
  for (std::size_t left = kGroupValues; left > 0; length += kFromLongest ? -1 : 1) {
    const auto same = hn::Set(d8, static_cast<std::uint8_t>(length));
    std::size_t count = 0;
    for (std::size_t v = 0; v < kVectors; ++v) count += hn::CountTrue(d8, hn::Eq(lengths[v], same));
    counts[length] = static_cast<std::uint8_t>(count);
    left -= count;
  }
}
#else
// Four tables: neighbours often have the same length, and each entry is a dependency.
template <class Word>
void count_lengths(const Word* residuals, std::uint8_t* counts) {
  std::uint8_t tables[4][72] = {};
  for (int i = 0; i < kGroupValues; i += 4) {
    for (int t = 0; t < 4; ++t) ++tables[t][std::bit_width(residuals[i + t])];
  }
  for (int b = 0; b < 65; ++b) {
    counts[b] =
        static_cast<std::uint8_t>(tables[0][b] + tables[1][b] + tables[2][b] + tables[3][b]);
  }
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gdelta
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdelta {

template <class Word>
void count_bit_lengths(const Word* residuals, std::uint8_t* counts) {
  GDELTA_BEST(count_lengths<Word>)(residuals, counts);
}

template void count_bit_lengths(const std::uint32_t*, std::uint8_t*);
template void count_bit_lengths(const std::uint64_t*, std::uint8_t*);

}  // namespace gdelta
#endif
