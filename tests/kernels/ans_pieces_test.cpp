#include "kernels/ans/ans_pieces.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gdelta {
namespace {

TEST(AnsPieces, AreWholeRoundsAndHaveEveryPageOnce) {
  for (const std::uint32_t warps : {1u, 2u, 8u, 16u}) {
    for (const std::uint32_t piece_pages : {warps, warps + 1, 2 * warps}) {
      for (std::uint32_t pages = 1; pages < 300; ++pages) {
        const AnsPieces pieces(pages, warps, piece_pages);
        EXPECT_EQ(pieces.first_page(0), 0u);
        EXPECT_EQ(pieces.first_page(pieces.pieces), pages);
        std::uint32_t least = pages, most = 0;
        for (std::uint32_t piece = 0; piece < pieces.pieces; ++piece) {
          const std::uint32_t first = pieces.first_page(piece), end = pieces.first_page(piece + 1);
          ASSERT_LT(first, end) << pages << " pages, " << warps << " warps, piece " << piece;
          EXPECT_EQ(first % warps, 0u);
          const std::uint32_t rounds = (end - first + warps - 1) / warps;
          least = std::min(least, rounds);
          most = std::max(most, rounds);
        }
        EXPECT_LE(most, least + 1) << pages << " pages, " << warps << " warps";
      }
    }
  }
}

TEST(AnsPieces, AreFoundByWhereTheyBegin) {
  for (const std::uint32_t warps : {1u, 8u, 16u}) {
    for (const std::uint32_t piece_pages : {warps, 2 * warps}) {
      for (std::uint32_t pages = 1; pages < 300; ++pages) {
        const AnsPieces pieces(pages, warps, piece_pages);
        std::uint32_t expected = 0;
        for (std::uint32_t page = 0; page < pages; ++page) {
          if (pieces.first_page(expected) < page) ++expected;
          ASSERT_EQ(pieces.piece_from(page), expected)
              << "page " << page << " of " << pages << ", " << warps << " warps";
        }
      }
    }
  }
}

}  // namespace
}  // namespace gdelta
