#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/ans/ans_page.h"

namespace gdelta {
namespace {

void store_le(std::byte* out, std::uint64_t value, int bytes) {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(out, &value, static_cast<std::size_t>(bytes));
  } else {
    for (int i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(value >> (8 * i));
  }
}

// Bits from the lowest up. Writes whole words of 64 bits, so there must be room for one more.
class BitWriter {
 public:
  explicit BitWriter(std::byte* out) : out_(out) {}
  // value < 2^bits, bits up to 64
  void put(std::uint64_t value, int bits) {
    held_ |= value << count_;
    if (count_ + bits >= 64) {
      store_le(out_, held_, 8);
      out_ += 8;
      held_ = count_ == 0 ? 0 : value >> (64 - count_);
      count_ -= 64;
    }
    count_ += bits;
  }
  /// The end of what has been written, filled up to a byte.
  std::byte* finish() {
    store_le(out_, held_, 8);
    return out_ + (count_ + 7) / 8;
  }

 private:
  std::byte* out_;
  std::uint64_t held_ = 0;
  int count_ = 0;  // below 64
};

}  // namespace

template <class Word>
AnsPageEncoder<Word>::AnsPageEncoder(const AnsTables<Word>& tables, const AnsNames& names)
    : table_names_(names.tables), symbols_(names.bins.size()), offsets_(names.bins.size()) {
  const std::uint32_t slots = 1u << tables.slot_bits;
  for (std::size_t t = 0; t < names.tables.size(); ++t) {
    if (names.tables[t] >= tables.tables.size()) continue;  // nobody has chosen it
    const std::vector<AnsBin<Word>>& bins = tables.tables[names.tables[t]];
    std::vector<std::uint32_t> starts{0};
    for (const AnsBin<Word>& bin : bins) starts.push_back(starts.back() + bin.frequency);
    for (std::size_t number = t * kMaxTableBins; number < (t + 1) * kMaxTableBins; ++number) {
      const std::uint8_t name = names.bins[number];
      if (name >= bins.size()) continue;
      const std::uint32_t frequency = bins[name].frequency;
      symbols_[number] = {
          .reciprocal = frequency == 1 ? ~std::uint64_t{0} : ~std::uint64_t{0} / frequency + 1,
          .limit = std::uint64_t{frequency} << (32 - tables.slot_bits),
          .start = frequency == 1 ? starts[name] + slots - 1 : starts[name],
          .rest = slots - frequency};
      offsets_[number] = {bins[name].lower, bins[name].offset_bits};
    }
  }
}

template <class Word>
void AnsPageEncoder<Word>::encode_symbols(const AnsPageShape& shape, const std::uint8_t* bins,
                                          std::uint64_t lane_words, const std::uint8_t* selectors) {
  std::fill_n(states_, shape.states, kAnsLowest);
  words_.clear();
  words_.resize(shape.tuples * shape.tuple);  // a residual gives away one at most
  std::uint16_t* out = words_.data();
  const int states_of_span = std::max((1 << shape.span_bits) / kAnsRun, 1);
  for (std::uint64_t tile = shape.tiles; tile-- > 0;) {
    const std::uint64_t first = tile * shape.tile_tuples();
    const auto left =
        static_cast<int>(std::min<std::uint64_t>(shape.tuples - first, shape.tile_tuples()));
    for (int lane = shape.tuple; lane-- > 0;) {
      const std::uint8_t* const from = bins + lane * lane_words + first;
      const std::uint8_t* const chosen = selectors + (tile * shape.tuple + lane) * shape.spans;
      for (int i = kAnsRun; i-- > 0;) {
        for (int state = shape.states; state-- > 0;) {
          const int at = kAnsRun * state + i;
          if (at >= left) continue;
          const Symbol& symbol =
              symbols_[chosen[state / states_of_span] * kMaxTableBins + from[at]];
          std::uint32_t x = states_[state];
          *out = static_cast<std::uint16_t>(x);
          const bool full = x >= symbol.limit;
          out += full;
          x = full ? x >> 16 : x;
          const auto quotient = static_cast<std::uint32_t>(
              static_cast<unsigned __int128>(symbol.reciprocal) * x >> 64);
          states_[state] = x + symbol.start + quotient * symbol.rest;
        }
      }
    }
  }
  words_.resize(out - words_.data());
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
      const std::uint64_t at = lane * lane_words + first;
      for (std::uint64_t i = 0; i < left; ++i) {
        const Offset& offset =
            offsets_[selectors[i >> shape.span_bits] * kMaxTableBins + bins[at + i]];
        writer.put(offset.bits == 0 ? 0 : static_cast<Word>(words[at + i] - offset.lower),
                   offset.bits);
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
  const std::size_t start = page.size();
  page.resize(start + shape.head_bytes() + 2 * words_.size() +
              shape.tuples * shape.tuple * sizeof(Word) + 16);
  std::byte* out = page.data() + start;
  store_le(out, words_.size(), 4);
  out += 4;
  for (int state = 0; state < shape.states; ++state, out += kAnsStateBytes)
    store_le(out, states_[state], kAnsStateBytes);
  BitWriter writer(out);
  for (std::uint64_t s = 0; s < shape.selectors(); ++s)
    writer.put(table_names_[selectors[s]], shape.selector_bits);
  out = writer.finish();
  for (std::size_t i = words_.size(); i-- > 0; out += 2) store_le(out, words_[i], 2);
  out = write_offsets(shape, words, bins, lane_words, selectors, out);
  page.resize(static_cast<std::size_t>(out - page.data()));
}

template class AnsPageEncoder<std::uint32_t>;
template class AnsPageEncoder<std::uint64_t>;

}  // namespace gdelta
