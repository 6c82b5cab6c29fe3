// The pieces of a column of ans: some pages that a block decodes one after the other, with tables that it builds once. No
// division of 64 bits is here: on a device it is a call, and behind a call the compiler takes the threads of a warp for
// parted (docs/ans.md).
#pragma once

#include <cstdint>

#include "kernels/device/host_device.h"

namespace gdelta {

/// Pieces are whole rounds of the block's warps, so that no round but a column's last one leaves some idle.
struct AnsPieces {
  std::uint32_t pages, warps;
  std::uint32_t pieces;
  std::uint32_t rounds_each, longer;  // so many of the first pieces have a round more

  /// Of about `piece_pages` pages each, no fewer than warps. There is a page at least.
  GDELTA_HD AnsPieces(std::uint32_t of_pages, std::uint32_t of_warps, std::uint32_t piece_pages)
      : pages(of_pages), warps(of_warps), pieces((pages + piece_pages - 1) / piece_pages) {
    const std::uint32_t rounds = (pages + warps - 1) / warps;
    rounds_each = rounds / pieces;
    longer = rounds - rounds_each * pieces;
  }

  /// The first page of a piece; of the one behind the last: how many pages there are.
  GDELTA_HD std::uint32_t first_page(std::uint32_t piece) const {
    const std::uint32_t rounds = rounds_each * piece + (piece < longer ? piece : longer);
    return rounds * warps < pages ? rounds * warps : pages;
  }
  /// The first piece that does not begin before a page.
  GDELTA_HD std::uint32_t piece_from(std::uint32_t page) const {
    const std::uint32_t round = (page + warps - 1) / warps, before = longer * (rounds_each + 1);
    return round <= before ? (round + rounds_each) / (rounds_each + 1)
                           : longer + (round - before + rounds_each - 1) / rounds_each;
  }
};

}  // namespace gdelta
