// One chunk encoded by a given plan. The bytes are a function of values, layout and plan alone, and
// every backend writes the same. The rules that the format leaves to the encoder are these:
//
//   1. A column planned as raw is raw. Any other column whose tuples are all equal is constant.
//   2. Otherwise a column planned as pack or zstd is encoded as its model says, and becomes raw
//      where that is not smaller (`worth_keeping`).
//   3. pack: the first page's state is (0, …, 0, x'[0]) with x' the lane after map and strides, so
//      differences see x'[0] everywhere before the chunk. Later pages store the true state. A
//      group's width and exceptions are those of choose_width, exceptions in rising
//      position, highs as wide as the descriptor says; slots beyond the last tuple are zero.
//   4. zstd: history before the chunk is zero; each frame is the shortest that libzstd makes at one
//      of `zstd_levels`, the first of them where they tie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/coders/zstd_section.h"
#include "formats/gdelta/model.h"
#include "gdelta/types.h"

namespace gdelta {

/// The model of each column, in order.
struct ChunkPlan {
  std::vector<format::ColumnModel> columns;
};

/// libzstd's levels for frames at a level of gdelta (1 … 9). Residuals have few long matches, and its
/// fastest level often wins over those in the middle; it costs little beside them.
constexpr ZstdLevels zstd_levels(int level) {
  constexpr ZstdLevels kLevels[] = {{1},    {1},    {1},     {1},     {2, 1},
                                    {3, 1}, {6, 1}, {11, 1}, {15, 1}, {19}};
  return kLevels[level < 0 ? 0 : level > 9 ? 9 : level];
}

/// Encodes whole records of `layout` (at least one, at most 2^28 bytes) into a complete block.
/// Errors      none but std::bad_alloc
/// Complexity  one pass; scratch about the size of the largest column
/// Threads     any number of calls at once
std::vector<std::byte> encode_chunk(std::span<const std::byte> values, const Layout& layout,
                                    bool opaque, const ChunkPlan& plan, int level);

}  // namespace gdelta
