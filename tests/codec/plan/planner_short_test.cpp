// Columns of a few bytes: what is planned for them, and what finding out may take.
#include <gtest/gtest.h>

#include "codec/coders/zstd_section.h"
#include "codec/plan/planned_values.h"
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
