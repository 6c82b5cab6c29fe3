// Where zstd is planned, and in what form.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "codec/plan/planned_values.h"

namespace gdelta::test {
namespace {

/// The upper bytes repeat phrases, which nothing else shows, with some noise between them; the lower bytes
/// are random. As planes, zstd takes about 78 % of what packing does.
Bytes phrases_and_noise() {
  constexpr int kLength = 80, kPhrases = 4;
  Draws draws(1);
  const auto words = draws.many_below(kLength * kPhrases, 1 << 8);
  ValueBytes values(2);
  for (int stretch = 0; stretch < 500; ++stretch) {
    const auto first = kLength * draws.below(kPhrases);
    for (int i = 0; i < kLength; ++i) {
      const auto upper = i < 68 ? words[static_cast<std::size_t>(first + i)] : draws.below(1 << 8);
      values.put(upper << 8 | draws.below(1 << 8));
    }
  }
  return values.bytes();
}

TEST(PlannerZstd, HasToBeClearlySmallerAtLowLevels) {
  const Bytes values = phrases_and_noise();
  for (int level = 1; level <= 9; ++level) {
    const auto model = plan_column(values, "i16", at_level(level));
    EXPECT_EQ(model.section.coder == Coder::zstd, level >= 4)
        << level << ' ' << coder_name(model.section.coder);
  }
}

TEST(PlannerZstd, PlanesAreTriedAtEveryLevel) {
  for (const int level : {4, 5, 6, 9})
    EXPECT_EQ(plan_column(phrases_and_noise(), "i16", at_level(level)).section.arrangement,
              format::Arrangement::plane_frames)
        << level;
}

TEST(PlannerZstd, PhrasesOfValuesStayTogether) {
  Draws draws(2);
  const auto words = draws.many_below(8 * 60, 1ll << 32);
  ValueBytes values(4);
  for (int phrase = 0; phrase < 5000; ++phrase) {
    const auto first = 8 * draws.below(60);
    for (int i = 0; i < 8; ++i) values.put(words[first + i]);
  }
  for (const int level : {3, 5, 6, 8}) {
    const auto model = plan_column(values.bytes(), "i32", at_level(level));
    EXPECT_EQ(model.section.coder, Coder::zstd) << level;
    EXPECT_EQ(model.section.arrangement, format::Arrangement::values) << level;
    EXPECT_EQ(model.front.orders[0], 0) << level;
  }
}

TEST(PlannerZstd, EachPlaneGetsTheOrderThatZstdLikes) {
  Draws draws(3);
  // More words than a dictionary takes.
  const auto words = draws.many_below(24 * 200, 1 << 16);
  ValueBytes values(4);
  std::int64_t first = 0;
  for (int i = 0; i < 30000; ++i) {
    if (i % 24 == 0) first = 24 * draws.below(200);
    values.put((1 << 30) +
               words[static_cast<std::size_t>(first + i % 24)]);  // pack takes differences of these
    values.put(1000 * i + draws.below(200));
  }
  const auto packed = plan_column(values.bytes(), "i32x2", pack_at_level(6));
  EXPECT_EQ(packed.front.orders[0], 1);
  EXPECT_GE(packed.front.orders[1], 1);
  const auto model = plan_column(values.bytes(), "i32x2", at_level(6));
  ASSERT_EQ(model.section.coder, Coder::zstd);
  ASSERT_EQ(model.section.arrangement, format::Arrangement::plane_frames);
  EXPECT_EQ(model.front.orders[0], 0);
  EXPECT_GE(model.front.orders[1], 1);
}

/// A row that repeats, but for values here and there: a stride shows each of them twice.
Bytes row_with_changes() {
  Draws draws(4);
  const auto row = draws.many_below(97, 1ll << 32);
  ValueBytes values(4);
  for (int i = 0; i < 40000; ++i)
    values.put(draws.below(30) == 0 ? draws.below(1ll << 32) : row[i % 97]);
  return values.bytes();
}

TEST(PlannerZstd, IsTriedWithoutTheStridesOfPack) {
  for (const int level : {4, 5, 7}) {
    EXPECT_EQ(plan_column(row_with_changes(), "i32", pack_at_level(level)).front.num_strides, 1)
        << level;
    const auto model = plan_column(row_with_changes(), "i32", at_level(level));
    EXPECT_EQ(model.section.coder, Coder::zstd) << level;
    EXPECT_EQ(model.front.num_strides, 0) << level;
  }
}

/// Noise whose loudness changes, which pack follows and zstd does not; and phrases of values.
bool finds_phrases(Coder coder) { return coder == Coder::zstd || coder == Coder::lzma; }

TEST(PlannerZstd, TheHighestLevelTriesAllOfAColumn) {
  Draws draws(6);
  const auto words = draws.many_below(16 * 60, 1ll << 32);
  // Four stretches of 128 KiB, spread evenly, would show nothing but the noise.
  constexpr int kValues = 200'000, kStretch = 33'000;
  ValueBytes values(4);
  std::int64_t phrase = 0;
  for (int i = 0; i < kValues; ++i) {
    if (i % 16 == 0) phrase = 16 * draws.below(60);
    bool noise = false;
    for (int k = 0; k < 4; ++k) {
      const int first = k * (kValues - kStretch) / 3;
      noise |= i >= first - 300 && i < first + kStretch + 300;
    }
    values.put(noise ? draws.around_zero(1ll << (i / 1024 % 5 * 5))
                     : words[static_cast<std::size_t>(phrase + i % 16)]);
  }
  EXPECT_TRUE(finds_phrases(plan_column(values.bytes(), "i32", at_level(9)).section.coder));
  EXPECT_FALSE(finds_phrases(plan_column(values.bytes(), "i32", at_level(3)).section.coder));
}

/// Noise whose loudness changes, and then phrases that slow levels of zstd find more of.
Bytes noise_and_phrases(int num_phrases) {
  Draws draws(8);
  const auto words = draws.many_below(4000, 1 << 16);
  ValueBytes values(2);
  for (int i = 0; i < 24'000; ++i) values.put(draws.around_zero(1ll << (i / 512 % 4 * 4)));
  for (int phrase = 0; phrase < num_phrases; ++phrase) {
    const auto first = draws.below(3980);
    for (std::int64_t i = first; i < first + 3 + draws.below(9); ++i)
      values.put(words[static_cast<std::size_t>(i)]);
  }
  return values.bytes();
}

TEST(PlannerZstd, TheHighestLevelTakesTheSmallerCoderHoweverCloseTheyAre) {
  int with_phrases = 0, without = 0;
  for (int num_phrases = 0; num_phrases <= 2000; num_phrases += 125) {
    const Bytes values = noise_and_phrases(num_phrases);
    const Layout layout = layout_of("i16");
    const auto size_with = [&](std::optional<Coder> coder) {
      EncodeSettings settings = at_level(9);
      settings.coder = coder;
      const ChunkPlan plan = plan_chunk(values, layout, false, settings);
      if (!coder) (finds_phrases(plan.columns[0].section.coder) ? with_phrases : without) += 1;
      return encode_chunk(values, layout, false, plan).size();
    };
    const std::size_t best = std::min(size_with(Coder::pack), size_with(Coder::zstd));
    EXPECT_LE(size_with(std::nullopt), best + 8) << num_phrases;
  }
  EXPECT_GE(with_phrases, 3);
  EXPECT_GE(without, 3);
}

TEST(PlannerZstd, TakesBytesThatAreNoNumbersAtTheFastestLevels) {
  Bytes text;
  Draws draws(7);
  while (text.size() < 60000)
    for (const char c : std::string("level ") + std::to_string(draws.below(90)) + ", flow\n")
      text.push_back(static_cast<std::byte>(c));
  for (int level = 1; level <= 9; ++level) {
    EncodeSettings settings = at_level(level);
    const auto coder = [&](bool opaque) {
      return plan_chunk(text, byte_layout(), opaque, settings).columns[0].section.coder;
    };
    EXPECT_TRUE(finds_phrases(coder(true))) << level;
    EXPECT_EQ(finds_phrases(coder(false)), level >= 3) << level;
    settings.plain_bytes = true;
    EXPECT_TRUE(finds_phrases(coder(false))) << level;
    settings.order = 2;
    const auto model = plan_chunk(text, byte_layout(), false, settings).columns[0];
    EXPECT_TRUE(!format::codes_residuals(model.section.coder) || model.front.orders[0] == 2)
        << level;
    settings.order.reset();
    settings.device_decodable = true;
    EXPECT_FALSE(finds_phrases(coder(true))) << level;
    EXPECT_FALSE(finds_phrases(coder(false))) << level;
  }
}

Bytes bytes_of(const std::string& text) {
  ValueBytes bytes(1);
  for (const char letter : text) bytes.put(letter);
  return bytes.bytes();
}

std::uint64_t planned_bytes(const Bytes& values, const char* record, int level,
                            bool opaque = false) {
  return encode_chunk(
             values, layout_of(record), opaque,
             plan_chunk(values, layout_of(record), opaque, at_level(level), Workers::alone()))
      .size();
}

TEST(PlannerZstd, IsTriedBehindStridesThatMakeSequencesRepeat) {
  std::string text;
  for (int number = 1; number <= 50000; ++number) text += std::to_string(number) + '\n';
  // ans takes 38 kB at -3 and 9 kB at -5, as it shows no sequence.
  for (const int level : {3, 5, 6, 7, 8})
    EXPECT_LT(planned_bytes(bytes_of(text), "u8", level), 2500) << level;
}

TEST(PlannerZstd, WhatRepeatsOnceInAStretchIsLessOfAllOfTheColumn) {
  Draws draws(5);
  ValueBytes values(2);
  const auto period = draws.many_below(1000, 1 << 16);
  for (int i = 0; i < 300000; ++i) values.put(period[static_cast<std::size_t>(i % 1000)]);
  for (const int level : {3, 5, 6, 8})
    EXPECT_LT(planned_bytes(values.bytes(), "u8", level), 2300) << level;
}

TEST(PlannerZstd, BytesThatAreNoNumbersTakeNoMoreAtHigherLevels) {
  std::string text;
  for (long number = 0; number < 40000; ++number) text += std::to_string(number * number) + '\n';
  const std::uint64_t of_fastest = planned_bytes(bytes_of(text), "u8", 1, true);
  for (const int level : {3, 4, 5, 6})
    EXPECT_LE(planned_bytes(bytes_of(text), "u8", level, true), of_fastest) << level;
}

/// Puts one of the phrases that stand in `words` one behind the other, any of them.
template <class Words>
void put_phrase(Draws& draws, const Words& words, std::size_t length, ValueBytes& to) {
  const auto first = length * static_cast<std::size_t>(draws.below(words.size() / length));
  for (std::size_t i = 0; i < length; ++i) to.put(words[first + i]);
}

/// Phrases that begin at any byte, and some noise between them: of values as wide as they few repeat.
Bytes phrases_of_bytes() {
  constexpr std::size_t kLength = 8, kPhrases = 100;
  Draws draws(6);
  const auto words = draws.many_below(kLength * kPhrases, 1 << 8);
  ValueBytes bytes(1);
  for (int phrase = 0; phrase < 60000; ++phrase) {
    put_phrase(draws, words, kLength, bytes);
    for (auto noise = draws.below(3); noise > 0; --noise) bytes.put(draws.below(1 << 8));
  }
  Bytes whole = bytes.bytes();
  whole.resize(whole.size() / 8 * 8);
  return whole;
}

TEST(PlannerZstd, PhrasesThatBeginAtAnyByteAreSeenInWiderValues) {
  const Bytes values = phrases_of_bytes();
  for (const int level : {3, 5, 6}) {
    const auto model = plan_column(values, "i64", at_level(level));
    EXPECT_EQ(model.section.coder, Coder::zstd) << level;
    EXPECT_EQ(model.section.arrangement, format::Arrangement::values) << level;
  }
}

/// Phrases of values with upper bytes of zeros, most of which come again soon in the column, but not in a stretch.
Bytes phrases_from_far_away() {
  constexpr std::size_t kLength = 8, kPhrases = 1150;
  Draws draws(7);
  const auto words = draws.many_below(kLength * kPhrases, 1 << 16);
  ValueBytes values(4);
  for (int phrase = 0; phrase < 30000; ++phrase) {
    put_phrase(draws, words, kLength, values);
  }
  return values.bytes();
}

TEST(PlannerZstd, AllOfAColumnTellsTwoArrangementsApart) {
  EXPECT_EQ(plan_column(phrases_from_far_away(), "i32", at_level(5)).section.arrangement,
            format::Arrangement::values);
}

TEST(PlannerZstd, IsTriedWithTheFirstOfSeveralStridesAlone) {
  std::string text;
  for (int number = 1; number <= 50000; ++number) text += std::to_string(number) + '\n';
  for (const int level : {7, 8})
    EXPECT_LT(planned_bytes(bytes_of(text), "u8", level), 900) << level;
}

Bytes numbers_as_text(int count) {
  std::string text;
  for (int number = 1; number <= count; ++number) text += std::to_string(number) + '\n';
  return bytes_of(text);
}

TEST(PlannerZstd, TextOfNumbersHardlyTakesMoreAtHigherLevels) {
  // Each level finds strides of its own, of which those of low levels may be the best for frames.
  for (const int count : {50000, 100000}) {
    const Bytes text = numbers_as_text(count);
    std::uint64_t least = planned_bytes(text, "u8", 5);
    for (int level = 6; level <= 9; ++level) {
      const std::uint64_t bytes = planned_bytes(text, "u8", level);
      EXPECT_LE(bytes, least + least / 8) << count << ' ' << level;
      least = std::min(least, bytes);
    }
  }
}

TEST(PlannerZstd, OrdersAtWhichThereAreFewResidualsAreTriedEvenIfTheyAreLarge) {
  // At order 1 there are seven, about 1000; at order 2, which packs best, there are more, about 0.
  Draws draws(8);
  ValueBytes values(8);
  for (std::int64_t i = 0; i < 10000; ++i)
    values.put(1'700'000'000'000 + 1000 * i + draws.below(4));
  EXPECT_EQ(plan_column(values.bytes(), "i64", pack_at_level(6)).front.orders[0], 2);
  for (int level = 6; level <= 9; ++level) {
    const auto model = plan_column(values.bytes(), "i64", at_level(level));
    EXPECT_EQ(model.section.coder, Coder::zstd) << level;
    EXPECT_EQ(model.front.orders[0], 1) << level;
  }
}

TEST(PlannerZstd, TakesShortColumnsWithoutTheirDictionariesIfThatIsLess) {
  Draws draws(9);
  const auto words = draws.many_below(300, 1ll << 32);
  std::vector<std::vector<std::int64_t>> phrases(400);
  for (auto& phrase : phrases)
    for (auto left = 2 + draws.below(2); left > 0; --left)
      phrase.push_back(words[static_cast<std::size_t>(draws.below(300))]);
  ValueBytes values(4);
  for (int i = 0; i < 6000; ++i)
    for (const std::int64_t word : phrases[static_cast<std::size_t>(draws.below(400))])
      values.put(word);
  const Bytes& bytes = values.bytes();
  const EncodeSettings settings = at_level(6);
  EncodeSettings without = settings;
  without.maps = false;
  const auto size = [&](const EncodeSettings& by) {
    const Layout layout = layout_of("i32");
    return encode_chunk(bytes, layout, false, plan_chunk(bytes, layout, false, by),
                        Workers::alone())
        .size();
  };
  EXPECT_LE(size(settings), size(without));
}

}  // namespace
}  // namespace gdelta::test
