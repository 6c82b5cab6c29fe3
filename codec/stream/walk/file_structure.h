// Where the chunks of a file lie, from the indexes at the ends of its streams or by walking over its
// blocks.
#pragma once

#include "codec/stream/walk/chunk_places.h"
#include "codec/stream/walk/indexed_chunks.h"

namespace gdelta {

/// Goes over all blocks from the front and compares every index with them, as decoding does; chunks
/// with models of a later version are listed. `read_at` must outlive it; no head above `memory_limit`
/// is read.
std::unique_ptr<ChunkCursor> walk_chunks(const ReadAt& read_at, std::uint64_t file_bytes,
                                         std::uint64_t memory_limit);

/// Walks to the end.
/// Errors      those of spec.md, section 8, and of `read_at`
Result<FileTotals> walk_file(const ReadAt& read_at, std::uint64_t file_bytes,
                             std::uint64_t memory_limit, format::UnknownModels unknown);

/// Remembers no chunk, but how to find all.
class FileStructure {
 public:
  /// Reads the indexes if they hold, else the head of every block.
  /// Errors      as above
  static Result<FileStructure> read(const ReadAt& read_at, std::uint64_t file_bytes,
                                    std::uint64_t memory_limit);

  const FileTotals& totals() const { return totals_; }
  /// Goes over all blocks.
  std::unique_ptr<ChunkCursor> from_start(const ReadAt& read_at) const;
  /// Begin at or before the chunk that holds this decoded byte, or in which this record or segment begins.
  std::unique_ptr<ChunkCursor> from_byte(const ReadAt& read_at, std::uint64_t byte) const;
  std::unique_ptr<ChunkCursor> from_record(const ReadAt& read_at, std::uint64_t record) const;
  std::unique_ptr<ChunkCursor> from_segment(const ReadAt& read_at, std::uint64_t segment) const;

 private:
  std::optional<IndexedChunks> indexed_;
  FileTotals totals_;
  std::uint64_t memory_limit_ = 0;
};

}  // namespace gdelta
