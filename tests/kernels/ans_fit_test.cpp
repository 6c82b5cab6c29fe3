// Tables that are fitted to residuals: none is without a bin, and the format allows them.
#include "kernels/ans/ans_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace gdelta {
namespace {

template <class Word>
using Lanes = std::vector<std::vector<Word>>;

template <class Word>
struct Fitted {
  AnsTables<Word> tables;
  std::vector<std::uint8_t> selectors, bins;  // of spans and residuals, as finish names them
};

/// Classifies as an encoder does, in `parts` whose counts are added up.
template <class Word>
Fitted<Word> classify(const Lanes<Word>& lanes, const AnsFit<Word>& fitted, std::size_t parts,
                      int value_bits = std::numeric_limits<Word>::digits) {
  const std::size_t step = std::size_t{1} << fitted.span_bits();
  std::vector<AnsCounts<Word>> counts(parts, AnsCounts<Word>(fitted.tables()));
  std::vector<int> tables_of_spans;
  Fitted<Word> made;
  std::vector<std::uint8_t> bins;
  std::vector<int> table_of_residual;
  for (const std::vector<Word>& lane : lanes) {
    std::vector<std::uint16_t> classes(lane.size());
    find_fine_classes(lane.data(), lane.size(), classes.data());
    for (std::size_t at = 0; at < lane.size(); at += step) {
      const std::span span(lane.data() + at, std::min(step, lane.size() - at));
      const std::span of_span(classes.data() + at, span.size());
      const int table = fitted.choose_table(of_span);
      tables_of_spans.push_back(table);
      const std::size_t first = bins.size();
      bins.resize(first + span.size());
      fitted.classify(table, span, of_span.data(), bins.data() + first,
                      counts[tables_of_spans.size() % parts]);
      table_of_residual.resize(bins.size(), table);
    }
  }
  for (std::size_t part = 1; part < parts; ++part) counts[0].add(counts[part]);
  const FinishedAnsFit<Word> finished = fitted.finish(counts[0], value_bits);
  made.tables = finished.tables;
  const AnsNames& names = finished.names;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const int table = table_of_residual[i];
    made.selectors.push_back(names.tables[table]);
    made.bins.push_back(names.bins[table * kMaxTableBins + bins[i]]);
  }
  return made;
}

template <class Word>
Fitted<Word> fit(const Lanes<Word>& lanes, const AnsEffort& effort, std::size_t parts = 1) {
  const std::vector<std::span<const Word>> spans_of_lanes(lanes.begin(), lanes.end());
  return classify(lanes, AnsFit<Word>(spans_of_lanes, effort), parts);
}

constexpr AnsEffort kUsualFit{
    .most_tables = kMostClusters, .rounds = 4, .sampled_stretches = 256, .cells = 96};

template <class Word>
void expect_legal(const AnsTables<Word>& tables) {
  using Signed = std::make_signed_t<Word>;
  ASSERT_GE(tables.tables.size(), 1u);
  ASSERT_LE(tables.tables.size(), static_cast<std::size_t>(kMaxAnsTables));
  EXPECT_GE(tables.slot_bits, kMinSlotBits);
  EXPECT_LE(tables.slot_bits, kMaxSlotBits);
  EXPECT_GE(tables.span_bits, kMinSpanBits);
  EXPECT_LE(tables.span_bits, kMaxSpanBits);
  EXPECT_LE(tables.tables.size() << tables.slot_bits, static_cast<std::size_t>(kMaxAnsSlots));
  std::size_t all = 0;
  for (const std::vector<AnsBin<Word>>& table : tables.tables) {
    all += table.size();
    EXPECT_LE(table.size(), static_cast<std::size_t>(kMaxTableBins));
    std::uint32_t slots = 0;
    for (std::size_t b = 0; b < table.size(); ++b) {
      EXPECT_GE(table[b].frequency, 1);
      slots += table[b].frequency;
      if (b > 0) {
        EXPECT_GT(static_cast<Signed>(table[b].lower), static_cast<Signed>(table[b - 1].lower));
      }
    }
    EXPECT_EQ(slots, 1u << tables.slot_bits);
  }
  EXPECT_LE(all, static_cast<std::size_t>(kMaxAnsBins));
}

template <class Word>
void expect_a_bin_for_each(const Lanes<Word>& lanes, const Fitted<Word>& made) {
  ASSERT_NO_FATAL_FAILURE(expect_legal(made.tables));
  std::size_t i = 0;
  for (const std::vector<Word>& lane : lanes)
    for (const Word residual : lane) {
      ASSERT_LT(made.selectors[i], made.tables.tables.size());
      const std::vector<AnsBin<Word>>& table = made.tables.tables[made.selectors[i]];
      ASSERT_LT(made.bins[i], table.size());
      const AnsBin<Word>& bin = table[made.bins[i]];
      const std::uint64_t offset = static_cast<Word>(residual - bin.lower);
      ASSERT_LE(bin.offset_bits, 8 * sizeof(Word));
      if (bin.offset_bits < 64) {
        ASSERT_EQ(offset >> bin.offset_bits, 0u) << "residual " << i;
      }
      ++i;
    }
}

template <class Word>
class AnsFitTest : public testing::Test {
 public:
  using Signed = std::make_signed_t<Word>;
  static constexpr Signed kLowest = std::numeric_limits<Signed>::min();
  static constexpr Signed kHighest = std::numeric_limits<Signed>::max();

  /// Of up to `bits` bits, in lanes of a page.
  static Lanes<Word> lanes_of(std::size_t pages, std::size_t residuals, int bits,
                              std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Lanes<Word> lanes(pages);
    for (std::vector<Word>& lane : lanes)
      for (std::size_t i = 0; i < residuals; ++i) {
        const auto size =
            static_cast<std::int64_t>(random() >> 1 >> (63 - bits * (random() % 8) / 8));
        lane.push_back(static_cast<Word>(random() % 2 == 0 ? size : -1 - size));
      }
    return lanes;
  }
};
using Words = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(AnsFitTest, Words);

TYPED_TEST(AnsFitTest, HasABinForEveryResidual) {
  constexpr int kBits = std::numeric_limits<TypeParam>::digits - 1;
  for (const int bits : {0, 1, 7, 15, kBits})
    for (const std::size_t residuals : {1, 2, 31, 32, 33, 255, 256, 257, 5000}) {
      SCOPED_TRACE(testing::Message() << residuals << " of " << bits);
      const auto lanes = this->lanes_of(2, residuals, bits, residuals);
      ASSERT_NO_FATAL_FAILURE(expect_a_bin_for_each(lanes, fit(lanes, kUsualFit)));
    }
}

TYPED_TEST(AnsFitTest, WithSeveralNumbersOfTablesHasABinForEveryResidual) {
  for (const std::size_t residuals : {1, 257, 100000}) {
    const auto lanes = this->lanes_of(2, residuals, 15, residuals);
    const std::vector<std::span<const TypeParam>> spans(lanes.begin(), lanes.end());
    const auto fits = AnsFit<TypeParam>::several(spans, kUsualFit);
    ASSERT_FALSE(fits.empty());
    for (std::size_t k = 1; k < fits.size(); ++k) EXPECT_LT(fits[k].tables(), fits[k - 1].tables());
    for (const AnsFit<TypeParam>& by : fits)
      ASSERT_NO_FATAL_FAILURE(expect_a_bin_for_each(lanes, classify(lanes, by, 1)));
  }
}

TYPED_TEST(AnsFitTest, HasABinForWhatTheSampleMissed) {
  using Fit = AnsFitTest<TypeParam>;
  const AnsEffort two_stretches{
      .most_tables = kMostClusters, .rounds = 4, .sampled_stretches = 2, .cells = 8};
  for (const int bits : {0, 4, 20}) {
    auto lanes = this->lanes_of(4, 3000, bits, 5);
    // None of these is in a stretch that is sampled: the first one and the one in the middle.
    auto& last = lanes.back();
    std::size_t at = 2000;
    for (const auto residual : {Fit::kLowest, Fit::kHighest, typename Fit::Signed{Fit::kLowest + 1},
                                typename Fit::Signed{Fit::kHighest - 1}})
      last[at += 7] = static_cast<TypeParam>(residual);
    for (int bit = 0; bit < std::numeric_limits<TypeParam>::digits; ++bit) {
      last[at += 3] = TypeParam{1} << bit;
      last[at += 3] = ~(TypeParam{1} << bit);
    }
    ASSERT_LT(at, last.size());
    ASSERT_NO_FATAL_FAILURE(expect_a_bin_for_each(lanes, fit(lanes, two_stretches)));
  }
}

TYPED_TEST(AnsFitTest, HasABinForTheEndsOfTheTypeInTheSample) {
  using Fit = AnsFitTest<TypeParam>;
  Lanes<TypeParam> lanes(1);
  for (int i = 0; i < 2000; ++i)
    lanes[0].push_back(static_cast<TypeParam>(i % 3 == 0   ? Fit::kLowest
                                              : i % 3 == 1 ? Fit::kHighest
                                                           : 0));
  ASSERT_NO_FATAL_FAILURE(expect_a_bin_for_each(lanes, fit(lanes, kUsualFit)));
  lanes[0].assign(2000, static_cast<TypeParam>(Fit::kHighest));
  ASSERT_NO_FATAL_FAILURE(expect_a_bin_for_each(lanes, fit(lanes, kUsualFit)));
  lanes[0][700] = static_cast<TypeParam>(Fit::kLowest);
  ASSERT_NO_FATAL_FAILURE(expect_a_bin_for_each(lanes, fit(lanes, kUsualFit)));
}

TYPED_TEST(AnsFitTest, KeepsItsBinsShortWhateverTheSampleMissed) {
  // Two ranges of 16, and then what lies below, between and above.
  const AnsEffort one_stretch{.most_tables = 1, .rounds = 4, .sampled_stretches = 1, .cells = 96};
  Lanes<TypeParam> lanes(1);
  for (int i = 0; i < 8192; ++i)
    lanes[0].push_back(static_cast<TypeParam>(i % 16 + (i / 16 % 2) * 100000));
  for (const int odd : {-1000000, 50000, 1000000})
    lanes[0][lanes[0].size() - 1 - static_cast<std::size_t>(odd + 1000000) / 50000] =
        static_cast<TypeParam>(odd);
  const auto made = fit(lanes, one_stretch);
  ASSERT_NO_FATAL_FAILURE(expect_a_bin_for_each(lanes, made));
  for (std::size_t i = 0; i < 8000; ++i)
    ASSERT_LE(made.tables.tables[made.selectors[i]][made.bins[i]].offset_bits, 4) << i;
}

TYPED_TEST(AnsFitTest, HasSlotsForMoreBinsThanFewResidualsAskFor) {
  constexpr AnsEffort kOneStretch{
      .most_tables = 1, .rounds = 1, .sampled_stretches = 1, .cells = 1000};
  // Values of their own, each twice; then, in a stretch that is not sampled, one between each two of them.
  Lanes<TypeParam> lanes(1);
  for (int i = 0; i < kMaxAnsTile; ++i)
    lanes[0].push_back(static_cast<TypeParam>(std::min(i / 2, 126)) << (8 * sizeof(TypeParam) - 8));
  for (int i = 0; i < kMaxAnsTile - 1; ++i)
    lanes[0].push_back(lanes[0][static_cast<std::size_t>(i)] + 1000);
  const auto made = fit(lanes, kOneStretch);
  ASSERT_NO_FATAL_FAILURE(expect_a_bin_for_each(lanes, made));
  EXPECT_GT(made.tables.tables[0].size(), 128u);
}

TYPED_TEST(AnsFitTest, UsesAsManyBinsAsAreAllowed) {
  constexpr int kBits = std::numeric_limits<TypeParam>::digits - 1;
  const auto lanes = this->lanes_of(16, 1 << 14, kBits, 8);
  const AnsEffort fine{
      .most_tables = kMostClusters, .rounds = 4, .sampled_stretches = 256, .cells = 400};
  const auto made = fit(lanes, fine);
  ASSERT_NO_FATAL_FAILURE(expect_a_bin_for_each(lanes, made));
  EXPECT_GT(made.tables.tables[0].size(), 20u);
}

TYPED_TEST(AnsFitTest, JoinsBinsWhereTooManyTurnUp) {
  // Eight scales of 100 values each, and in stretches that are not sampled what lies between them.
  constexpr std::size_t kStretches = 1024, kScales = 8;
  std::mt19937 random(5);
  Lanes<TypeParam> lanes(1);
  for (std::size_t stretch = 0; stretch < kStretches; ++stretch)
    for (std::size_t i = 0; i < kMaxAnsTile; ++i)
      lanes[0].push_back(static_cast<TypeParam>((1u << (12 + 2 * (stretch / 2 % kScales))) +
                                                16 * (random() % 100) + stretch % 2 * 8));
  const auto made = fit(
      lanes, {.most_tables = 8, .rounds = 4, .sampled_stretches = kStretches / 2, .cells = 400});
  ASSERT_EQ(made.tables.tables.size(), kScales);
  ASSERT_NO_FATAL_FAILURE(expect_a_bin_for_each(lanes, made));
  for (const auto& table : made.tables.tables) EXPECT_EQ(table.size(), 128u);
}

TYPED_TEST(AnsFitTest, JoinsBinsThatTakeMoreThanTheySave) {
  Lanes<TypeParam> lanes(1);
  for (std::size_t i = 0; i < 4096; ++i) lanes[0].push_back(static_cast<TypeParam>(i % 16));
  lanes[0][5] = 1 << 20;
  lanes[0][2000] = (1 << 20) + 1000;  // not in the sample
  const auto made =
      fit(lanes, {.most_tables = 1, .rounds = 1, .sampled_stretches = 1, .cells = 96});
  ASSERT_NO_FATAL_FAILURE(expect_a_bin_for_each(lanes, made));
  const AnsBin<TypeParam>& last = made.tables.tables[0].back();
  EXPECT_EQ(last.lower, TypeParam{1} << 20);
  EXPECT_EQ(last.offset_bits, 10);
}

TYPED_TEST(AnsFitTest, JoinedBinsAreNoWiderThanTheType) {
  for (const int bits : {8, 16}) {
    // The sample has two ranges, of which offsets of the upper one reach beyond the type.
    const int end = 1 << (bits - 1);
    Lanes<TypeParam> lanes(1);
    for (int i = 0; i < 4096; ++i)
      lanes[0].push_back(
          static_cast<TypeParam>(i % 2 == 0 ? -end + i % 16 : end / 2 - 1 + i * (end / 2) / 4095));
    const std::vector<std::span<const TypeParam>> spans(lanes.begin(), lanes.end());
    const AnsFit<TypeParam> fitted(spans, {.most_tables = 1, .rounds = 1, .cells = 8});
    const Lanes<TypeParam> two{{static_cast<TypeParam>(-end), static_cast<TypeParam>(end - 1)}};
    const auto made = classify(two, fitted, 1, bits);
    ASSERT_NO_FATAL_FAILURE(expect_a_bin_for_each(two, made));
    ASSERT_EQ(made.tables.tables[0].size(), 1u);
    EXPECT_EQ(made.tables.tables[0][0].offset_bits, bits);
  }
}

TYPED_TEST(AnsFitTest, DoesNotDependOnHowItIsCounted) {
  auto lanes = this->lanes_of(5, 3000, 20, 6);
  for (std::size_t i = 0; i < lanes[2].size(); ++i)
    if (i / 64 % 2 == 0) lanes[2][i] &= 3;
  const auto once = fit(lanes, kUsualFit);
  for (const std::size_t parts : {1, 2, 7}) {
    const auto again = fit(lanes, kUsualFit, parts);
    EXPECT_EQ(again.bins, once.bins);
    EXPECT_EQ(again.selectors, once.selectors);
    ASSERT_EQ(again.tables.tables.size(), once.tables.tables.size());
    for (std::size_t t = 0; t < once.tables.tables.size(); ++t)
      EXPECT_TRUE(std::equal(once.tables.tables[t].begin(), once.tables.tables[t].end(),
                             again.tables.tables[t].begin(), again.tables.tables[t].end(),
                             [](const AnsBin<TypeParam>& a, const AnsBin<TypeParam>& b) {
                               return a.lower == b.lower && a.frequency == b.frequency &&
                                      a.offset_bits == b.offset_bits;
                             }));
  }
}

TYPED_TEST(AnsFitTest, GivesAlternatingScalesTablesOfTheirOwn) {
  Lanes<TypeParam> lanes = this->lanes_of(4, 8192, 20, 4);
  for (std::vector<TypeParam>& lane : lanes)
    for (std::size_t i = 0; i < lane.size(); ++i)
      if (i / 128 % 2 == 0) lane[i] &= 3;
  const auto made = fit(lanes, kUsualFit);
  ASSERT_NO_FATAL_FAILURE(expect_a_bin_for_each(lanes, made));
  ASSERT_GE(made.tables.tables.size(), 2u);
  EXPECT_NE(made.selectors[0], made.selectors[128]);
}

TYPED_TEST(AnsFitTest, GivesFrequentBinsMoreSlots) {
  Lanes<TypeParam> lanes(1);
  for (int i = 0; i < 16000; ++i)
    lanes[0].push_back(static_cast<TypeParam>(i % 16 == 0 ? 1000 : 0));
  const auto made = fit(lanes, kUsualFit);
  ASSERT_EQ(made.tables.tables.size(), 1u);
  ASSERT_EQ(made.tables.tables[0].size(), 2u);
  const auto slots = static_cast<int>(1u << made.tables.slot_bits);
  EXPECT_EQ(made.tables.tables[0][0].frequency, slots * 15 / 16);
  EXPECT_EQ(made.tables.tables[0][1].frequency, slots / 16);
}

TEST(AnsFit, FewResidualsHaveSeveralTablesWhereThatIsTried) {
  std::mt19937 random(7);
  std::vector<std::vector<std::uint32_t>> lanes(2);
  for (int i = 0; i < 400; ++i) {
    lanes[0].push_back(random() % 4);
    lanes[1].push_back(random() % (1u << 20));
  }
  const std::vector<std::span<const std::uint32_t>> spans(lanes.begin(), lanes.end());
  AnsEffort effort = kUsualFit;
  EXPECT_EQ(AnsFit<std::uint32_t>(spans, effort).tables(), 1);
  effort.fewest_of_table = 128;
  EXPECT_EQ(AnsFit<std::uint32_t>(spans, effort).tables(), 2);
}

}  // namespace
}  // namespace gdelta
