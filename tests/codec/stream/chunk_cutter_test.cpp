// Where chunks begin and end.
#include "codec/stream/chunk_cutter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace gdelta {
namespace {

/// Chunks of an input that begins with this.
ChunkCutter cutter_of(std::uint64_t chunk_bytes, InputPart part) {
  ChunkCutter cutter(chunk_bytes);
  cutter.extend(part);
  return cutter;
}

/// Cuts an input of `bytes`, which pauses at each of `pauses` (rising). What follows all that was told
/// is told a few opaque bytes at a time.
std::vector<ChunkExtent> cut_all(ChunkCutter cutter, std::uint64_t bytes,
                                 std::vector<std::uint64_t> pauses = {}) {
  pauses.push_back(bytes);
  std::vector<ChunkExtent> extents;
  std::uint64_t at = 0;
  for (const std::uint64_t pause : pauses)
    while (at < pause) {
      while (cutter.is_open() && cutter.next().bytes < pause - at) cutter.extend({.head_bytes = 7});
      const std::uint64_t count = std::min(cutter.next().bytes, pause - at);
      const ChunkExtents cut = cutter.cut(count);
      EXPECT_EQ(cut.first.bytes + cut.second.bytes, count);
      extents.push_back(cut.first);
      if (cut.second.bytes > 0) extents.push_back(cut.second);
      at += count;
    }
  return extents;
}

std::vector<std::uint64_t> sizes(const std::vector<ChunkExtent>& extents, bool opaque) {
  std::vector<std::uint64_t> bytes;
  for (const ChunkExtent& extent : extents)
    if (extent.opaque == opaque) bytes.push_back(extent.bytes);
  return bytes;
}

using Sizes = std::vector<std::uint64_t>;
constexpr std::uint64_t kTriple = 12;

InputPart triples(std::uint64_t head_bytes = 0, std::uint64_t data_bytes = InputPart::kToTheEnd) {
  return {.head_bytes = head_bytes, .data_bytes = data_bytes, .record_bytes = kTriple};
}

TEST(ChunkCutter, ChunksAreWholeRecordsAndTheRestIsOpaque) {
  const auto extents = cut_all(cutter_of(100, triples()), 250);
  EXPECT_EQ(sizes(extents, false), (Sizes{96, 96, 48}));
  EXPECT_EQ(sizes(extents, true), (Sizes{10}));
}

TEST(ChunkCutter, HeadAndTailAreCutByBytes) {
  const auto extents = cut_all(cutter_of(100, triples(130, 65)), 500);
  EXPECT_EQ(sizes(extents, false), (Sizes{60}));
  EXPECT_EQ(sizes(extents, true), (Sizes{100, 30, 100, 100, 100, 10}));
  EXPECT_TRUE(extents[0].opaque && extents[1].opaque && !extents[2].opaque);
}

TEST(ChunkCutter, AnInputMayEndInItsHeadOrBeforeItsDataDoes) {
  EXPECT_EQ(sizes(cut_all(cutter_of(100, triples(130, 65)), 120), true), (Sizes{100, 20}));
  EXPECT_EQ(sizes(cut_all(cutter_of(1000, triples(0, 1200)), 30), false), (Sizes{24}));
}

TEST(ChunkCutter, APauseInsideARecordTearsOnlyThatRecord) {
  const auto extents = cut_all(cutter_of(100, triples()), 240, {1, 2, 30, 36, 60});
  EXPECT_EQ(sizes(extents, false), (Sizes{12, 24, 96, 84}));
  EXPECT_EQ(sizes(extents, true), (Sizes{1, 1, 10, 6, 6}));
}

TEST(ChunkCutter, EveryPauseKeepsRecordsInTheirPlaces) {
  for (std::uint64_t first = 0; first < 50; ++first)
    for (std::uint64_t second = first; second < 60; ++second) {
      std::uint64_t at = 0;
      for (const ChunkExtent& extent :
           cut_all(cutter_of(24, triples(5, 48)), 70, {first, second})) {
        if (!extent.opaque) {
          EXPECT_EQ((at - 5) % 12, 0u);
          EXPECT_EQ(extent.bytes % 12, 0u);
          EXPECT_LE(at + extent.bytes, 5u + 48);
        }
        at += extent.bytes;
      }
      EXPECT_EQ(at, 70u);
    }
}

TEST(ChunkCutter, ARecordLongerThanAChunkIsAChunk) {
  EXPECT_EQ(sizes(cut_all(cutter_of(5, triples()), 36), false), (Sizes{12, 12, 12}));
}

TEST(ChunkCutter, OpaqueBytesBetweenTwoArraysAreCutAsIfTheyWereToldAtOnce) {
  ChunkCutter cutter = cutter_of(100, triples(5, 120));
  for (const ChunkExtent extent :
       {ChunkExtent{true, 5}, ChunkExtent{false, 96}, ChunkExtent{false, 24}}) {
    EXPECT_FALSE(cutter.is_open());
    EXPECT_EQ(cutter.next().bytes, extent.bytes);
    EXPECT_EQ(cutter.cut(extent.bytes).first.opaque, extent.opaque);
  }
  EXPECT_TRUE(cutter.is_open());
  cutter.extend({.head_bytes = 60});
  EXPECT_TRUE(cutter.is_open());
  cutter.extend({.head_bytes = 50, .data_bytes = 17, .record_bytes = 8});
  EXPECT_FALSE(cutter.is_open());
  EXPECT_EQ(sizes(cut_all(cutter, 110 + 16), true), (Sizes{100, 10}));
  EXPECT_EQ(sizes(cut_all(cutter, 110 + 16), false), (Sizes{16}));
}

TEST(ChunkCutter, BytesToldWithoutEndAreNotAskedForAgain) {
  ChunkCutter cutter = cutter_of(100, triples(0, 12));
  cutter.cut(12);
  cutter.extend({.head_bytes = 1});
  cutter.extend({.head_bytes = InputPart::kToTheEnd});
  EXPECT_FALSE(cutter.is_open());
  EXPECT_EQ(cutter.next().bytes, 100u);
}

/// Bytes that are known, chunk by chunk: all of them can be cut without asking for more.
Sizes known_chunks(ChunkCutter cutter, std::uint64_t limit, std::uint64_t most_chunks) {
  std::uint64_t left = cutter.known_bytes(limit, most_chunks);
  Sizes chunks;
  while (left > 0) {
    EXPECT_FALSE(cutter.is_open());
    const std::uint64_t bytes = cutter.next().bytes;
    EXPECT_LE(bytes, left);
    cutter.cut(bytes);
    chunks.push_back(bytes);
    left -= bytes;
  }
  return chunks;
}

TEST(ChunkCutter, KnowsSeveralChunksAheadOfOneKind) {
  const ChunkCutter data = cutter_of(100, triples(0, 96 * 3 + 24));
  EXPECT_EQ(known_chunks(data, 1000, 99), (Sizes{96, 96, 96, 24}));
  EXPECT_EQ(known_chunks(data, 96 * 3 + 23, 99), (Sizes{96, 96, 96}));
  EXPECT_EQ(known_chunks(data, 1000, 2), (Sizes{96, 96}));
  EXPECT_EQ(known_chunks(data, 0, 99), (Sizes{96}));
  const ChunkCutter opaque = cutter_of(100, triples(330, 96));
  EXPECT_EQ(known_chunks(opaque, 1000, 99), (Sizes{100, 100, 100}));
  EXPECT_EQ(known_chunks(opaque, 299, 99), (Sizes{100, 100}));
  EXPECT_EQ(known_chunks(cutter_of(100, triples(30, 96)), 1000, 99), (Sizes{30}));
  EXPECT_EQ(known_chunks(cutter_of(100, {.head_bytes = InputPart::kToTheEnd}), 250, 99),
            (Sizes{100, 100}));
  EXPECT_EQ(cutter_of(100, {}).known_bytes(1000, 99), 0u);
  const std::vector<std::uint64_t> offsets{0, 2, 50};
  InputPart in_segments = triples(0, 50 * kTriple);
  in_segments.offsets = offsets;
  EXPECT_EQ(known_chunks(cutter_of(100, in_segments), 1000, 99).size(), 1u);
}

}  // namespace
}  // namespace gdelta
