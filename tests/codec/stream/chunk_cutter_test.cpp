// Where chunks begin and end.
#include "codec/stream/chunk_cutter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace gdelta {
namespace {

/// Cuts an input of `bytes`, which pauses at each of `pauses` (rising).
std::vector<Piece> cut_all(ChunkCutter cutter, std::uint64_t bytes,
                           std::vector<std::uint64_t> pauses = {}) {
  pauses.push_back(bytes);
  std::vector<Piece> pieces;
  std::uint64_t at = 0;
  for (const std::uint64_t pause : pauses)
    while (at < pause) {
      const std::uint64_t count = std::min(cutter.next().bytes, pause - at);
      const Pieces cut = cutter.cut(count);
      EXPECT_EQ(cut.first.bytes + cut.second.bytes, count);
      pieces.push_back(cut.first);
      if (cut.second.bytes > 0) pieces.push_back(cut.second);
      at += count;
    }
  return pieces;
}

std::vector<std::uint64_t> sizes(const std::vector<Piece>& pieces, bool opaque) {
  std::vector<std::uint64_t> bytes;
  for (const Piece& piece : pieces)
    if (piece.opaque == opaque) bytes.push_back(piece.bytes);
  return bytes;
}

using Sizes = std::vector<std::uint64_t>;
const Layout kTriples = parse_record("i32x3").value();

TEST(ChunkCutter, ChunksAreWholeRecordsAndTheRestIsOpaque) {
  const auto pieces = cut_all(ChunkCutter({kTriples}, 100), 250);
  EXPECT_EQ(sizes(pieces, false), (Sizes{96, 96, 48}));
  EXPECT_EQ(sizes(pieces, true), (Sizes{10}));
}

TEST(ChunkCutter, HeadAndTailAreCutByBytes) {
  const auto pieces = cut_all(ChunkCutter({kTriples, 130, 65}, 100), 500);
  EXPECT_EQ(sizes(pieces, false), (Sizes{60}));
  EXPECT_EQ(sizes(pieces, true), (Sizes{100, 30, 100, 100, 100, 10}));
  EXPECT_TRUE(pieces[0].opaque && pieces[1].opaque && !pieces[2].opaque);
}

TEST(ChunkCutter, AnInputMayEndInItsHeadOrBeforeItsDataDoes) {
  EXPECT_EQ(sizes(cut_all(ChunkCutter({kTriples, 130, 65}, 100), 120), true), (Sizes{100, 20}));
  EXPECT_EQ(sizes(cut_all(ChunkCutter({kTriples, 0, 1200}, 1000), 30), false), (Sizes{24}));
}

TEST(ChunkCutter, APauseInsideARecordTearsOnlyThatRecord) {
  const auto pieces = cut_all(ChunkCutter({kTriples}, 100), 240, {1, 2, 30, 36, 60});
  EXPECT_EQ(sizes(pieces, false), (Sizes{12, 24, 96, 84}));
  EXPECT_EQ(sizes(pieces, true), (Sizes{1, 1, 10, 6, 6}));
}

TEST(ChunkCutter, EveryPauseKeepsRecordsInTheirPlaces) {
  for (std::uint64_t first = 0; first < 50; ++first)
    for (std::uint64_t second = first; second < 60; ++second) {
      std::uint64_t at = 0;
      for (const Piece& piece : cut_all(ChunkCutter({kTriples, 5, 48}, 24), 70, {first, second})) {
        if (!piece.opaque) {
          EXPECT_EQ((at - 5) % 12, 0u);
          EXPECT_EQ(piece.bytes % 12, 0u);
          EXPECT_LE(at + piece.bytes, 5u + 48);
        }
        at += piece.bytes;
      }
      EXPECT_EQ(at, 70u);
    }
}

TEST(ChunkCutter, ARecordLongerThanAChunkIsAChunk) {
  EXPECT_EQ(sizes(cut_all(ChunkCutter({kTriples}, 5), 36), false), (Sizes{12, 12, 12}));
}

}  // namespace
}  // namespace gdelta
