#include "kernels/ans/cut_search.h"

#include <algorithm>
#include <array>
#include <bit>

#include "kernels/ans/ans_fit_rules.h"
#include "kernels/ans/fixed_log2.h"
#include "kernels/cpu/cpu_targets.h"

#if GDELTA_HAS_AVX2_CODE
#include "kernels/cpu/avx512.h"
#endif

namespace gdelta {
namespace {

constexpr std::uint64_t kFewValues = 4096;
constexpr auto kLogs = [] {
  std::array<std::uint16_t, kFewValues> logs{};
  for (std::uint64_t x = 1; x < kFewValues; ++x)
    logs[x] = static_cast<std::uint16_t>(fixed_log2(x));
  return logs;
}();
std::uint32_t log2_of(std::uint64_t values) {
  return values < kFewValues ? kLogs[values] : fixed_log2(values);
}

/// The search for the last bin of the cells before an end: it begins at `from` - 1, then at cells before that.
struct Search {
  const CutCells& cells;
  const CutEnds& best;
  std::uint64_t bin_bits;
  std::uint32_t all;  // log2 of the sample's values
  std::size_t end;
  std::size_t from = end;
  std::uint64_t least = ~std::uint64_t{0};
  std::uint32_t least_from = 0;
};

// Longer bins are worse by more and more: `values` says how long one is.
constexpr std::uint64_t hopeless_by(std::uint64_t values, std::uint64_t bin_bits) {
  return (values << kFixedLog2Bits) * kHopeless + 4 * bin_bits;
}

// Down to cell `first`; returns whether longer bins are hopeless, if that is a reason to stop.
template <bool kStops = true>
GDELTA_ALWAYS_INLINE bool search_to(Search& search, std::size_t first) {
  const CutCells& cells = search.cells;
  const std::uint64_t before_end = cells.befores[search.end], last = cells.lasts[search.end - 1];
  while (search.from > first) {
    --search.from;
    const std::uint64_t values = before_end - cells.befores[search.from];
    const auto offset_bits =
        static_cast<std::uint64_t>(std::bit_width(last - cells.firsts[search.from]));
    const std::uint64_t bits_of_one =
        search.all - log2_of(values) + (offset_bits << kFixedLog2Bits);
    const std::uint64_t cost =
        search.best.costs[search.from] + values * bits_of_one + search.bin_bits;
    if (cost < search.least) {
      search.least = cost;
      search.least_from = static_cast<std::uint32_t>(search.from);
    }
    if (kStops && cost - search.least > hopeless_by(values, search.bin_bits)) return true;
  }
  return false;
}

template <class SearchOn>
GDELTA_ALWAYS_INLINE CutEnds search_all(const CutCells& cells, std::uint64_t bin_bits,
                                        const SearchOn& search_last) {
  CutEnds best{.costs = std::vector<std::uint64_t>(cells.size() + 1),
               .froms = std::vector<std::uint32_t>(cells.size() + 1)};
  const std::uint32_t all = fixed_log2(cells.befores.back());
  for (std::size_t end = 1; end <= cells.size(); ++end) {
    Search search{.cells = cells, .best = best, .bin_bits = bin_bits, .all = all, .end = end};
    search_last(search);
    best.costs[end] = search.least;
    best.froms[end] = search.least_from;
  }
  return best;
}

GDELTA_ALWAYS_INLINE void search_short(Search& search) {
  search_to<false>(search, search.end - std::min<std::size_t>(search.end, kMostBinCells));
}

#if GDELTA_HAS_AVX2_CODE

GDELTA_AVX2 void search_avx2(Search& search) { search_to(search, 0); }
GDELTA_AVX2 void search_short_avx2(Search& search) { search_short(search); }

// The fraction of a logarithm, by the bits behind the highest one: two to a word, so that four vectors have them.
struct Fractions {
  GDELTA_AVX512 Fractions() {
    const auto* const from = reinterpret_cast<const __m512i*>(detail::kLog2Fractions.data());
    for (int v = 0; v < 4; ++v) vectors[v] = _mm512_loadu_si512(from + v);
  }
  // At places of 32 bits. Those of 64 bits are places and zeros, and the fraction there is zero, too.
  GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i at(__m512i places) const {
    const __m512i words = _mm512_srli_epi32(places, 1);
    const __mmask16 is_high = _mm512_test_epi32_mask(places, _mm512_set1_epi32(128));
    const __m512i pair =
        _mm512_mask_blend_epi32(is_high, _mm512_permutex2var_epi16(vectors[0], words, vectors[1]),
                                _mm512_permutex2var_epi16(vectors[2], words, vectors[3]));
    const __mmask16 is_odd = _mm512_test_epi32_mask(places, _mm512_set1_epi32(1));
    return _mm512_and_si512(_mm512_mask_srli_epi32(pair, is_odd, pair, 8), _mm512_set1_epi32(255));
  }
  static_assert(detail::kLog2Fractions[0] == 0);
  __m512i vectors[4];
};

constexpr int kDoubleFraction = 52, kDoubleBias = 1023;

// fixed_log2 of numbers below 2^53: exponent and fraction of a double say it.
GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i log2_of(__m512i values, const Fractions& fractions) {
  const __m512i bits = _mm512_castpd_si512(_mm512_cvtepu64_pd(values));
  const __m512i exponent =
      _mm512_sub_epi64(_mm512_srli_epi64(bits, kDoubleFraction), _mm512_set1_epi64(kDoubleBias));
  const __m512i fraction = _mm512_and_si512(
      _mm512_srli_epi64(bits, kDoubleFraction - kFixedLog2Bits), _mm512_set1_epi64(255));
  return _mm512_add_epi64(_mm512_slli_epi64(exponent, kFixedLog2Bits), fractions.at(fraction));
}

GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i widths_of(__m512i numbers) {
  // Without the bit behind the highest one, so that nothing is rounded up to the next power.
  const __m512i cut = _mm512_andnot_si512(_mm512_srli_epi64(numbers, 1), numbers);
  const __m512i exponent =
      _mm512_srli_epi64(_mm512_castpd_si512(_mm512_cvtepu64_pd(cut)), kDoubleFraction);
  return _mm512_max_epi64(_mm512_sub_epi64(exponent, _mm512_set1_epi64(kDoubleBias - 1)),
                          _mm512_setzero_si512());
}

// The least of each number and those above it, `before` included.
GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i least_from_above(__m512i x, std::uint64_t before) {
  const __m512i most = _mm512_set1_epi64(-1);
  x = _mm512_min_epu64(x, _mm512_alignr_epi64(most, x, 1));
  x = _mm512_min_epu64(x, _mm512_alignr_epi64(most, x, 2));
  x = _mm512_min_epu64(x, _mm512_alignr_epi64(most, x, 4));
  return _mm512_min_epu64(x, _mm512_set1_epi64(static_cast<long long>(before)));
}

// Eight beginnings at once, of which the last cell comes first; stops where one after the other would stop.
GDELTA_AVX512 void search_avx512(Search& search) {
  constexpr std::size_t kAtOnce = 8;
  // What has just been stored number by number, a vector would wait for.
  constexpr std::size_t kNearest = 4;
  if (search_to(search, search.end - std::min(search.end, kNearest))) return;
  const CutCells& cells = search.cells;
  const Fractions fractions;
  const __m512i before_end = Avx512<std::uint64_t>::same(cells.befores[search.end]),
                last = Avx512<std::uint64_t>::same(cells.lasts[search.end - 1]),
                all = _mm512_set1_epi64(search.all),
                bin_bits = Avx512<std::uint64_t>::same(search.bin_bits);
  while (search.from >= kAtOnce) {
    search.from -= kAtOnce;
    const __m512i values =
        _mm512_sub_epi64(before_end, _mm512_loadu_si512(cells.befores.data() + search.from));
    const __m512i offset_bits =
        widths_of(_mm512_sub_epi64(last, _mm512_loadu_si512(cells.firsts.data() + search.from)));
    const __m512i bits_of_one = _mm512_add_epi64(_mm512_sub_epi64(all, log2_of(values, fractions)),
                                                 _mm512_slli_epi64(offset_bits, kFixedLog2Bits));
    const __m512i costs = _mm512_add_epi64(
        _mm512_add_epi64(_mm512_loadu_si512(search.best.costs.data() + search.from), bin_bits),
        _mm512_mul_epu32(values, bits_of_one));
    const __m512i least = least_from_above(costs, search.least);
    static_assert(kHopeless == 1);
    const __m512i hopeless_by =
        _mm512_add_epi64(_mm512_slli_epi64(values, kFixedLog2Bits), _mm512_slli_epi64(bin_bits, 2));
    const unsigned stops = _mm512_cmpgt_epu64_mask(_mm512_sub_epi64(costs, least), hopeless_by);
    const int stop = stops == 0 ? 0 : std::bit_width(stops) - 1;
    alignas(64) std::uint64_t leasts[kAtOnce];
    _mm512_store_si512(leasts, least);
    if (leasts[stop] < search.least) {
      search.least = leasts[stop];
      const unsigned found =
          _mm512_cmpeq_epi64_mask(costs, Avx512<std::uint64_t>::same(search.least));
      search.least_from = static_cast<std::uint32_t>(search.from) +
                          static_cast<std::uint32_t>(std::bit_width(found) - 1);
    }
    if (stops != 0) return;
  }
  search_to(search, 0);
}

// ---- In words of 32 bits

// Whether no cost is too long for them. A cost is that of two bins at most.
bool is_narrow(const CutCells& cells, std::uint64_t bin_bits) {
  const std::uint64_t values = cells.befores.back();
  const std::uint64_t spread = cells.lasts.back() - cells.firsts.front();
  const int most_bits = std::bit_width(values) + 1 + std::bit_width(spread);  // of one value
  constexpr std::uint64_t kMostValues = 1 << 20, kMostBinBits = 1 << 28;
  if (values > kMostValues || bin_bits > kMostBinBits || spread >> 32 != 0) return false;
  return (((values * static_cast<unsigned>(most_bits)) << kFixedLog2Bits) + 5 * bin_bits) >> 32 ==
         0;
}

constexpr std::size_t kNarrowAtOnce = 16;

// Cells, with room before the first, so that vectors may begin there.
struct NarrowCells {
  explicit NarrowCells(const CutCells& cells)
      : befores(kNarrowAtOnce + cells.size() + 1),
        firsts(kNarrowAtOnce + cells.size()),
        costs(kNarrowAtOnce + cells.size() + 1) {
    for (std::size_t k = 0; k <= cells.size(); ++k)
      befores[kNarrowAtOnce + k] = static_cast<std::uint32_t>(cells.befores[k]);
    for (std::size_t k = 0; k < cells.size(); ++k)
      firsts[kNarrowAtOnce + k] = static_cast<std::uint32_t>(cells.firsts[k] - cells.firsts[0]);
  }
  std::vector<std::uint32_t> befores, firsts, costs;
};

GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i narrow_log2_of(__m512i values,
                                                          const Fractions& fractions) {
  constexpr int kFraction = 23, kBias = 127;
  const __m512i bits = _mm512_castps_si512(_mm512_cvtepu32_ps(values));
  const __m512i exponent =
      _mm512_sub_epi32(_mm512_srli_epi32(bits, kFraction), _mm512_set1_epi32(kBias));
  const __m512i fraction =
      _mm512_and_si512(_mm512_srli_epi32(bits, kFraction - kFixedLog2Bits), _mm512_set1_epi32(255));
  return _mm512_add_epi32(_mm512_slli_epi32(exponent, kFixedLog2Bits), fractions.at(fraction));
}

GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i narrow_widths_of(__m512i numbers) {
  constexpr int kFraction = 23, kBias = 127;
  const __m512i cut = _mm512_andnot_si512(_mm512_srli_epi32(numbers, 1), numbers);
  const __m512i exponent =
      _mm512_srli_epi32(_mm512_castps_si512(_mm512_cvtepu32_ps(cut)), kFraction);
  return _mm512_subs_epu16(exponent, _mm512_set1_epi32(kBias - 1));
}

GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i narrow_least_from_above(__m512i x, __m512i before) {
  const __m512i most = _mm512_set1_epi32(-1);
  x = _mm512_min_epu32(x, _mm512_alignr_epi32(most, x, 1));
  x = _mm512_min_epu32(x, _mm512_alignr_epi32(most, x, 2));
  x = _mm512_min_epu32(x, _mm512_alignr_epi32(most, x, 4));
  x = _mm512_min_epu32(x, _mm512_alignr_epi32(most, x, 8));
  return _mm512_min_epu32(x, before);
}

// Sixteen beginnings at once. Costs of the nearest are in a vector, as memory would have them late.
GDELTA_AVX512 CutEnds search_narrow(const CutCells& cells, std::uint64_t bin_bits) {
  constexpr auto kAtOnce = static_cast<std::ptrdiff_t>(kNarrowAtOnce);
  CutEnds best{.costs = std::vector<std::uint64_t>(cells.size() + 1),
               .froms = std::vector<std::uint32_t>(cells.size() + 1)};
  NarrowCells narrow(cells);
  const Fractions fractions;
  const std::uint32_t* const befores = narrow.befores.data() + kNarrowAtOnce;
  const std::uint32_t* const firsts = narrow.firsts.data() + kNarrowAtOnce;
  std::uint32_t* const costs = narrow.costs.data() + kNarrowAtOnce;
  const __m512i all = _mm512_set1_epi32(static_cast<int>(fixed_log2(cells.befores.back()))),
                of_bin = _mm512_set1_epi32(static_cast<int>(bin_bits));
  __m512i nearest = _mm512_setzero_si512();
  for (std::size_t end = 1; end <= cells.size(); ++end) {
    const __m512i before_end = _mm512_set1_epi32(static_cast<int>(befores[end]));
    const __m512i last =
        _mm512_set1_epi32(static_cast<int>(cells.lasts[end - 1] - cells.firsts[0]));
    __m512i least = _mm512_set1_epi32(-1), before = nearest;
    std::ptrdiff_t from = static_cast<std::ptrdiff_t>(end), least_from = 0;
    for (bool stops = false; !stops && from > 0;) {
      from -= kAtOnce;
      const auto is_there = static_cast<__mmask16>(from < 0 ? 0xffffu << -from : 0xffffu);
      const __m512i values = _mm512_sub_epi32(before_end, _mm512_loadu_si512(befores + from));
      const __m512i offset_bits =
          narrow_widths_of(_mm512_sub_epi32(last, _mm512_loadu_si512(firsts + from)));
      const __m512i bits_of_one =
          _mm512_add_epi32(_mm512_sub_epi32(all, narrow_log2_of(values, fractions)),
                           _mm512_slli_epi32(offset_bits, kFixedLog2Bits));
      const __m512i found =
          _mm512_mask_add_epi32(_mm512_set1_epi32(-1), is_there, _mm512_add_epi32(before, of_bin),
                                _mm512_mullo_epi32(values, bits_of_one));
      const __m512i leasts = narrow_least_from_above(found, least);
      static_assert(kHopeless == 1);
      const __m512i hopeless_by =
          _mm512_add_epi32(_mm512_slli_epi32(values, kFixedLog2Bits), _mm512_slli_epi32(of_bin, 2));
      const unsigned hopeless =
          _mm512_mask_cmpgt_epu32_mask(is_there, _mm512_sub_epi32(found, leasts), hopeless_by);
      stops = hopeless != 0;
      const int stop = stops ? std::bit_width(hopeless) - 1 : 0;
      const __m512i next = _mm512_permutexvar_epi32(_mm512_set1_epi32(stop), leasts);
      if (_mm512_cmplt_epu32_mask(next, least) != 0)
        least_from = from + std::bit_width(unsigned{_mm512_cmpeq_epi32_mask(found, next)}) - 1;
      least = next;
      if (from > 0) before = _mm512_loadu_si512(costs + from - kAtOnce);
    }
    costs[end] = static_cast<std::uint32_t>(_mm512_cvtsi512_si32(least));
    best.costs[end] = costs[end];
    best.froms[end] = static_cast<std::uint32_t>(least_from);
    nearest = _mm512_alignr_epi32(least, nearest, 1);
  }
  return best;
}

#endif

}  // namespace

CutEnds search_cuts_one_by_one(const CutCells& cells, std::uint64_t bin_bits) {
  return search_all(cells, bin_bits, [](Search& search) { search_to(search, 0); });
}

CutEnds search_cuts(const CutCells& cells, std::uint64_t bin_bits) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx512())
    return is_narrow(cells, bin_bits) ? search_narrow(cells, bin_bits)
                                      : search_all(cells, bin_bits, search_avx512);
  if (cpu_has_avx2()) return search_all(cells, bin_bits, search_avx2);
#endif
  return search_cuts_one_by_one(cells, bin_bits);
}

CutEnds search_short_cuts(const CutCells& cells, std::uint64_t bin_bits) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) return search_all(cells, bin_bits, search_short_avx2);
#endif
  return search_all(cells, bin_bits, [](Search& search) { search_short(search); });
}

}  // namespace gdelta
