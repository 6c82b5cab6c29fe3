// Where the chunks of a file lie, one after the other, from its indexes or from its blocks.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "codec/stream/walk/block_stream.h"
#include "gdelta/stream.h"

namespace gdelta {

/// A chunk block, and what lies before it.
struct ChunkPlace {
  std::uint64_t number = 0;
  std::uint64_t byte = 0;
  std::uint64_t block_bytes = 0;
  std::uint32_t check = 0;  // of its head
  std::uint64_t records = 0;
  std::uint64_t decoded_at = 0;
  std::uint64_t decoded_bytes = 0;
  std::uint64_t records_at = 0;  // records of numbers before it
  format::SegmentsHead segments;
  std::uint64_t segments_at = 0;  // that begin before it
  bool opaque = false;
  std::shared_ptr<const Layout> layout;         // byte_layout() for opaque chunks
  std::optional<std::uint64_t> end_block_byte;  // of the index that says so, if one does
};

/// Adds a chunk; false, and nothing changed, if the sums pass 2^64.
bool add_chunk(FileTotals& totals, const ChunkPlace& place);

/// The place of a chunk that a walk has come to, added to the totals of those before it.
/// Errors      corrupt: the sums pass 2^64
Result<ChunkPlace> take_block(FileTotals& totals, const ChunkBlock& block);

/// Goes over chunks in order.
class ChunkCursor {
 public:
  virtual ~ChunkCursor() = default;
  /// The next chunk, or nothing at the end of the file.
  /// Errors      those of spec.md, section 8, and of `read_at`
  virtual Result<std::optional<ChunkPlace>> next() = 0;
  /// Is told the entries of each metadata block that next() passes; then one that is malformed is an
  /// error.
  virtual void tell_metadata(BlockStream::OnMetadata on_metadata) = 0;
};

}  // namespace gdelta
