// The chunks of a file by the indexes at the ends of its streams. Indexes stay in the file; what is
// kept of them are checkpoints, from which reading goes on.
//
// Of chunks that are not read the index is believed. Comparing the frames of them all would be a read for
// each: of 10^6 chunks of 300 KB 20 s if the page cache holds none (a file of holes), some 70 s by the 70 us
// that a read takes on a cold disk of a cloud machine, 2026-11-23; a range takes hundredths of a second.
#pragma once

#include <vector>

#include "codec/stream/walk/chunk_places.h"
#include "codec/stream/walk/index_reader.h"

namespace gdelta {

/// A place in an index, and what lies before it in the file.
struct Checkpoint {
  IndexedStream stream;
  std::uint64_t entry_at = 0;    // of the next entry
  std::uint64_t entries = 0;     // left in this stream
  std::uint64_t layout_at = 0;   // of the entry of the layout in force; 0: none
  std::uint64_t block_at = 0;    // of the next block
  FileTotals before;             // streams, chunks, records, segments and decoded bytes
  bool segment_is_open = false;  // the last chunk before it says so
};

class IndexedChunks {
 public:
  /// Reads every index once or twice and keeps checkpoints; compares headers and layout blocks with
  /// the indexes. Nothing if a stream has no index, one does not hold, or there are so many
  /// streams and chunks that the checkpoints would take more than 32 MiB.
  /// Errors      those of `read_at`
  static Result<std::optional<IndexedChunks>> read(const ReadAt& read_at, std::uint64_t file_bytes);

  const FileTotals& totals() const { return totals_; }
  /// Goes over all entries.
  std::unique_ptr<ChunkCursor> from_start(const ReadAt& read_at) const;
  /// Begins at the chunk that holds this decoded byte or record, or a few thousand chunks before.
  std::unique_ptr<ChunkCursor> from_byte(const ReadAt& read_at, std::uint64_t byte) const;
  std::unique_ptr<ChunkCursor> from_record(const ReadAt& read_at, std::uint64_t record) const;
  /// At the chunk in which this segment begins, or as far before.
  std::unique_ptr<ChunkCursor> from_segment(const ReadAt& read_at, std::uint64_t segment) const;

 private:
  Result<bool> add_stream(const ReadAt& read_at, const IndexedStream& stream);
  std::unique_ptr<ChunkCursor> from(const ReadAt& read_at, std::uint64_t FileTotals::*unit,
                                    std::uint64_t position) const;

  std::vector<Checkpoint> checkpoints_;  // in the order of the file; one at least for each stream
  FileTotals totals_;
};

}  // namespace gdelta
