// A chunk block: its head written, and parsed and checked on the host. Spec: spec.md, sections 3.2,
// 4 and 8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/gdelta/chunk_head.h"
#include "gdelta/error.h"

namespace gdelta::format {

/// A chunk block that has passed checks 1 to 5. Offsets count from the block's first byte.
struct ParsedChunk {
  bool opaque = false;
  ChunkHead head;
  std::vector<ColumnHead> columns;
  std::uint64_t head_at = 0;
  std::uint64_t payload_at = 0;
  std::uint64_t block_bytes = 0;
};

/// Reads the fields and models that make up the head of a chunk, from the cursor's place to its end:
/// `head` and `columns` of `chunk`. The one walk over them on the host.
HeadError parse_chunk_fields(Cursor cursor, const Layout& layout, ParsedChunk& chunk);

/// Parses the block at the start of `block`, which may go on behind it. `byte` is where the block
/// starts in the file, `layout` the one in force (byte_layout() where the tag says opaque).
/// Errors  truncated, corrupt, unsupported_feature: the first check of spec.md, section 8 that
///         fails, at `byte`
Result<ParsedChunk> parse_chunk_block(std::span<const std::byte> block, std::uint64_t byte,
                                      const Layout& layout);

/// End of page `page` of a pack column, counted from the start of its section. `block` as given to
/// parse_chunk_block.
std::uint32_t page_end(std::span<const std::byte> block, const ParsedChunk& chunk,
                       const ColumnHead& column, std::uint64_t page);

/// Appends a column's model: `parts` are page ends (pack) or frame sizes (zstd), else empty.
void append_column_model(std::vector<std::byte>& out, const Column& column,
                         const ColumnModel& model, std::span<const std::uint32_t> parts);

/// Appends tag, head and check; the payload follows. `models` are the columns' models, in order.
void append_chunk_head(std::vector<std::byte>& out, bool opaque, const ChunkHead& head,
                       std::span<const std::byte> models);

}  // namespace gdelta::format
