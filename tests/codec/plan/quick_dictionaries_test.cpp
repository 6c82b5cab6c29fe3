// Which lanes are looked up in a table at the lowest levels: those of few values that take much less then.
#include "codec/plan/quick_dictionaries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "codec/coders/table_bins.h"
#include "codec/plan/planned_values.h"
#include "gdelta/codec.h"
#include "gdelta/segment_stream.h"

namespace gdelta::test {
namespace {

/// Bits at random, so many different ones, of a width; none of them follows another by a step that a map has.
std::vector<std::uint64_t> any_values(std::size_t count, int width) {
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> values(count);
  for (std::uint64_t& value : values) value = random() >> (64 - 8 * width) | 1;
  return values;
}

/// All of `count` such values, and then draws from a quarter of them.
Bytes draws_of(std::size_t count, std::uint64_t records, int width) {
  const std::vector<std::uint64_t> values = any_values(count, width);
  const auto most = static_cast<std::int64_t>((count + 3) / 4);
  Draws draws(7);
  Bytes bytes;
  for (std::uint64_t i = 0; i < records; ++i)
    put_value(bytes, values[i < count ? i : static_cast<std::size_t>(draws.below(most))], width,
              false);
  return bytes;
}

/// How many entries the tables of a column have, "3 0 12"; empty if there are none.
std::string tables_of(const Bytes& values, const char* record,
                      const EncodeSettings& settings = at_level(1)) {
  std::string words;
  for (const auto& table : quick_maps_of(values, record, settings).tables)
    words += (words.empty() ? "" : " ") + std::to_string(table.size());
  return words;
}

TEST(QuickDictionaries, OfFewValues) {
  for (const char* record : {"f64", "i64", "u64", "f64:be"})
    EXPECT_EQ(tables_of(draws_of(50, 5000, 8), record), "50") << record;
  for (const char* record : {"f32", "i32", "u32:be"})
    EXPECT_EQ(tables_of(draws_of(50, 5000, 4), record), "50") << record;
}

TEST(QuickDictionaries, WordsTakeThePlacesOfValues) {
  EXPECT_EQ(tables_of(draws_of(5, 5000, 2), "f16"), "");
  EXPECT_EQ(tables_of(draws_of(5, 5000, 3), "u24"), "");
}

// An eighth of the values, and 16384.
TEST(QuickDictionaries, AreNoLongerThanTheyMayBe) {
  EXPECT_EQ(tables_of(draws_of(128, 1024, 8), "f64"), "128");
  EXPECT_EQ(tables_of(draws_of(129, 1024, 8), "f64"), "");
  EXPECT_EQ(tables_of(draws_of(16384, 150000, 8), "f64"), "16384");
  EXPECT_EQ(tables_of(draws_of(16385, 150000, 8), "f64"), "");
}

// Of 30 values indices take 6 bits. Seven are not enough more.
TEST(QuickDictionaries, SaveAQuarter) {
  Draws draws(3);
  ValueBytes bytes(4), spread(4);
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t index = draws.below(30);
    bytes.put(index > 15 ? index + 3 : index);
    spread.put((index * index + 1) * 12345677 % 1000003);
  }
  EXPECT_EQ(tables_of(bytes.bytes(), "i32"), "");
  EXPECT_EQ(tables_of(spread.bytes(), "i32"), "30");
  // What a map makes short already is looked up in nothing.
  ValueBytes decimals(8);
  for (int i = 0; i < 20000; ++i)
    decimals.put(std::bit_cast<std::int64_t>(static_cast<double>(draws.below(30)) / 10));
  EXPECT_EQ(tables_of(decimals.bytes(), "f64"), "");
}

TEST(QuickDictionaries, OfNarrowTuples) {
  EXPECT_EQ(tables_of(draws_of(20, 4 * 2000, 8), "u64x4"), "8 9 9 9");
  EXPECT_EQ(tables_of(draws_of(20, 5 * 2000, 8), "u64x5"), "");
}

TEST(QuickDictionaries, LanesByThemselves) {
  const std::vector<std::uint64_t> few = any_values(9, 8);
  Draws draws(2);
  Bytes bytes;
  for (int i = 0; i < 3000; ++i) {
    put_value(bytes, static_cast<std::uint64_t>(draws.below(1ll << 62)), 8, false);
    put_value(bytes, few[static_cast<std::size_t>(draws.below(9))], 8, false);
  }
  EXPECT_EQ(tables_of(bytes, "u64x2"), "0 9");
}

// A glance refuses what other groups hardly have again: places of a thousand values out of many are theirs alone.
TEST(QuickDictionaries, AGlanceRefusesNoise) {
  // Of 512 and 512 different ones of 10000 there are 26 in both, and of any that differ four places.
  EXPECT_TRUE(may_be_few({512, 512, 20}, 16384));
  EXPECT_FALSE(may_be_few({512, 512, 19}, 16384));
  EXPECT_TRUE(may_be_few({400, 400, 105}, 1024));
  EXPECT_FALSE(may_be_few({400, 400, 104}, 1024));
  EXPECT_TRUE(may_be_few({2, 2, 2}, 2));
  EXPECT_FALSE(may_be_few({128, 0, 0}, 200));
  EXPECT_TRUE(may_be_few({90, 100, 90}, 100));
  EXPECT_FALSE(may_be_few({90, 101, 90}, 100));
  EXPECT_FALSE(may_be_few({101, 90, 90}, 100));
  std::vector<bool> even(kFewPlaces), odd(kFewPlaces);
  const std::vector<std::uint64_t> values = any_values(1024, 8);
  for (std::size_t i = 0; i < 1024; i += 2) {
    even[few_place(values[i])] = true;
    odd[few_place(values[i + 1])] = true;
  }
  std::uint32_t both = 0;
  for (std::size_t place = 0; place < kFewPlaces; ++place) both += even[place] && odd[place];
  EXPECT_LT(both, 10u);
  EXPECT_EQ(few_values_groups(std::uint64_t{127}).count, 0u);
  EXPECT_EQ(few_values_groups(std::uint64_t{5 * 128}).count, 5u);
  EXPECT_EQ(few_values_groups(std::uint64_t{1} << 20).count, 8u);
}

TEST(QuickDictionaries, AsManyAsTheirIndicesLeaveWorthIt) {
  // Of 16 bits a value 12 are left: 11 and a sign.
  EXPECT_EQ(most_quick_entries(1 << 20, 16u << 20), 1u << 10);
  EXPECT_EQ(most_quick_entries(1 << 20, 1u << 20), 0u);
  EXPECT_EQ(most_quick_entries(1 << 20, 64ull << 20), kMostQuickEntries);
  EXPECT_EQ(most_quick_entries(1 << 10, 64u << 10), 128u);
  EXPECT_TRUE(dictionary_pays(0, 749, 1000));
  EXPECT_FALSE(dictionary_pays(0, 750, 1000));
  EXPECT_FALSE(dictionary_pays(1, 749, 1000));
}

TEST(QuickDictionaries, NoneIfTheyAreNotWanted) {
  EncodeSettings settings = at_level(1);
  settings.dictionaries = false;
  EXPECT_EQ(tables_of(draws_of(50, 5000, 8), "f64", settings), "");
}

// Devices look nothing up in chunks that say their segments.
TEST(QuickDictionaries, NoneInSegments) {
  const Bytes values = draws_of(50, 5000, 8);
  EncodeOptions options;
  options.layout = layout_of("f64");
  options.level = 1;
  const std::vector<std::uint64_t> offsets{0, 2000, 5000};
  const auto stream = compress_segments(offsets, values, options).value();
  EXPECT_FALSE(inspect(stream).value().chunks[0].columns[0].dictionaries);
  EXPECT_TRUE(inspect(compress(values, options).value()).value().chunks[0].columns[0].dictionaries);
}

/// What a row of bins says by all ways to cut lengths: of `bins` bins for those of `counts` up to `last`.
std::uint64_t fewest_bits(const std::uint64_t (&counts)[kMostGapBits + 1], int bins, int last) {
  std::uint64_t all = 0;
  for (int length = 0; length <= last; ++length) all += counts[length];
  std::uint64_t fewest = all * static_cast<std::uint64_t>(bits_of_bin(-1, last));
  std::uint64_t behind = 0;
  for (int before = last - 1; bins > 1 && before >= 0; --before) {
    behind += counts[before + 1];
    fewest = std::min(fewest, fewest_bits(counts, bins - 1, before) +
                                  behind * static_cast<std::uint64_t>(bits_of_bin(before, last)));
  }
  return fewest;
}

TEST(TableBins, TakeTheFewestBitsOfAllCuts) {
  Draws draws(1);
  for (int turn = 0; turn < 50; ++turn) {
    std::uint64_t counts[kMostGapBits + 1] = {};
    for (int length = 0; length < 10; ++length)
      counts[length] = static_cast<std::uint64_t>(draws.below(2) * draws.below(100));
    BinRows rows;
    rows.begin(counts);
    for (int bin = 0; bin < 4; ++bin) {
      for (int last = 0; last <= rows.longest; ++last) rows.make(bin, last);
      ASSERT_EQ(rows.bits(bin + 1), fewest_bits(counts, bin + 1, rows.longest)) << turn;
      std::uint8_t bits[kMostBins];
      rows.put(bin + 1, bits);
      format::TableFields fields;
      fields.entries = 2;
      for (fields.selector_bits = 0; 1 << fields.selector_bits < bin + 1;) ++fields.selector_bits;
      if (1 << fields.selector_bits != bin + 1) continue;
      std::copy_n(bits, bin + 1, fields.bin_bits);
      const BinSearch search{format::TableBins(fields, 8)};
      // A bin of several lengths reaches into the next one: the longest of a length are in its own, others may take less.
      std::uint64_t longest = 0, shortest = 0;
      for (int length = 0; length <= rows.longest; ++length) {
        longest += counts[length] * bits[search.find((std::uint64_t{1} << length) - 1)];
        shortest +=
            counts[length] * bits[search.find(length == 0 ? 0 : std::uint64_t{1} << (length - 1))];
      }
      ASSERT_EQ(longest, rows.bits(bin + 1)) << turn;
      ASSERT_LE(shortest, longest) << turn;
    }
  }
}

}  // namespace
}  // namespace gdelta::test
