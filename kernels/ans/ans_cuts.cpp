#include "kernels/ans/ans_cuts.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "kernels/cpu/cpu_targets.h"

#if GDELTA_HAS_AVX2_CODE
#include "kernels/cpu/avx512.h"
#endif

namespace gdelta {
namespace {

// Goes on from the bin of a class's lowest residual by as many comparisons for every residual.
template <class Word>
void find_one_by_one(const Word* residuals, const std::uint16_t* classes, std::size_t count,
                     const std::uint16_t* bins_of_class, const std::make_signed_t<Word>* lasts,
                     int highest_step, std::uint8_t* bins) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<std::make_signed_t<Word>>(residuals[i]);
    int bin = bins_of_class[classes[i]] & 0xff;
    for (int step = highest_step; step > 0; step /= 2)
      bin += value > lasts[bin + step - 1] ? step : 0;
    bins[i] = static_cast<std::uint8_t>(bin);
  }
}

#if GDELTA_HAS_AVX2_CODE
// Which of 32 numbers are in a set of 256, of which each is a bit: its byte is looked up by the upper five bits of a
// number, half by half, and its place there by the lower three.
GDELTA_AVX2 std::uint32_t members_avx2(const std::uint8_t* numbers, const std::uint8_t* set) {
  const auto half = [set](int number) GDELTA_AVX2 {
    return _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(set) + number));
  };
  const __m256i number = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(numbers));
  const __m256i place = _mm256_and_si256(_mm256_srli_epi16(number, 3), _mm256_set1_epi8(15));
  const __m256i bits = _mm256_blendv_epi8(_mm256_shuffle_epi8(half(0), place),
                                          _mm256_shuffle_epi8(half(1), place), number);
  const __m256i bit =
      _mm256_shuffle_epi8(_mm256_set1_epi64x(static_cast<long long>(0x8040201008040201)),
                          _mm256_and_si256(number, _mm256_set1_epi8(7)));
  return static_cast<std::uint32_t>(
      _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(bits, bit), bit)));
}

GDELTA_AVX2 void find_avx2(const std::uint32_t* residuals, const std::uint16_t* classes,
                           std::size_t count, const std::uint16_t* bins_of_class,
                           const std::int32_t* lasts, int highest_step, std::uint8_t* bins) {
  const __m256i byte = _mm256_set1_epi32(0xff);
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(residuals + i));
    const __m256i number =
        _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(classes + i)));
    const __m256i of_classes =
        _mm256_i32gather_epi32(reinterpret_cast<const int*>(bins_of_class), number, 2);
    __m256i bin = _mm256_and_si256(of_classes, byte);
    const __m256i behind = _mm256_and_si256(_mm256_srli_epi32(of_classes, 8), byte);
    for (int step = highest_step; step > 0; step /= 2) {
      if (_mm256_testz_si256(behind, _mm256_set1_epi32(-step))) continue;
      const __m256i above =
          _mm256_cmpgt_epi32(value, _mm256_i32gather_epi32(lasts + step - 1, bin, 4));
      bin = _mm256_add_epi32(bin, _mm256_and_si256(above, _mm256_set1_epi32(step)));
    }
    const __m128i packed =
        _mm_packus_epi32(_mm256_castsi256_si128(bin), _mm256_extracti128_si256(bin, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(bins + i), _mm_packus_epi16(packed, packed));
  }
  find_one_by_one(residuals + i, classes + i, count - i, bins_of_class, lasts, highest_step,
                  bins + i);
}

// The number of ends below each of sixteen residuals: that is its bin. The ends are in `kVectors` vectors, and a
// search by halves looks them up there, where gathers would take longer.
template <int kVectors>
GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i bins_of(__m512i residuals, const __m512i* ends) {
  __m512i bin = _mm512_setzero_si512();
#pragma GCC unroll 6
  for (int step = 8 * kVectors; step > 0; step /= 2) {
    const __m512i place = _mm512_add_epi32(bin, _mm512_set1_epi32(step - 1));
    __m512i end;
    if constexpr (kVectors == 1) {
      end = _mm512_permutexvar_epi32(place, ends[0]);
    } else {
      end = _mm512_permutex2var_epi32(ends[0], place, ends[1]);
    }
    if constexpr (kVectors == 4)
      end = _mm512_mask_mov_epi32(end, _mm512_test_epi32_mask(place, _mm512_set1_epi32(32)),
                                  _mm512_permutex2var_epi32(ends[2], place, ends[3]));
    bin = _mm512_mask_add_epi32(bin, _mm512_cmpgt_epi32_mask(residuals, end), bin,
                                _mm512_set1_epi32(step));
  }
  return bin;
}

template <int kVectors>
GDELTA_AVX512 void find_avx512(const std::uint32_t* residuals, std::size_t count,
                               const std::int32_t* lasts, std::uint8_t* bins) {
  __m512i ends[kVectors];
  for (int v = 0; v < kVectors; ++v) ends[v] = _mm512_loadu_si512(lasts + 16 * v);
  for (std::size_t i = 0; i < count; i += 16) {
    const auto some = static_cast<__mmask16>(count - i < 16 ? (1u << (count - i)) - 1 : 0xffffu);
    const __m512i found = bins_of<kVectors>(_mm512_maskz_loadu_epi32(some, residuals + i), ends);
    _mm_mask_storeu_epi8(bins + i, some, _mm512_cvtepi32_epi8(found));
  }
}
#endif

}  // namespace

template <class Word>
AnsCuts<Word>::AnsCuts(std::span<const ResidualRange> bins) {
  const auto lowest = std::int64_t{std::numeric_limits<Signed>::min()};
  const auto highest = std::int64_t{std::numeric_limits<Signed>::max()};
  lasts_.fill(std::numeric_limits<Signed>::max());
  std::int64_t next = lowest;  // that no bin has yet
  bool open = true;
  for (std::size_t b = 0; b < bins.size() && open; ++b) {
    const ResidualRange& bin = bins[b];
    if (bin.first > next) add(next, kUnknown);
    // What its offsets reach is the bin's too.
    const auto length =
        static_cast<std::uint64_t>(bin.last) - static_cast<std::uint64_t>(bin.first);
    const int bits = static_cast<int>(std::bit_width(length));
    add(bin.first, bits);
    const std::uint64_t reach = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
    const std::uint64_t room =
        static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(bin.first);
    open = reach < room;
    if (!open) break;
    next = bin.first + static_cast<std::int64_t>(reach) + 1;
    if (b + 1 < bins.size()) next = std::min(next, bins[b + 1].first);
  }
  if (open) add(next, kUnknown);
  find_bins_of_classes();
}

template <class Word>
void AnsCuts<Word>::find_bins_of_classes() {
  // The class that a bin begins in.
  const auto class_of = [this](int bin) {
    return bin == size_ ? kFineClasses
                        : static_cast<int>(FineClasses::of(static_cast<Word>(first(bin))));
  };
  bins_of_class_.back() = 0;
  auto next = bins_of_class_.begin();
  int most_behind = 0;
  for (int bin = 1, number = class_of(bin); bin <= size_;) {
    const auto of_number = bins_of_class_.begin() + number;
    std::fill(next, of_number, static_cast<std::uint16_t>(bin - 1));
    if (number == kFineClasses) break;
    const int lowest = first(bin) == FineClasses::lowest<Signed>(number) ? bin : bin - 1;
    const int of_bin = number;
    while (number == of_bin) number = class_of(++bin);
    const int behind = bin - 1 - lowest;
    *of_number = static_cast<std::uint16_t>(lowest | behind << 8);
    most_behind = std::max(most_behind, behind);
    next = of_number + 1;
  }
  highest_step_ = static_cast<int>(std::bit_floor(static_cast<unsigned>(most_behind)));
}

template <class Word>
void AnsCuts<Word>::add(std::int64_t first, int bits) {
  if (size_ > 0) lasts_[static_cast<std::size_t>(size_) - 1] = static_cast<Signed>(first - 1);
  if (bits == kUnknown)
    is_unknown_[static_cast<std::size_t>(size_) / 8] |=
        static_cast<std::uint8_t>(1u << (size_ % 8));
  offset_bits_[static_cast<std::size_t>(size_++)] = static_cast<std::uint8_t>(bits);
}

template <class Word>
std::uint32_t AnsCuts<Word>::unknown_of(const std::uint8_t* bins, std::size_t count) const {
#if GDELTA_HAS_AVX2_CODE
  if (count == 32 && cpu_has_avx2()) return members_avx2(bins, is_unknown_.data());
#endif
  std::uint32_t unknown = 0;
  for (std::size_t i = 0; i < count; ++i)
    unknown |= (is_unknown_[bins[i] / 8] >> (bins[i] % 8) & 1u) << i;
  return unknown;
}

template <class Word>
void AnsCuts<Word>::find(std::span<const Word> residuals, const std::uint16_t* classes,
                         std::uint8_t* bins) const {
#if GDELTA_HAS_AVX2_CODE
  if constexpr (sizeof(Word) == 4) {
    if (cpu_has_avx512() && size_ <= 64)
      return (size_ <= 16 ? find_avx512<1>
              : size_ <= 32
                  ? find_avx512<2>
                  : find_avx512<4>)(residuals.data(), residuals.size(), lasts_.data(), bins);
    if (cpu_has_avx2())
      return find_avx2(residuals.data(), classes, residuals.size(), bins_of_class_.data(),
                       lasts_.data(), highest_step_, bins);
  }
#endif
  find_one_by_one(residuals.data(), classes, residuals.size(), bins_of_class_.data(), lasts_.data(),
                  highest_step_, bins);
}

template class AnsCuts<std::uint32_t>;
template class AnsCuts<std::uint64_t>;

}  // namespace gdelta
