// A chunk block: its head written, and parsed and checked on the host. Spec: spec.md, sections 3.2,
// 4 and 8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/gdelta/chunk_head.h"
#include "formats/gdelta/end_block.h"
#include "gdelta/error.h"

namespace gdelta::format {

/// A chunk block that has passed checks 1 to 5. Offsets count from the block's first byte.
struct ParsedChunk {
  BlockFrame frame;
  std::uint64_t records = 0;
  Byte kinds = kChunkKinds;
  SegmentsHead segments;
  ColumnHead lengths;  // of its segments, if it says them
  std::vector<ColumnHead> columns;
  std::vector<std::size_t> unknown;  // columns whose models this version does not know

  bool opaque() const { return frame.tag == BlockTag::opaque_chunk; }
};

/// What becomes of a chunk with a model of a later version: it cannot be decoded, but be told of.
enum class UnknownModels : std::uint8_t { refused, listed };

/// Columns of which a chunk has models.
inline std::size_t num_columns(const ParsedChunk& chunk, const Layout& layout) {
  return chunk.records > 0 ? layout.columns.size() : 0;
}

/// Reads the fields and models that make up the head of a chunk, from the cursor's place to its end:
/// `records`, `columns` and `unknown` of `chunk`, whose frame is there. The one walk over them on the
/// host: check 4 of spec.md, section 8.
HeadError parse_chunk_fields(Cursor cursor, const Layout& layout, ParsedChunk& chunk,
                             UnknownModels unknown = UnknownModels::refused);

/// "coder 9", "a variant of predictor linear": what this version does not know of an unsupported column.
std::string unknown_stage(const ParsedChunk& chunk, std::size_t column);

/// Gives what parse_chunk_fields has found, which is not none, as the error of a block at `byte`.
tl::unexpected<Error> chunk_head_error(HeadError error, const ParsedChunk& chunk,
                                       std::uint64_t byte);

/// Does what parse_chunk_block does, but for the payload, of which nothing need be there.
Result<ParsedChunk> parse_chunk_block_head(std::span<const std::byte> block, std::uint64_t byte,
                                           const Layout& layout);

/// Parses the block at the start of `block`, which may go on behind it. `byte` is where the block
/// starts in the file, `layout` the one in force (byte_layout() if the tag says opaque).
/// Errors  truncated, corrupt, unsupported_feature: the first check of spec.md, section 8 that
///         fails, at `byte`
Result<ParsedChunk> parse_chunk_block(std::span<const std::byte> block, std::uint64_t byte,
                                      const Layout& layout);

/// What a model says of a section that has been made: where each part ends in it, of coders of residuals,
/// and the check of each; then the fields of maps, of the predictor and the coder's own, as they stand there.
struct SectionTable {
  std::vector<std::uint32_t> ends;
  std::vector<std::uint32_t> checks;
  std::vector<std::byte> map_fields;       // behind the value map
  std::vector<std::byte> lane_map_fields;  // behind the lane map
  // The predictor's own stand behind it, without the orders that Front has.
  std::vector<std::byte> predictor_fields;
  std::vector<std::byte> fields;

  /// Counts the bytes of all but the checks.
  std::uint64_t size() const {
    return 4 * ends.size() + map_fields.size() + lane_map_fields.size() + predictor_fields.size() +
           fields.size();
  }
};

/// Appends a column's model. Precondition: parts are as many as the model makes of the records.
void append_column_model(std::vector<std::byte>& out, const Column& column,
                         const ColumnModel& model, std::uint64_t column_bytes,
                         const SectionTable& table);

/// Appends tag, lengths, head and check, and returns the check; the payload follows. The models of a
/// chunk that says its segments begin with that of their lengths.
std::uint32_t append_chunk_head(std::vector<std::byte>& out, bool opaque, std::uint64_t records,
                                std::uint64_t payload_bytes, std::span<const std::byte> models,
                                const SegmentsHead& segments = {});

/// What the index says of a chunk block that an encoder has made.
IndexEntry chunk_entry(std::span<const std::byte> block);

}  // namespace gdelta::format
