// Pages of the ans coder: what is encoded comes back, whatever its shape and tables are.
#include "kernels/ans/ans_page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

namespace gdelta {
namespace {

/// Selectors and bins are called what they are.
AnsNames own_names(std::size_t tables) {
  AnsNames names;
  for (std::size_t t = 0; t < tables; ++t) {
    names.tables.push_back(static_cast<std::uint8_t>(t));
    for (int b = 0; b < kMaxTableBins; ++b) names.bins.push_back(static_cast<std::uint8_t>(b));
  }
  return names;
}

template <class Word>
struct PageSample {
  AnsTables<Word> tables;
  AnsPageShape shape;
  std::uint64_t lane_words;
  std::vector<Word> words;
  std::vector<std::uint8_t> bins, selectors;

  std::vector<std::byte> encode() const {
    std::vector<std::byte> page;
    AnsPageEncoder<Word>(tables, own_names(tables.tables.size()))
        .encode(shape, words.data(), bins.data(), lane_words, selectors.data(), page);
    return page;
  }
};

template <class Word>
constexpr int kWordBits = static_cast<int>(8 * sizeof(Word));

/// Bins of every length up to 2^most_bits, which the first has, with frequencies from 1 up.
template <class Word>
std::vector<AnsBin<Word>> random_table(int slot_bits, int most_bits, std::mt19937_64& random) {
  std::vector<AnsBin<Word>> table;
  std::uint32_t left = 1u << slot_bits;
  while (left > 0 && table.size() < 256) {
    const bool rest = table.size() == 255 || random() % 16 == 0;
    const auto frequency =
        rest ? left : 1 + static_cast<std::uint32_t>(random() % std::max(left / 4, 1u));
    table.push_back({.lower = static_cast<Word>(random()),
                     .frequency = static_cast<std::uint16_t>(frequency),
                     .offset_bits = static_cast<std::uint8_t>(
                         table.empty() ? most_bits : random() % (most_bits + 1u))});
    left -= frequency;
  }
  std::sort(table.begin(), table.end(), [](const AnsBin<Word>& a, const AnsBin<Word>& b) {
    return static_cast<std::make_signed_t<Word>>(a.lower) <
           static_cast<std::make_signed_t<Word>>(b.lower);
  });
  return table;
}

/// Random bins, of which some are much more frequent than their slots say.
template <class Word>
PageSample<Word> make_sample(std::uint64_t tuples, int tuple, int slot_bits, int span_bits,
                             int tables, std::uint64_t seed, int most_bits = kWordBits<Word>) {
  std::mt19937_64 random(seed);
  PageSample<Word> sample;
  sample.tables.slot_bits = slot_bits;
  sample.tables.span_bits = span_bits;
  for (int t = 0; t < tables; ++t)
    sample.tables.tables.push_back(random_table<Word>(slot_bits, most_bits, random));
  sample.shape = ans_page_shape(tuples, tuple, span_bits, tables);
  sample.lane_words = tuples + 3;
  sample.words.assign(sample.lane_words * static_cast<std::uint64_t>(tuple), 0);
  sample.bins.resize(sample.words.size());
  for (std::uint64_t i = 0; i < sample.shape.selectors(); ++i)
    sample.selectors.push_back(static_cast<std::uint8_t>(random() % tables));
  const std::uint64_t tile = 8 * sample.shape.states;
  const std::uint64_t span = std::uint64_t{1} << span_bits;
  for (int lane = 0; lane < tuple; ++lane)
    for (std::uint64_t i = 0; i < tuples; ++i) {
      const std::uint64_t number = (i / tile * tuple + lane) * sample.shape.spans + i % tile / span;
      const std::vector<AnsBin<Word>>& table = sample.tables.tables[sample.selectors[number]];
      const std::size_t bin =
          random() % (random() % 3 == 0 ? table.size() : (table.size() + 3) / 4);
      const int bits = table[bin].offset_bits;
      const std::uint64_t offset = bits == 0 ? 0 : random() >> (64 - bits);
      const std::uint64_t at = lane * sample.lane_words + i;
      sample.bins[at] = static_cast<std::uint8_t>(bin);
      sample.words[at] = table[bin].lower + static_cast<Word>(offset);
    }
  return sample;
}

std::span<const unsigned char> bytes_of(const std::vector<std::byte>& page) {
  return {reinterpret_cast<const unsigned char*>(page.data()), page.size()};
}

/// What lies between lanes is not written.
template <class Word>
void expect_back(const PageSample<Word>& sample, AnsPageDecoder<Word>& decoder,
                 const std::vector<std::byte>& page) {
  constexpr Word kBetween = static_cast<Word>(0x5a5a5a5a5a5a5a5a);
  std::vector<Word> expected = sample.words;
  for (int lane = 0; lane < sample.shape.tuple; ++lane)
    std::fill_n(expected.begin() +
                    static_cast<std::ptrdiff_t>(lane * sample.lane_words + sample.shape.tuples),
                3, kBetween);
  std::vector<Word> words(sample.words.size(), kBetween);
  ASSERT_TRUE(decoder.decode(bytes_of(page), sample.shape.tuple, sample.shape.tuples, words.data(),
                             sample.lane_words));
  ASSERT_EQ(words, expected);
}

TEST(AnsSymbol, DividesAnyStateByAnyFrequency) {
  std::mt19937 random(1);
  for (std::uint32_t frequency = 1; frequency <= 1u << kMaxSlotBits; ++frequency) {
    const std::uint32_t start = (1u << kMaxSlotBits) - frequency;
    const AnsSymbol symbol = make_ans_symbol(frequency, start & 0x7ff);
    EXPECT_EQ(symbol.frequency(), frequency);
    EXPECT_EQ(symbol.start(), start & 0x7ff);
    const std::uint32_t most = ~std::uint32_t{0} / frequency;
    const auto expect_quotient = [&](std::uint32_t x) {
      ASSERT_EQ(symbol.quotient(x), x / frequency) << x << " / " << frequency;
    };
    // Errors show at the multiples of a frequency, and most at the highest of them.
    for (int i = 0; i < 200; ++i) {
      const std::uint32_t multiple =
          (i < 100 ? most - std::min<unsigned>(most, i) : random() % most) * frequency;
      expect_quotient(multiple);
      expect_quotient(multiple - 1);
      expect_quotient(multiple + frequency - 1);
    }
    for (const std::uint32_t x : {0u, 1u, 0xffffu, 0x10000u, 0x7fffffffu, 0x80000000u, ~0u})
      expect_quotient(x);
  }
}

template <class Word>
class AnsPage : public testing::Test {};
using Words = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(AnsPage, Words);

// Around one residual, a state's run, each number of states, and a whole tile of all states.
constexpr std::uint64_t kCounts[] = {1,    2,    7,    8,    9,    63,    64,    65,
                                     127,  128,  129,  255,  256,  257,   511,   512,
                                     513,  1023, 1024, 1025, 2047, 2048,  2049,  4095,
                                     4096, 4097, 4351, 4352, 4353, 16383, 16384, 16390};

TYPED_TEST(AnsPage, ComesBackWhateverItsLength) {
  for (const int tuple : {1, 2, 3, 64})
    for (const std::uint64_t residuals : kCounts) {
      const std::uint64_t tuples = (residuals + tuple - 1) / tuple;
      SCOPED_TRACE(testing::Message() << tuples << " tuples of " << tuple);
      const auto sample = make_sample<TypeParam>(tuples, tuple, 9, 5, 3, residuals);
      const AnsDecodeTables<TypeParam> tables(sample.tables);
      AnsPageDecoder<TypeParam> decoder(tables);
      ASSERT_NO_FATAL_FAILURE(expect_back(sample, decoder, sample.encode()));
    }
}

TYPED_TEST(AnsPage, ComesBackWhateverItsTables) {
  for (int span_bits = kMinSpanBits; span_bits <= kMaxSpanBits; ++span_bits)
    for (const int tables_count : {1, 2, 3, 4, 5, 7, 8, 15, 16})
      for (int slot_bits = kMinSlotBits; slot_bits <= kMaxSlotBits; ++slot_bits) {
        SCOPED_TRACE(testing::Message() << tables_count << " tables of " << slot_bits
                                        << " bits, spans of " << span_bits);
        if (tables_count << slot_bits > kMaxAnsSlots) continue;
        for (const std::uint64_t tuples : {130, 700}) {
          const auto sample =
              make_sample<TypeParam>(tuples, 3, slot_bits, span_bits, tables_count, tuples);
          const AnsDecodeTables<TypeParam> tables(sample.tables);
          AnsPageDecoder<TypeParam> decoder(tables);
          ASSERT_NO_FATAL_FAILURE(expect_back(sample, decoder, sample.encode()));
        }
        const auto whole =
            make_sample<TypeParam>(4096 + 300, 1, slot_bits, span_bits, tables_count, 7);
        const AnsDecodeTables<TypeParam> tables(whole.tables);
        AnsPageDecoder<TypeParam> decoder(tables);
        ASSERT_NO_FATAL_FAILURE(expect_back(whole, decoder, whole.encode()));
      }
}

// Vectors read fields of 4 or 8 bytes, which hold offsets of 25 or 57 bits wherever they begin.
TYPED_TEST(AnsPage, ComesBackWhateverItsLongestOffset) {
  for (const int most_bits : {0, 1, 7, 8, 9, 24, 25, 26, 31, 32, 33, 56, 57, 58, 63, 64})
    for (const int tuple : {1, 3}) {
      if (most_bits > kWordBits<TypeParam>) continue;
      SCOPED_TRACE(testing::Message() << most_bits << " bits, tuples of " << tuple);
      for (const std::uint64_t tuples : {4096, 4096 + 300}) {
        auto sample = make_sample<TypeParam>(tuples, tuple, 9, 4, 5, tuples, most_bits);
        const AnsDecodeTables<TypeParam> tables(sample.tables);
        EXPECT_EQ(tables.most_offset_bits, most_bits);
        AnsPageDecoder<TypeParam> decoder(tables);
        ASSERT_NO_FATAL_FAILURE(expect_back(sample, decoder, sample.encode()));
      }
    }
}

TYPED_TEST(AnsPage, LeavesNothingBehindForTheNext) {
  std::vector<PageSample<TypeParam>> samples;
  for (const std::uint64_t tuples : {4400, 1, 300, 8192, 127})
    samples.push_back(make_sample<TypeParam>(tuples, 1, 8, 4, 5, 3));
  const AnsDecodeTables<TypeParam> tables(samples[0].tables);
  AnsPageDecoder<TypeParam> decoder(tables);
  AnsPageEncoder<TypeParam> encoder(samples[0].tables, own_names(samples[0].tables.tables.size()));
  for (const PageSample<TypeParam>& sample : samples) {
    std::vector<std::byte> page;
    encoder.encode(sample.shape, sample.words.data(), sample.bins.data(), sample.lane_words,
                   sample.selectors.data(), page);
    EXPECT_EQ(page, sample.encode());
    ASSERT_NO_FATAL_FAILURE(expect_back(sample, decoder, page));
  }
}

TYPED_TEST(AnsPage, IsTheSameWhateverItsTablesAndBinsAreCalled) {
  auto sample = make_sample<TypeParam>(700, 2, 8, 4, 5, 11);
  const std::vector<std::byte> page = sample.encode();
  const auto renamed = [](std::uint8_t bin) { return static_cast<std::uint8_t>(bin ^ 0x85); };
  constexpr std::uint8_t kCalled[] = {3, 1, 4, 0, 2};
  AnsNames names{.tables = std::vector<std::uint8_t>(5),
                 .bins = std::vector<std::uint8_t>(5 * kMaxTableBins)};
  for (std::uint8_t t = 0; t < 5; ++t) names.tables[kCalled[t]] = t;
  for (int t = 0; t < 5; ++t)
    for (int b = 0; b < kMaxTableBins; ++b)
      names.bins[static_cast<std::size_t>(t * kMaxTableBins + b)] =
          renamed(static_cast<std::uint8_t>(b));
  for (std::uint8_t& selector : sample.selectors) selector = kCalled[selector];
  for (std::uint8_t& bin : sample.bins) bin = renamed(bin);
  std::vector<std::byte> same(3, std::byte{9});  // what is there stays
  AnsPageEncoder<TypeParam>(sample.tables, names)
      .encode(sample.shape, sample.words.data(), sample.bins.data(), sample.lane_words,
              sample.selectors.data(), same);
  EXPECT_EQ(std::vector<std::byte>(same.begin() + 3, same.end()), page);
  EXPECT_EQ(same[2], std::byte{9});
}

TYPED_TEST(AnsPage, OfOneBinHasNoWords) {
  AnsTables<TypeParam> made{.slot_bits = 5,
                            .span_bits = 8,
                            .tables = {{{.lower = 7, .frequency = 32, .offset_bits = 0}}}};
  const AnsDecodeTables<TypeParam> tables(made);
  for (const std::uint64_t tuples : kCounts) {
    const std::vector<TypeParam> words(tuples, 7);
    const std::vector<std::uint8_t> bins(tuples), selectors(tuples);
    const AnsPageShape shape = ans_page_shape(tuples, 1, 8, 1);
    std::vector<std::byte> page;
    AnsPageEncoder<TypeParam>(made, own_names(1))
        .encode(shape, words.data(), bins.data(), tuples, selectors.data(), page);
    EXPECT_EQ(page.size(), 4 + 4u * static_cast<unsigned>(shape.states));
    std::vector<TypeParam> back(tuples);
    EXPECT_TRUE(
        AnsPageDecoder<TypeParam>(tables).decode(bytes_of(page), 1, tuples, back.data(), tuples));
    EXPECT_EQ(back, words);
  }
}

TEST(AnsPageShape, ShortPagesHaveFewStates) {
  const auto states = [](std::uint64_t tuples, int tuple) {
    return ans_page_shape(tuples, tuple, 8, 1).states;
  };
  EXPECT_EQ(states(1, 1), 1);
  EXPECT_EQ(states(1023, 1), 1);
  EXPECT_EQ(states(1024, 1), 2);
  EXPECT_EQ(states(341, 3), 1);
  EXPECT_EQ(states(342, 3), 2);
  EXPECT_EQ(states(2048, 1), 4);
  EXPECT_EQ(states(4095, 1), 4);
  EXPECT_EQ(states(4096, 1), 32);
  EXPECT_EQ(states(16384, 1), 32);
}

// States that are full before each residual, and such as never are.
TYPED_TEST(AnsPage, ComesBackWithTheRarestAndTheOnlyBin) {
  for (int slot_bits = kMinSlotBits; slot_bits <= kMaxSlotBits; ++slot_bits) {
    const auto slots = static_cast<std::uint16_t>(1u << slot_bits);
    const AnsTables<TypeParam> made{
        .slot_bits = slot_bits,
        .span_bits = 5,
        .tables = {{{.lower = 3, .frequency = slots}},
                   {{.lower = 1, .frequency = 1},
                    {.lower = 2, .frequency = static_cast<std::uint16_t>(slots - 2)},
                    {.lower = 9, .frequency = 1}}}};
    PageSample<TypeParam> sample;
    sample.tables = made;
    sample.lane_words = 3 * 4096 + 77;
    sample.shape = ans_page_shape(sample.lane_words, 1, 5, 2);
    for (std::uint64_t i = 0; i < sample.shape.selectors(); ++i)
      sample.selectors.push_back(i / 128 % 2 == 1);
    for (std::uint64_t i = 0; i < sample.lane_words; ++i) {
      const auto& table = made.tables[sample.selectors[i / 32]];
      sample.bins.push_back(static_cast<std::uint8_t>(i / 3 % 2 * (table.size() - 1)));
      sample.words.push_back(table[sample.bins.back()].lower);
    }
    const AnsDecodeTables<TypeParam> tables(made);
    std::vector<TypeParam> words(sample.lane_words);
    ASSERT_TRUE(AnsPageDecoder<TypeParam>(tables).decode(
        bytes_of(sample.encode()), 1, sample.lane_words, words.data(), sample.lane_words));
    EXPECT_EQ(words, sample.words) << slot_bits;
  }
}

/// Tuples of a page, and the bits of its longest offsets: each way to decode it.
template <class Word>
constexpr std::pair<std::uint64_t, int> kSizesAndOffsets[] = {
    {1, kWordBits<Word>}, {200, kWordBits<Word>}, {4400, kWordBits<Word>}, {4400, 25}, {20000, 25}};

TYPED_TEST(AnsPage, CutOrContinuedIsRefused) {
  for (const auto& [tuples, most_bits] : kSizesAndOffsets<TypeParam>) {
    const auto sample = make_sample<TypeParam>(tuples, 1, 9, 5, 3, tuples, most_bits);
    const AnsDecodeTables<TypeParam> tables(sample.tables);
    AnsPageDecoder<TypeParam> decoder(tables);
    const std::vector<std::byte> page = sample.encode();
    std::vector<TypeParam> words(sample.words.size());
    const std::size_t step = page.size() / 500 + 1;
    for (std::size_t bytes = 0; bytes < page.size(); bytes += step) {
      // Nothing lies behind the bytes that are there.
      const std::vector<unsigned char> cut(
          bytes_of(page).begin(), bytes_of(page).begin() + static_cast<std::ptrdiff_t>(bytes));
      EXPECT_FALSE(decoder.decode(cut, 1, tuples, words.data(), sample.lane_words)) << bytes;
    }
    for (const std::size_t more : {1, 2, 300}) {
      std::vector<std::byte> longer = page;
      longer.resize(page.size() + more);
      EXPECT_FALSE(decoder.decode(bytes_of(longer), 1, tuples, words.data(), sample.lane_words))
          << more;
    }
  }
}

// Sanitizers see that nothing beyond what is there is read.
TYPED_TEST(AnsPage, OfManyResidualsWithoutWordsOrOffsetsIsRefused) {
  for (const int tuple : {1, 3})
    for (const auto& size : kSizesAndOffsets<TypeParam>) {
      const auto tuples = size.first;
      if (tuples == 1) continue;  // has no words
      const auto sample = make_sample<TypeParam>(tuples, tuple, 9, 5, 3, tuples, size.second);
      const AnsDecodeTables<TypeParam> tables(sample.tables);
      const std::vector<std::byte> page = sample.encode();
      std::vector<TypeParam> words(sample.words.size());
      const auto refused = [&](std::uint64_t first_gone, std::uint64_t end_gone, bool no_words) {
        std::vector<unsigned char> cut(bytes_of(page).begin(), bytes_of(page).end());
        cut.erase(cut.begin() + static_cast<std::ptrdiff_t>(first_gone),
                  cut.begin() + static_cast<std::ptrdiff_t>(end_gone));
        if (no_words) std::fill_n(cut.begin(), 4, static_cast<unsigned char>(0));
        EXPECT_FALSE(AnsPageDecoder<TypeParam>(tables).decode(cut, tuple, tuples, words.data(),
                                                              sample.lane_words));
      };
      std::uint64_t num_words = 0;
      for (int i = 0; i < 4; ++i)
        num_words |= std::uint64_t{bytes_of(page)[static_cast<std::size_t>(i)]} << (8 * i);
      ASSERT_GT(num_words, 0u);
      const std::uint64_t words_at = sample.shape.head_bytes();
      const std::uint64_t offsets_at = words_at + 2 * num_words;
      refused(words_at, offsets_at, true);
      refused(offsets_at, page.size(), false);
      refused(words_at, page.size(), true);
    }
}

}  // namespace
}  // namespace gdelta
