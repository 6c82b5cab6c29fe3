// Columns of a few bytes: what is planned for them, and what finding out may take.
#include <gtest/gtest.h>

#include "codec/coders/zstd_section.h"
#include "codec/plan/planned_values.h"
#include "gdelta/codec.h"
#include "held_memory.h"

namespace gdelta::test {
namespace {

TEST(PlannerShort, NoFrameIsShorterThanTheShortest) {
  std::size_t shortest = 1000;
  for (std::size_t size = 1; size <= 300; ++size)
    for (const unsigned char value : {0, 97})
      for (const int level : {1, 3, 19}) {
        const std::vector<unsigned char> bytes(size, value);
        std::vector<std::byte> frame;
        encode_frames(bytes, size, {level}, Workers::alone(), frame);
        EXPECT_GE(frame.size(), kShortestFrame) << size;
        shortest = std::min(shortest, frame.size());
      }
  EXPECT_EQ(shortest, kShortestFrame);
}

/// What planning holds at most is the work that it does: a context of zstd alone takes kilobytes.
TEST(PlannerShort, AColumnThatStaysRawIsNotTried) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  for (const char* record : {"u8", "i16", "i24", "bf16"})
    for (int level = 1; level <= 9; ++level)
      for (const bool opaque : {false, true}) {
        const Layout layout = opaque ? byte_layout() : layout_of(record);
        const Bytes values(3 / layout.record_bytes() * layout.record_bytes(), std::byte{7});
        Workers workers(1);
        const std::uint64_t held =
            peak_of([&] { return plan_chunk(values, layout, opaque, at_level(level), workers); });
        EXPECT_LE(held, 1024u) << record << ' ' << level;
      }
}

TEST(PlannerShort, FramesThatCannotBeShortEnoughAreNotMade) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  // A descriptor, a state and three bits or so each.
  const Bytes values{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{5}, std::byte{6}};
  Workers workers(1);
  for (int level = 1; level <= 9; ++level)
    EXPECT_LE(
        peak_of([&] { return plan_chunk(values, byte_layout(), true, at_level(level), workers); }),
        2048u)
        << level;
}

std::size_t compressed_at(const Bytes& values, int level, std::optional<Coder> coder = {}) {
  EncodeOptions options;
  options.layout = layout_of("f64");
  options.level = level;
  options.coder = coder;
  options.device = "cpu";
  return compress(values, options).value().size();
}

TEST(PlannerShort, MapsThatPackTakesAreKeptAtTheHighestLevels) {
  Draws draws(1);
  ValueBytes values(8);
  std::int64_t tenths = 7000;
  for (int i = 0; i < 128; ++i) {
    tenths += draws.around_zero(60);
    values.put(std::bit_cast<std::int64_t>(static_cast<double>(tenths) / 10));
  }
  const std::size_t at_seven = compressed_at(values.bytes(), 7);
  for (const int level : {8, 9}) EXPECT_LE(compressed_at(values.bytes(), level), at_seven) << level;
}

TEST(PlannerShort, TheHighestLevelTriesFramesThatNoSamplePromises) {
  Draws draws(2);
  std::vector<std::int64_t> drawn;
  ValueBytes values(8);
  for (int i = 0; i < 512; ++i) {
    const bool repeats = i > 64 && draws.below(2) == 0;
    const auto before = static_cast<std::size_t>(draws.below(64)) + 1;
    drawn.push_back(repeats ? drawn[drawn.size() - before]
                            : (0x3fbll << 52) + draws.below(1ll << 54));
    values.put(drawn.back());
  }
  EXPECT_LE(compressed_at(values.bytes(), 9), compressed_at(values.bytes(), 9, Coder::zstd));
}

TEST(PlannerShort, TheHighestLevelGivesPlanesFramesOfTheirOwn) {
  Draws draws(3);
  const auto least_of = [&](std::int64_t bound, int times) {
    std::int64_t least = bound;
    for (int i = 0; i < times; ++i) least = std::min(least, draws.below(bound));
    return least;
  };
  ValueBytes values(4);
  for (int i = 0; i < 1024; ++i)
    values.put(draws.below(256) | (16 + least_of(6, 2)) << 8 | (64 + least_of(12, 3)) << 16 |
               (130 + draws.below(3)) << 24);
  const format::Section section = plan_column(values.bytes(), "u32", at_level(9)).section;
  EXPECT_EQ(section.coder, Coder::zstd);
  EXPECT_EQ(section.arrangement, format::Arrangement::plane_frames);
}

TEST(PlannerShort, ALongTupleMayBeWorthACoderThoughItHasOneRecord) {
  for (const int level : {3, 5, 9})
    EXPECT_NE(plan_column(Bytes(64, std::byte{7}), "u8x64", at_level(level)).section.coder,
              Coder::raw)
        << level;
}

TEST(PlannerShort, WhatWasAskedForIsPlannedHoweverShortTheColumn) {
  for (const Coder coder : {Coder::pack, Coder::zstd}) {
    EncodeSettings settings = at_level(5);
    settings.coder = coder;
    EXPECT_EQ(plan_column(Bytes(1), "u8", settings).section.coder, coder);
  }
}

}  // namespace
}  // namespace gdelta::test
