// One chunk encoded by a given plan. The bytes are a function of values, layout and plan alone, and
// every backend writes the same. The rules that the format leaves to the encoder are these:
//
//   1. A column planned as raw is raw. Any other column whose tuples are all equal is constant.
//   2. Otherwise a column planned for a coder of residuals is encoded as its model says, and becomes raw
//      if that is not smaller (`worth_keeping`).
//   3. pack: the first page's state is (0, …, 0, x'[0]) with x' the lane after map and strides, so
//      differences see x'[0] everywhere before the chunk. Later pages store the true state. A
//      group's width and exceptions are those of choose_width, exceptions in rising
//      position, highs as wide as the descriptor says; slots beyond the last tuple are zero.
//   4. zstd: history before the chunk is zero; each frame is the shortest that libzstd makes at one
//      of the plan's levels, the first of them if they tie.
//   5. A column that becomes raw keeps the parts that were planned for it; `raw_model` says which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codec/chunk/chunk_segments.h"
#include "codec/coders/apart_columns.h"
#include "codec/coders/column_maps.h"
#include "codec/coders/workers.h"
#include "codec/coders/zstd_levels.h"
#include "formats/gdelta/chunk_block.h"
#include "gdelta/types.h"
#include "kernels/ans/ans_effort.h"

namespace gdelta {

/// What a coder made of a column.
struct ColumnSection {
  std::vector<std::byte> bytes;
  format::SectionTable table;

  /// Counts what is not the same for every coder.
  std::uint64_t size() const { return bytes.size() + table.size(); }
};

struct ChunkPlan {
  std::vector<format::ColumnModel> columns;  ///< the model of each, in order
  /// Each column has its maps of a pass of their own here, or none has. Models are then those of what is behind.
  std::vector<ColumnMaps> maps;
  ZstdLevels zstd_levels;
  AnsEffort ans_effort;
  /// Each column has its section here if planning has made it by this model, else an empty one; or none has.
  std::vector<ColumnSection> made;
  /// The plan of the lengths of its segments, if the chunk says them.
  std::shared_ptr<const ChunkPlan> lengths = nullptr;
  /// One for each column, or none at all: the column behind its maps or, if planning has made its section, what they
  /// leave behind that.
  std::vector<std::shared_ptr<const MappedColumn>> mapped = {};
  /// The chunk's columns, if planning has laid them apart; null: they are read where they stand in records.
  std::shared_ptr<const ApartColumns> apart = nullptr;
};

/// The model of a column that was planned otherwise and becomes raw.
format::ColumnModel raw_model(const format::ColumnModel& planned, const Column& column,
                              std::uint64_t records);

/// The lengths of segments as the bytes of their column.
std::vector<std::byte> length_bytes(std::span<const std::uint32_t> lengths);

/// The column of the lengths of segments, which stands before all others.
struct EncodedLengths {
  std::vector<std::byte> model, section;  ///< none if the chunk does not say its segments
};
EncodedLengths encode_lengths(const ChunkSegments& segments, const ChunkPlan& plan,
                              Workers& workers);

/// Encodes whole records of `layout` (at most 2^28 bytes, at least one unless there are segments) into a
/// complete block.
/// Errors      none but std::bad_alloc
/// Complexity  one pass; scratch about the size of the largest column
/// Threads     any number of calls at once, and those of `workers` in each
std::vector<std::byte> encode_chunk(std::span<const std::byte> values, const Layout& layout,
                                    bool opaque, const ChunkPlan& plan,
                                    Workers& workers = Workers::alone(),
                                    const ChunkSegments& segments = {}, Work* work = nullptr);

}  // namespace gdelta
