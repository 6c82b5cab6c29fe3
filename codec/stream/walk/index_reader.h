// The index of one stream, read through a window of bounded size.
#pragma once

#include <optional>
#include <vector>

#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/end_block.h"
#include "gdelta/stream.h"

namespace gdelta {

/// Where the parts of a stream lie that its end block tells.
struct IndexedStream {
  std::uint64_t header_at = 0;  // where one has been found
  std::uint64_t end_block_at = 0;
  std::uint64_t entries_at = 0;
  std::uint64_t entries_end = 0;
  std::uint64_t entries = 0;
  std::uint64_t block_bytes = 0;  // of all blocks before the end block, as the entries say

  std::uint64_t first_block() const;
};

/// The entries of an index, one by one.
class IndexReader {
 public:
  /// Entries from byte `at` of the file to `end`. What is read of them is added to `hash`, if there is
  /// one.
  IndexReader(const ReadAt& read_at, std::uint64_t at, std::uint64_t end,
              format::RunningHash* hash = nullptr);

  /// The next entry, or nothing at the end and if it is malformed.
  /// Errors      those of `read_at`
  Result<std::optional<format::IndexEntry>> next();
  /// Counts the bytes of the window that are left.
  std::size_t held_bytes() const { return window_.size() - used_; }
  /// Byte of the next entry in the file.
  std::uint64_t at() const { return window_at_ + used_; }

 private:
  Result<void> refill();

  const ReadAt& read_at_;
  std::uint64_t end_;
  format::RunningHash* hash_;
  std::vector<std::byte> window_;  // from window_at_ on
  std::uint64_t window_at_;
  std::size_t used_ = 0;
};

/// The end block whose footer ends at `end`, with an index that holds by itself and speaks of at most
/// `most_block_bytes`. Nothing if there is none. Header and blocks are not looked at.
/// Errors      those of `read_at`
Result<std::optional<IndexedStream>> find_end_block(const ReadAt& read_at, std::uint64_t end,
                                                    std::uint64_t most_block_bytes);

/// The stream whose last byte is before `end`, by its index: end block and header are whole, and the
/// blocks would fill what lies between. Nothing if there is no such index. Blocks are not looked
/// at.
/// Errors      those of `read_at`
Result<std::optional<IndexedStream>> find_indexed_stream(const ReadAt& read_at, std::uint64_t end);

}  // namespace gdelta
