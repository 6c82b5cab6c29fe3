#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "kernels/ans/ans_page.h"
#include "kernels/cpu/cpu_targets.h"

#if GDELTA_HAS_AVX2_CODE
#include <array>

#include "kernels/cpu/avx512.h"
#endif

namespace gdelta {
namespace {

void store_le(std::byte* out, std::uint64_t value, int bytes) {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(out, &value, static_cast<std::size_t>(bytes));
  } else {
    for (int i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(value >> (8 * i));
  }
}

// Gives the end of what has been stored.
std::byte* store_words(const std::uint16_t* words, std::size_t count, std::byte* out) {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(out, words, 2 * count);
  } else {
    for (std::size_t i = 0; i < count; ++i) store_le(out + 2 * i, words[i], 2);
  }
  return out + 2 * count;
}

// Bits from the lowest up. Writes whole words of 64 bits, so there must be room for one more.
class BitWriter {
 public:
  static constexpr int kMostAtOnce = 56;

  explicit BitWriter(std::byte* out) : out_(out) {}
  // value < 2^bits, bits up to kMostAtOnce. Without branches: how many bits values have, nothing foresees.
  void put(std::uint64_t value, int bits) {
    held_ |= value << count_;
    store_le(out_, held_, 8);
    count_ += static_cast<unsigned>(bits);
    out_ += count_ / 8;
    held_ >>= count_ & ~7u;
    count_ &= 7;
  }
  // Up to 64.
  void put_long(std::uint64_t value, int bits) {
    if (bits <= kMostAtOnce) return put(value, bits);
    put(value & 0xffffffff, 32);
    put(value >> 32, bits - 32);
  }
  /// The end of what has been written, filled up to a byte.
  std::byte* finish() {
    store_le(out_, held_, 8);
    return out_ + (count_ + 7) / 8;
  }

 private:
  std::byte* out_;
  std::uint64_t held_ = 0;
  unsigned count_ = 0;  // below 8
};

// Several offsets, one above the other.
struct JoinedBits {
  std::uint64_t value;
  int bits;

  /// Both take 64 bits at most.
  JoinedBits below(const JoinedBits& other) const {
    // By 64 bits there would be no shifting; then the other has none.
    return {value | (bits < 64 ? other.value << bits : 0), bits + other.bits};
  }
};

// Two that take 64 bits at most each; at once, if there is room for both.
void put_two(BitWriter& writer, const JoinedBits& one, const JoinedBits& other) {
  if (one.bits + other.bits <= BitWriter::kMostAtOnce)
    return writer.put(one.below(other).value, one.bits + other.bits);
  writer.put_long(one.value, one.bits);
  writer.put_long(other.value, other.bits);
}

// By name of a bin: its lowest residual, and how many bits its offsets have. No more than so many names are in use.
template <class Word>
struct OffsetTable {
  const Word* lowers;
  const Word* bits;
  int names;
};

#if GDELTA_HAS_AVX2_CODE
// Numbers at places of a table of so many vectors.
template <int kVectors>
GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i look_up(const __m512i* table, __m512i places) {
  if constexpr (kVectors == 1) return _mm512_permutexvar_epi32(places, table[0]);
  if constexpr (kVectors == 2) return _mm512_permutex2var_epi32(table[0], places, table[1]);
  constexpr int kHalf = kVectors / 2;
  return _mm512_mask_mov_epi32(look_up<std::max(kHalf, 1)>(table, places),
                               _mm512_test_epi32_mask(places, _mm512_set1_epi32(16 * kHalf)),
                               look_up<std::max(kHalf, 1)>(table + kHalf, places));
}

template <int kBehind>
GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i behind(__m512i x) {
  return kBehind == 1 ? _mm512_unpackhi_epi64(x, x) : _mm512_permutex_epi64(x, 0x4e);
}

// Numbers of 64 bits that hold offsets, and how many bits those have.
struct OffsetVector {
  __m512i values, bits;

  /// Each with the offsets of the one that follows it in its pair, or, for pairs of pairs, two behind it.
  template <int kBehind>
  GDELTA_AVX512 GDELTA_ALWAYS_INLINE OffsetVector joined() const {
    return {_mm512_or_si512(values, _mm512_sllv_epi64(behind<kBehind>(values), bits)),
            _mm512_add_epi64(bits, behind<kBehind>(bits))};
  }
  /// Whether none of these has more bits.
  GDELTA_AVX512 GDELTA_ALWAYS_INLINE bool fit(unsigned numbers, int most_bits) const {
    return (_mm512_cmpgt_epu64_mask(bits, _mm512_set1_epi64(most_bits)) & numbers) == 0;
  }
};

// Sixteen offsets, in each number two of them.
GDELTA_AVX512 GDELTA_ALWAYS_INLINE OffsetVector join_words(__m512i offsets, __m512i bits) {
  const __m512i low = _mm512_set1_epi64(0xffffffff), first_bits = _mm512_and_si512(bits, low);
  return {_mm512_or_si512(_mm512_and_si512(offsets, low),
                          _mm512_sllv_epi64(_mm512_srli_epi64(offsets, 32), first_bits)),
          _mm512_add_epi64(first_bits, _mm512_srli_epi64(bits, 32))};
}

// Sixteen at a time, of which vectors join two, four or eight. Returns how many are done.
template <int kVectors>
GDELTA_AVX512 std::uint64_t put_offsets_avx512(BitWriter& writer,
                                               const OffsetTable<std::uint32_t>& table,
                                               const std::uint32_t* words, const std::uint8_t* bins,
                                               std::uint64_t count) {
  constexpr unsigned kEven = 0x55, kFourth = 0x11;
  __m512i lowers[kVectors], lengths[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    lowers[v] = _mm512_loadu_si512(table.lowers + 16 * v);
    lengths[v] = _mm512_loadu_si512(table.bits + 16 * v);
  }
  std::uint64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m512i name =
        _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bins + i)));
    const __m512i bits_of_one = look_up<kVectors>(lengths, name);
    const __m512i offsets =
        _mm512_maskz_sub_epi32(_mm512_test_epi32_mask(bits_of_one, bits_of_one),
                               _mm512_loadu_si512(words + i), look_up<kVectors>(lowers, name));
    OffsetVector joined = join_words(offsets, bits_of_one);
    const OffsetVector fours = joined.joined<1>(), eights = fours.joined<2>();
    const bool are_fours = fours.fit(kEven, 64);
    const bool are_eights = are_fours && eights.fit(kFourth, BitWriter::kMostAtOnce);
    if (are_fours) joined = are_eights ? eights : fours;
    alignas(64) std::uint64_t values[8], bits[8];
    _mm512_store_si512(values, joined.values);
    _mm512_store_si512(bits, joined.bits);
    const auto part = [&](int k) { return JoinedBits{values[k], static_cast<int>(bits[k])}; };
    if (are_eights) {
      for (const int k : {0, 4}) writer.put(values[k], static_cast<int>(bits[k]));
    } else if (are_fours) {
      for (const int k : {0, 4}) put_two(writer, part(k), part(k + 2));
    } else {
      for (const int k : {0, 2, 4, 6}) put_two(writer, part(k), part(k + 1));
    }
  }
  return i;
}

// None if the table is too long for vectors.
std::uint64_t put_offsets_fast(BitWriter& writer, const OffsetTable<std::uint32_t>& table,
                               const std::uint32_t* words, const std::uint8_t* bins,
                               std::uint64_t count) {
  if (!cpu_has_avx512() || table.names > 128) return 0;
  const auto put = table.names <= 16   ? put_offsets_avx512<1>
                   : table.names <= 32 ? put_offsets_avx512<2>
                   : table.names <= 64 ? put_offsets_avx512<4>
                                       : put_offsets_avx512<8>;
  return put(writer, table, words, bins, count);
}
#endif

// The offsets of residuals of one table; those of two or four at once, if there is room for them.
template <class Word>
void put_offsets(BitWriter& writer, const OffsetTable<Word>& table, const Word* words,
                 const std::uint8_t* bins, std::uint64_t count) {
  const auto offset_of = [=](std::uint64_t i) -> JoinedBits {
    const Word bits = table.bits[bins[i]];
    // No branch tells those of no bits from others, for nothing foresees them either.
    const auto all_or_none = static_cast<Word>(Word{0} - static_cast<Word>(bits != 0));
    return {static_cast<Word>(words[i] - table.lowers[bins[i]]) & all_or_none,
            static_cast<int>(bits)};
  };
  const auto put = [&](const JoinedBits& joined) { writer.put_long(joined.value, joined.bits); };
  std::uint64_t i = 0;
#if GDELTA_HAS_AVX2_CODE
  if constexpr (sizeof(Word) == 4) i = put_offsets_fast(writer, table, words, bins, count);
#endif
  for (; i + 4 <= count; i += 4) {
    const JoinedBits a = offset_of(i), b = offset_of(i + 1), c = offset_of(i + 2),
                     d = offset_of(i + 3);
    if (sizeof(Word) == 8 && (a.bits + b.bits > 64 || c.bits + d.bits > 64)) {
      for (const JoinedBits& each : {a, b, c, d}) put(each);
      continue;
    }
    put_two(writer, a.below(b), c.below(d));
  }
  for (; i < count; ++i) put(offset_of(i));
}

// What the encoding of symbols moves on from tile to tile.
struct SymbolState {
  std::uint32_t* states;
  std::uint16_t* words;  // the last one written: they grow downwards
};

// One lane of a tile: the bins of `left` residuals. `bases[s]`: where the symbols of state s begin.
// Precondition: as many words fit below.
void encode_tile(SymbolState& at, const AnsSymbol* symbols, int slot_bits, int left,
                 const std::uint32_t* bases, const std::uint8_t* bins) {
  const int states = (left + kAnsRun - 1) / kAnsRun;
  for (int i = kAnsRun; i-- > 0;) {
    for (int state = states; state-- > 0;) {
      if (kAnsRun * state + i >= left) continue;
      const AnsSymbol symbol = symbols[bases[state] + bins[kAnsRun * state + i]];
      std::uint32_t x = at.states[state];
      at.words[-1] = static_cast<std::uint16_t>(x);
      const bool full = x >> (32 - slot_bits) >= symbol.frequency();
      at.words -= full;
      x = full ? x >> 16 : x;
      at.states[state] =
          x + symbol.start() + symbol.quotient(x) * ((1u << slot_bits) - symbol.frequency());
    }
  }
}

#if GDELTA_HAS_AVX2_CODE

// Moves the words of 16 bits whose bit is set to the upper end, in order.
constexpr std::array<std::array<std::uint8_t, 16>, 256> make_gathers() {
  std::array<std::array<std::uint8_t, 16>, 256> gathers{};
  for (unsigned mask = 0; mask < 256; ++mask) {
    int to = 8;
    for (int place = 8; place-- > 0;) {
      if ((mask >> place & 1) == 0) continue;
      --to;
      gathers[mask][2 * to] = static_cast<std::uint8_t>(2 * place);
      gathers[mask][2 * to + 1] = static_cast<std::uint8_t>(2 * place + 1);
    }
  }
  return gathers;
}
alignas(16) constexpr auto kGathers = make_gathers();

// Four quotients: AnsSymbol::quotient.
GDELTA_AVX2 inline __m256i quotients(__m128i states, __m256i symbols) {
  const __m256i up = _mm256_srli_epi64(symbols, 32 + AnsSymbol::kUpAt);
  const __m256i product = _mm256_add_epi64(_mm256_mul_epu32(_mm256_cvtepu32_epi64(states), symbols),
                                           _mm256_mul_epu32(up, symbols));
  const __m256i shift = _mm256_and_si256(_mm256_srli_epi64(symbols, 32 + AnsSymbol::kShiftAt),
                                         _mm256_set1_epi64x(0xf));
  return _mm256_srlv_epi64(_mm256_srli_epi64(product, 32), shift);
}

// The upper or the lower halves of eight words of 64 bits.
template <int kPlaces>
GDELTA_AVX2 inline __m256i halves(__m256i low, __m256i high) {
  const __m256 mixed =
      _mm256_shuffle_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), kPlaces);
  return _mm256_permute4x64_epi64(_mm256_castps_si256(mixed), 0xd8);
}

// A whole tile of 32 states.
GDELTA_AVX2 void encode_tile_avx2(SymbolState& at, const AnsSymbol* symbols, int slot_bits,
                                  const std::uint32_t* bases, const std::uint8_t* bins) {
  constexpr int kVectors = kMaxAnsStates / 8;
  const auto* const from = reinterpret_cast<const long long*>(symbols);
  const __m256i low11 = _mm256_set1_epi32(0x7ff), byte = _mm256_set1_epi32(0xff);
  const __m256i sixteen = _mm256_set1_epi32(16), low16 = _mm256_set1_epi32(0xffff);
  const __m256i most = _mm256_set1_epi32((1 << slot_bits) - 1);
  const __m128i to_quota = _mm_cvtsi32_si128(32 - slot_bits);
  __m256i x[kVectors], base[kVectors], runs[2][kVectors];
  for (int v = 0; v < kVectors; ++v) {
    x[v] = _mm256_load_si256(reinterpret_cast<const __m256i*>(at.states) + v);
    base[v] = _mm256_load_si256(reinterpret_cast<const __m256i*>(bases) + v);
    const auto* const run = reinterpret_cast<const __m256i*>(bins + 64 * v);
    const __m256i low = _mm256_loadu_si256(run), high = _mm256_loadu_si256(run + 1);
    runs[0][v] = halves<0x88>(low, high);
    runs[1][v] = halves<0xdd>(low, high);
  }
  std::uint16_t* words = at.words;
  for (int i = kAnsRun; i-- > 0;) {
    const __m128i to_bin = _mm_cvtsi32_si128(8 * (i % 4));
#pragma GCC unroll 4
    for (int v = kVectors; v-- > 0;) {
      const __m256i bin = _mm256_and_si256(_mm256_srl_epi32(runs[i / 4][v], to_bin), byte);
      const __m256i index = _mm256_add_epi32(base[v], bin);
      const __m256i low = _mm256_i32gather_epi64(from, _mm256_castsi256_si128(index), 8);
      const __m256i high = _mm256_i32gather_epi64(from, _mm256_extracti128_si256(index, 1), 8);
      const __m256i fields = halves<0xdd>(low, high);
      const __m256i less_one = _mm256_and_si256(fields, low11);  // frequency - 1
      const __m256i full = _mm256_cmpgt_epi32(_mm256_srl_epi32(x[v], to_quota), less_one);
      const auto fulls = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(full)));
      const __m256i given = _mm256_and_si256(x[v], low16);
      const __m128i packed =
          _mm_packus_epi32(_mm256_castsi256_si128(given), _mm256_extracti128_si256(given, 1));
      _mm_storeu_si128(
          reinterpret_cast<__m128i*>(words - 8),
          _mm_shuffle_epi8(
              packed, _mm_load_si128(reinterpret_cast<const __m128i*>(kGathers[fulls].data()))));
      words -= __builtin_popcount(fulls);
      const __m256i left = _mm256_srlv_epi32(x[v], _mm256_and_si256(full, sixteen));
      const __m256i quotient = halves<0x88>(quotients(_mm256_castsi256_si128(left), low),
                                            quotients(_mm256_extracti128_si256(left, 1), high));
      const __m256i start = _mm256_and_si256(_mm256_srli_epi32(fields, AnsSymbol::kStartAt), low11);
      const __m256i rest = _mm256_sub_epi32(most, less_one);
      x[v] = _mm256_add_epi32(_mm256_add_epi32(left, start), _mm256_mullo_epi32(quotient, rest));
    }
  }
  for (int v = 0; v < kVectors; ++v)
    _mm256_store_si256(reinterpret_cast<__m256i*>(at.states) + v, x[v]);
  at.words = words;
}

GDELTA_AVX512 GDELTA_ALWAYS_INLINE __m512i load_wide(const std::uint32_t* from) {
  return _mm512_cvtepu32_epi64(_mm256_load_si256(reinterpret_cast<const __m256i*>(from)));
}

// The same with a state and its symbol in each word of 64 bits, and the bins of its run in another.
GDELTA_AVX512 void encode_tile_avx512(SymbolState& at, const AnsSymbol* symbols, int slot_bits,
                                      const std::uint32_t* bases, const std::uint8_t* bins) {
  constexpr int kVectors = kMaxAnsStates / 8, kFields = 32;
  const __m512i low11 = _mm512_set1_epi64(0x7ff), byte = _mm512_set1_epi64(0xff);
  const __m512i low32 = _mm512_set1_epi64(0xffffffff), low4 = _mm512_set1_epi64(0xf);
  const __m512i most = _mm512_set1_epi64((1 << slot_bits) - 1);
  const __m128i to_quota = _mm_cvtsi32_si128(32 - slot_bits);
  __m512i x[kVectors], base[kVectors], runs[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    x[v] = load_wide(at.states + 8 * v);
    base[v] = load_wide(bases + 8 * v);
    runs[v] = _mm512_loadu_si512(bins + 64 * v);
  }
  std::uint16_t* words = at.words;
  for (int i = kAnsRun; i-- > 0;) {
    const __m128i to_bin = _mm_cvtsi32_si128(8 * i);
#pragma GCC unroll 4
    for (int v = kVectors; v-- > 0;) {
      const __m512i bin = _mm512_and_si512(_mm512_srl_epi64(runs[v], to_bin), byte);
      const __m512i symbol = _mm512_i64gather_epi64(_mm512_add_epi64(base[v], bin), symbols, 8);
      const __m512i less_one =  // of the frequency
          _mm512_and_si512(_mm512_srli_epi64(symbol, kFields), low11);
      const __mmask8 full = _mm512_cmpgt_epu64_mask(_mm512_srl_epi64(x[v], to_quota), less_one);
      _mm_storeu_si128(
          reinterpret_cast<__m128i*>(words - 8),
          _mm_shuffle_epi8(
              _mm512_cvtepi64_epi16(x[v]),
              _mm_load_si128(reinterpret_cast<const __m128i*>(kGathers[full].data()))));
      words -= std::popcount(unsigned{full});
      const __m512i left = _mm512_mask_srli_epi64(x[v], full, x[v], 16);
      const __m512i reciprocal = _mm512_and_si512(symbol, low32);
      const __m512i exact = _mm512_mul_epu32(left, symbol);
      static_assert(AnsSymbol::kUpAt == 31);
      const __m512i product =
          _mm512_mask_add_epi64(exact, _mm512_movepi64_mask(symbol), exact, reciprocal);
      const __m512i shift =
          _mm512_and_si512(_mm512_srli_epi64(symbol, kFields + AnsSymbol::kShiftAt), low4);
      const __m512i quotient = _mm512_srlv_epi64(_mm512_srli_epi64(product, 32), shift);
      const __m512i start =
          _mm512_and_si512(_mm512_srli_epi64(symbol, kFields + AnsSymbol::kStartAt), low11);
      x[v] = _mm512_add_epi64(_mm512_add_epi64(left, start),
                              _mm512_mul_epu32(quotient, _mm512_sub_epi64(most, less_one)));
    }
  }
  for (int v = 0; v < kVectors; ++v)
    _mm256_store_si256(reinterpret_cast<__m256i*>(at.states) + v, _mm512_cvtepi64_epi32(x[v]));
  at.words = words;
}

#endif

}  // namespace

template <class Word>
AnsPageEncoder<Word>::AnsPageEncoder(const AnsTables<Word>& tables, const AnsNames& names)
    : table_names_(names.tables),
      symbols_(names.bins.size()),
      lowers_(names.bins.size()),
      offset_bits_(names.bins.size()),
      num_names_(names.tables.size()),
      slot_bits_(tables.slot_bits) {
  for (std::size_t t = 0; t < names.tables.size(); ++t) {
    if (names.tables[t] >= tables.tables.size()) continue;  // nobody has chosen it
    const std::vector<AnsBin<Word>>& bins = tables.tables[names.tables[t]];
    std::vector<AnsSymbol> symbols;
    std::uint32_t start = 0;
    for (const AnsBin<Word>& bin : bins) {
      symbols.push_back(make_ans_symbol(bin.frequency, start));
      start += bin.frequency;
    }
    for (std::size_t number = t * kMaxTableBins; number < (t + 1) * kMaxTableBins; ++number) {
      const std::uint8_t name = names.bins[number];
      if (name >= bins.size()) continue;
      symbols_[number] = symbols[name];
      lowers_[number] = bins[name].lower;
      offset_bits_[number] = bins[name].offset_bits;
      if (name > 0) num_names_[t] = static_cast<int>(number - t * kMaxTableBins) + 1;
    }
  }
}

template <class Word>
void AnsPageEncoder<Word>::encode_symbols(const AnsPageShape& shape, const std::uint8_t* bins,
                                          std::uint64_t lane_words, const std::uint8_t* selectors) {
  std::fill_n(states_, shape.states, kAnsLowest);
  // A residual gives away a word at most; vectors store eight at once.
  const std::size_t room = shape.tuples * shape.tuple + 8;
  if (room_.size() < room) room_.resize(room);
  std::uint16_t* const end = room_.data() + room_.size();
  SymbolState at{.states = states_, .words = end};
  alignas(32) std::uint32_t bases[kMaxAnsStates];
  for (std::uint64_t tile = shape.tiles; tile-- > 0;) {
    const std::uint64_t first = tile * shape.tile_tuples();
    const auto left =
        static_cast<int>(std::min<std::uint64_t>(shape.tuples - first, shape.tile_tuples()));
    for (int lane = shape.tuple; lane-- > 0;) {
      const std::uint8_t* const chosen = selectors + (tile * shape.tuple + lane) * shape.spans;
      for (int state = 0; state < shape.states; ++state)
        bases[state] = chosen[kAnsRun * state >> shape.span_bits] * std::uint32_t{kMaxTableBins};
      const std::uint8_t* const from = bins + lane * lane_words + first;
#if GDELTA_HAS_AVX2_CODE
      if (left == kMaxAnsTile && cpu_has_avx2()) {
        (cpu_has_avx512() ? encode_tile_avx512 : encode_tile_avx2)(at, symbols_.data(), slot_bits_,
                                                                   bases, from);
        continue;
      }
#endif
      encode_tile(at, symbols_.data(), slot_bits_, left, bases, from);
    }
  }
  num_words_ = static_cast<std::size_t>(end - at.words);
}

template <class Word>
std::byte* AnsPageEncoder<Word>::write_offsets(const AnsPageShape& shape, const Word* words,
                                               const std::uint8_t* bins, std::uint64_t lane_words,
                                               const std::uint8_t* selectors,
                                               std::byte* out) const {
  BitWriter writer(out);
  for (std::uint64_t tile = 0; tile < shape.tiles; ++tile) {
    const std::uint64_t first = tile * shape.tile_tuples();
    const std::uint64_t left = std::min<std::uint64_t>(shape.tuples - first, shape.tile_tuples());
    for (int lane = 0; lane < shape.tuple; ++lane, selectors += shape.spans) {
      for (std::uint64_t begin = 0; begin < left; begin += std::uint64_t{1} << shape.span_bits) {
        const std::uint64_t at = lane * lane_words + first + begin;
        const std::uint64_t count = std::min(left - begin, std::uint64_t{1} << shape.span_bits);
        const std::size_t number = selectors[begin >> shape.span_bits];
        const OffsetTable<Word> table{.lowers = lowers_.data() + number * kMaxTableBins,
                                      .bits = offset_bits_.data() + number * kMaxTableBins,
                                      .names = num_names_[number]};
        put_offsets(writer, table, words + at, bins + at, count);
      }
    }
  }
  return writer.finish();
}

template <class Word>
void AnsPageEncoder<Word>::encode(const AnsPageShape& shape, const Word* words,
                                  const std::uint8_t* bins, std::uint64_t lane_words,
                                  const std::uint8_t* selectors, std::vector<std::byte>& page) {
  encode_symbols(shape, bins, lane_words, selectors);
  const std::size_t most =
      shape.head_bytes() + 2 * num_words_ + shape.tuples * shape.tuple * sizeof(Word) + 16;
  if (page_.size() < most) page_.resize(most);
  std::byte* out = page_.data();
  store_le(out, num_words_, 4);
  out += 4;
  for (int state = 0; state < shape.states; ++state, out += kAnsStateBytes)
    store_le(out, states_[state], kAnsStateBytes);
  BitWriter writer(out);
  for (std::uint64_t s = 0; s < shape.selectors(); ++s)
    writer.put(table_names_[selectors[s]], shape.selector_bits);
  out = writer.finish();
  out = store_words(room_.data() + room_.size() - num_words_, num_words_, out);
  out = write_offsets(shape, words, bins, lane_words, selectors, out);
  page.insert(page.end(), page_.data(), out);
}

template class AnsPageEncoder<std::uint32_t>;
template class AnsPageEncoder<std::uint64_t>;

}  // namespace gdelta
