#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/ans/ans_page.h"
#include "kernels/ans/ans_picks.h"
#include "kernels/cpu/cpu_targets.h"
#include "kernels/words/load_little.h"

#if GDELTA_HAS_AVX2_CODE
#include <array>

#include "kernels/ans/ans_tile_avx512.h"
#endif

namespace gdelta {
namespace {

// What the decoding of symbols moves on from tile to tile.
struct SymbolState {
  alignas(32) std::uint32_t states[kMaxAnsStates];
  const std::uint16_t* next;  // word
};

// Where the table of each state begins; `selectors`: one for each span.
void find_bases(const std::uint8_t* selectors, int states, int span_bits, int slot_bits,
                std::uint32_t* bases) {
  static_assert(kAnsRun == 1 << kMinSpanBits);
  for (int s = 0; s < states; ++s)
    bases[s] = std::uint32_t{selectors[s >> (span_bits - kMinSpanBits)]} << slot_bits;
}

// Bits from one place on; of words of 64 bits as many as asked for, of others at least 32.
template <class Word>
GDELTA_ALWAYS_INLINE std::uint64_t field_at(const unsigned char* bytes, std::uint64_t bit,
                                            unsigned bits) {
  const unsigned char* const at = bytes + (bit >> 3);
  std::uint64_t field = load64(at) >> (bit & 7);
  if constexpr (sizeof(Word) == 8) {
    if (bits > 57) field |= std::uint64_t{at[8]} << 1 << (63 - (bit & 7));
  }
  return field;
}

// `bases[s]`: where the table of state s begins. Reads at most one word a residual.
template <class Word>
void decode_tile(SymbolState& symbols, const AnsDecodeTables<Word>& tables, int states, int left,
                 const std::uint32_t* bases, AnsPicks& tile) {
  const int slot_bits = tables.slot_bits;
  const std::uint32_t mask = (1u << slot_bits) - 1;
  for (int i = 0; i < kAnsRun; ++i) {
    for (int s = 0; s < states && kAnsRun * s + i < left; ++s) {
      std::uint32_t x = symbols.states[s];
      const std::uint32_t at = bases[s] + (x & mask);
      const AnsCoreSlot slot = tables.slots[at];
      x = slot.frequency() * (x >> slot_bits) + slot.place();
      if (x < kAnsLowest) x = x << 16 | *symbols.next++;
      symbols.states[s] = x;
      tile.slots[i * states + s] = at;
      tile.offset_bits[i * states + s] = slot.offset_bits();
    }
  }
}

#if GDELTA_HAS_AVX2_CODE

// Moves the lowest words to the places whose bit is set.
constexpr std::array<std::array<std::uint32_t, 8>, 256> make_spreads() {
  std::array<std::array<std::uint32_t, 8>, 256> spreads{};
  for (int mask = 0; mask < 256; ++mask) {
    std::uint32_t word = 0;
    for (int place = 0; place < 8; ++place)
      if ((mask >> place & 1) != 0) spreads[mask][place] = word++;
  }
  return spreads;
}
alignas(32) constexpr auto kSpreads = make_spreads();

// The symbols of a whole tile of 32 states, a residual of every state a step.
template <class Word>
struct AnsSymbolsAvx2 {
  static constexpr int kVectors = kMaxAnsStates / 8;
  static constexpr int kSlotBytes = sizeof(typename AnsDecodeTables<Word>::Slot);

  GDELTA_AVX2 GDELTA_ALWAYS_INLINE void begin(const SymbolState& symbols,
                                              const std::uint32_t* bases,
                                              const AnsDecodeTables<Word>& tables) {
    for (int v = 0; v < kVectors; ++v) {
      x[v] = _mm256_load_si256(reinterpret_cast<const __m256i*>(symbols.states) + v);
      base[v] = _mm256_load_si256(reinterpret_cast<const __m256i*>(bases) + v);
    }
    slots = reinterpret_cast<const int*>(tables.slots.data());
    slot_mask = _mm256_set1_epi32((1 << tables.slot_bits) - 1);
    shift = _mm_cvtsi32_si128(tables.slot_bits);
    next = symbols.next;
  }

  GDELTA_AVX2 GDELTA_ALWAYS_INLINE void step(int i, AnsPicks& picks) {
    const __m256i places = _mm256_set1_epi32(0x7ff), bits = _mm256_set1_epi32(0x3ff);
    auto* const ats = reinterpret_cast<__m256i*>(picks.slots + i * kMaxAnsStates);
    auto* const offset_bits = reinterpret_cast<__m256i*>(picks.offset_bits + i * kMaxAnsStates);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const __m256i at = _mm256_add_epi32(_mm256_and_si256(x[v], slot_mask), base[v]);
      const __m256i slot = _mm256_i32gather_epi32(slots, at, kSlotBytes);
      _mm256_store_si256(ats + v, at);
      _mm256_store_si256(offset_bits + v, _mm256_and_si256(slot, bits));
      const __m256i frequency = _mm256_add_epi32(_mm256_srli_epi32(slot, 21), _mm256_set1_epi32(1));
      const __m256i place = _mm256_and_si256(_mm256_srli_epi32(slot, 10), places);
      const __m256i moved =
          _mm256_add_epi32(_mm256_mullo_epi32(frequency, _mm256_srl_epi32(x[v], shift)), place);
      const __m256i low = _mm256_cmpeq_epi32(_mm256_srli_epi32(moved, 16), _mm256_setzero_si256());
      const auto lows = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(low)));
      const __m256i words =
          _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(next)));
      const __m256i spread = _mm256_permutevar8x32_epi32(
          words, _mm256_load_si256(reinterpret_cast<const __m256i*>(kSpreads[lows].data())));
      const __m256i filled = _mm256_or_si256(_mm256_slli_epi32(moved, 16), spread);
      x[v] = _mm256_blendv_epi8(moved, filled, low);
      next += __builtin_popcount(lows);
    }
  }

  GDELTA_AVX2 GDELTA_ALWAYS_INLINE void end(SymbolState& symbols) const {
    for (int v = 0; v < kVectors; ++v)
      _mm256_store_si256(reinterpret_cast<__m256i*>(symbols.states) + v, x[v]);
    symbols.next = next;
  }

  __m256i x[kVectors], base[kVectors], slot_mask;
  __m128i shift;
  const int* slots;
  const std::uint16_t* next;
};

#endif

// Residuals of one lane of a tile, from slots and offsets. Returns the bit behind the last offset.
template <class Word>
std::uint64_t add_offsets(const AnsPicks& tile, int states, int left,
                          const AnsDecodeTables<Word>& tables, const unsigned char* offsets,
                          std::uint64_t bit, Word* words) {
  for (int s = 0; kAnsRun * s < left; ++s) {
    const int run = std::min(left - kAnsRun * s, kAnsRun);
    for (int i = 0; i < run; ++i) {
      const unsigned bits = tile.offset_bits[i * states + s];
      const std::uint64_t field = field_at<Word>(offsets, bit, bits);
      const std::uint64_t all = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
      *words++ = tables.lower(tile.slots[i * states + s]) + static_cast<Word>(field & all);
      bit += bits;
    }
  }
  return bit;
}

#if GDELTA_HAS_AVX2_CODE

// Eight selectors at once, while eight bytes can be read. Returns how many are done.
GDELTA_AVX2 std::uint64_t spread_selectors(std::span<const unsigned char> packed, int bits,
                                           std::uint64_t count, std::uint8_t* selectors) {
  const std::uint64_t places = ((std::uint64_t{1} << bits) - 1) * 0x0101010101010101;
  std::uint64_t done = 0, at = 0;
  for (; done + 8 <= count && at + 8 <= packed.size();
       done += 8, at += static_cast<unsigned>(bits)) {
    const std::uint64_t eight = _pdep_u64(load64(packed.data() + at), places);
    std::memcpy(selectors + done, &eight, sizeof eight);
  }
  return done;
}

// A tile whose symbols are decoded, and the tile before it, whose offsets are still to be added: a state waits long
// for its slot.
template <class Word>
struct TilePair {
  SymbolState& symbols;
  const AnsDecodeTables<Word>& tables;
  const std::uint8_t* selectors;
  int span_bits;
  AnsPicks* now;           // null: only offsets
  const AnsPicks* before;  // null: only symbols
  const unsigned char* offsets;
  std::uint64_t bit;
  Word* words;
};

// Of `runs` states from `first` on.
template <class Word>
GDELTA_AVX2 GDELTA_ALWAYS_INLINE std::uint64_t add_offsets_avx2(const TilePair<Word>& pair,
                                                                int first, int runs,
                                                                std::uint64_t bit) {
  Word* words = pair.words + first * kAnsRun;
  for (int s = first; s < first + runs; ++s) {
#pragma GCC unroll 8
    for (int i = 0; i < kAnsRun; ++i) {
      const unsigned bits = pair.before->offset_bits[i * kMaxAnsStates + s];
      const std::uint64_t field = field_at<Word>(pair.offsets, bit, bits);
      *words++ = pair.tables.lower(pair.before->slots[i * kMaxAnsStates + s]) +
                 static_cast<Word>(_bzhi_u64(field, bits));
      bit += bits;
    }
  }
  return bit;
}

// Returns the bit behind the last offset.
template <class Word>
GDELTA_AVX2 std::uint64_t decode_pair_avx2(const TilePair<Word>& pair) {
  if (pair.now == nullptr) return add_offsets_avx2(pair, 0, kMaxAnsStates, pair.bit);
  alignas(32) std::uint32_t bases[kMaxAnsStates];
  find_bases(pair.selectors, kMaxAnsStates, pair.span_bits, pair.tables.slot_bits, bases);
  AnsSymbolsAvx2<Word> symbols;
  symbols.begin(pair.symbols, bases, pair.tables);
  std::uint64_t bit = pair.bit;
  constexpr int kRuns = kMaxAnsStates / kAnsRun;
  for (int i = 0; i < kAnsRun; ++i) {
    symbols.step(i, *pair.now);
    if (pair.before != nullptr) bit = add_offsets_avx2(pair, i * kRuns, kRuns, bit);
  }
  symbols.end(pair.symbols);
  return bit;
}

// Returns the bit behind the last offset.
template <bool kSymbols, bool kOffsets, bool kAllShort, class Word>
GDELTA_AVX512 GDELTA_ALWAYS_INLINE std::uint64_t decode_some(const TilePair<Word>& pair) {
  std::uint64_t bit = pair.bit;
  AnsSymbolsAvx512<Word> symbols;
  AnsOffsetsAvx512<Word, kAllShort> offsets;
  if constexpr (kSymbols) {
    std::uint32_t bases[kMaxAnsStates];
    find_bases_avx512(pair.selectors, pair.span_bits, pair.tables.slot_bits, bases);
    symbols.begin(pair.symbols.states, bases, pair.tables, pair.symbols.next);
  }
  if constexpr (kOffsets)
    bit = offsets.begin(*pair.before, pair.offsets, bit, pair.tables.lowers.data());
  for (int i = 0; i < kAnsRun; ++i) {
    if constexpr (kSymbols) symbols.step(i, *pair.now);
    if constexpr (kOffsets) offsets.step(i, *pair.before);
  }
  if constexpr (kSymbols) {
    symbols.end(pair.symbols.states, *pair.now);
    pair.symbols.next = symbols.next;
  }
  if constexpr (kOffsets) store_turned(offsets.rows, pair.words);
  return bit;
}

template <class Word>
GDELTA_AVX512 std::uint64_t decode_pair_avx512(const TilePair<Word>& pair) {
  if (pair.before == nullptr) return decode_some<true, false, false>(pair);
  const bool all_short = pair.before->most_offset_bits <= kAnsShortOffset;
  if (pair.now == nullptr)
    return all_short ? decode_some<false, true, true>(pair) : decode_some<false, true, false>(pair);
  return all_short ? decode_some<true, true, true>(pair) : decode_some<true, true, false>(pair);
}

template <class Word>
using PairFunction = std::uint64_t (*)(const TilePair<Word>&);

// For offsets of so many bits at most; null where there is none.
template <class Word>
PairFunction<Word> pair_function(int most_offset_bits) {
  if (cpu_has_avx512() && most_offset_bits <= 57) return decode_pair_avx512<Word>;
  return cpu_has_avx2() ? decode_pair_avx2<Word> : nullptr;
}

#endif

// Decodes the tiles of a page, one after the other. Residuals may come a tile later.
template <class Word>
class TileDecoder {
 public:
  TileDecoder(const AnsDecodeTables<Word>& tables, const AnsPageShape& shape)
      : tables_(tables), shape_(shape) {}

  // `selectors`: one for each span
  void decode(const std::uint8_t* selectors, int left, Word* words) {
#if GDELTA_HAS_AVX2_CODE
    if (left == kMaxAnsTile && pair_function_ != nullptr) return decode_with_last(selectors, words);
    finish();
#endif
    alignas(32) std::uint32_t bases[kMaxAnsStates];
    find_bases(selectors, shape_.states, shape_.span_bits, tables_.slot_bits, bases);
    AnsPicks tile;
    decode_tile(symbols, tables_, shape_.states, left, bases, tile);
    bit = add_offsets(tile, shape_.states, left, tables_, offsets, bit, words);
  }

  // Adds the offsets that are left.
  void finish() {
#if GDELTA_HAS_AVX2_CODE
    if (last_words_ == nullptr) return;
    bit = pair_function_(
        {symbols, tables_, nullptr, 0, nullptr, &picks_[last_], offsets, bit, last_words_});
    last_words_ = nullptr;
#endif
  }

  SymbolState symbols;
  const unsigned char* offsets = nullptr;
  std::uint64_t bit = 0;

 private:
#if GDELTA_HAS_AVX2_CODE
  void decode_with_last(const std::uint8_t* selectors, Word* words) {
    const AnsPicks* const before = last_words_ != nullptr ? &picks_[last_] : nullptr;
    last_ = 1 - last_;
    bit = pair_function_({symbols, tables_, selectors, shape_.span_bits, &picks_[last_], before,
                          offsets, bit, last_words_});
    last_words_ = words;
  }
#endif

  const AnsDecodeTables<Word>& tables_;
  const AnsPageShape& shape_;
#if GDELTA_HAS_AVX2_CODE
  const PairFunction<Word> pair_function_ = pair_function<Word>(tables_.most_offset_bits);
  AnsPicks picks_[2];
  int last_ = 0;
  Word* last_words_ = nullptr;  // where the residuals of the last tile go; null: they are there
#endif
};

}  // namespace

template <class Word>
bool AnsPageDecoder<Word>::read_selectors(std::span<const unsigned char> packed,
                                          const AnsPageShape& shape) {
  const std::uint64_t count = shape.selectors();
  selectors_.assign(count + kMaxAnsStates, 0);  // vectors read more than there are
  if (shape.selector_bits == 0) return true;
  std::uint64_t first = 0;
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2())
    first = spread_selectors(packed, shape.selector_bits, count, selectors_.data());
#endif
  const int mask = (1 << shape.selector_bits) - 1;
  std::uint64_t bit = first * shape.selector_bits;
  for (std::uint64_t i = first; i < count; ++i, bit += shape.selector_bits) {
    unsigned field = packed[bit >> 3];
    if ((bit & 7) + shape.selector_bits > 8) field |= unsigned{packed[(bit >> 3) + 1]} << 8;
    selectors_[i] = static_cast<std::uint8_t>((field >> (bit & 7)) & mask);
  }
  std::uint8_t most = 0;
  for (const std::uint8_t selector : selectors_) most = std::max(most, selector);
  if (most >= tables_.num_tables) return false;
  return (bit & 7) == 0 || packed[bit >> 3] >> (bit & 7) == 0;
}

template <class Word>
bool AnsPageDecoder<Word>::decode(std::span<const unsigned char> page, int tuple,
                                  std::uint64_t tuples, Word* words, std::uint64_t lane_words) {
  const AnsPageShape shape = ans_page_shape(tuples, tuple, tables_.span_bits, tables_.num_tables);
  if (page.size() < shape.head_bytes()) return false;
  const std::uint64_t num_words = load32(page.data());
  if (num_words > (page.size() - shape.head_bytes()) / 2) return false;
  TileDecoder<Word> tiles(tables_, shape);
  for (int s = 0; s < shape.states; ++s) {
    tiles.symbols.states[s] = load32(page.data() + 4 + kAnsStateBytes * s);
    if (tiles.symbols.states[s] < kAnsLowest) return false;
  }
  const std::uint64_t selectors_at = 4 + std::uint64_t{kAnsStateBytes} * shape.states;
  if (!read_selectors(page.subspan(selectors_at), shape)) return false;

  // A tile reads no more than one word for each residual, and an offset of w bits.
  const unsigned char* const packed_words = page.data() + shape.head_bytes();
  words_.resize(num_words);
  words_.resize(num_words + kMaxAnsTile + 8);  // zeros behind
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(words_.data(), packed_words, 2 * num_words);
  } else {
    for (std::uint64_t i = 0; i < num_words; ++i)
      words_[i] = static_cast<std::uint16_t>(packed_words[2 * i] | packed_words[2 * i + 1] << 8);
  }
  const std::uint64_t offset_bytes = page.size() - shape.head_bytes() - 2 * num_words;
  offsets_.assign(packed_words + 2 * num_words, packed_words + 2 * num_words + offset_bytes);
  offsets_.resize(offset_bytes + kMaxAnsTile * sizeof(Word) + 16);
  tiles.symbols.next = words_.data();
  tiles.offsets = offsets_.data();

  const std::uint8_t* selectors = selectors_.data();
  for (std::uint64_t first = 0; first < tuples; first += shape.tile_tuples()) {
    const auto left =
        static_cast<int>(std::min<std::uint64_t>(tuples - first, shape.tile_tuples()));
    for (int lane = 0; lane < tuple; ++lane, selectors += shape.spans) {
      tiles.decode(selectors, left, words + lane * lane_words + first);
      if (tiles.symbols.next > words_.data() + num_words || tiles.bit > 8 * offset_bytes)
        return false;
    }
  }
  tiles.finish();
  if (tiles.symbols.next != words_.data() + num_words) return false;
  for (int s = 0; s < shape.states; ++s)
    if (tiles.symbols.states[s] != kAnsLowest) return false;
  // Offsets end in the last byte, with zeros behind them.
  if ((tiles.bit + 7) / 8 != offset_bytes) return false;
  return (tiles.bit & 7) == 0 || offsets_[tiles.bit >> 3] >> (tiles.bit & 7) == 0;
}

template class AnsPageDecoder<std::uint32_t>;
template class AnsPageDecoder<std::uint64_t>;

}  // namespace gdelta
