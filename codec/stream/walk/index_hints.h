// What the indexes at the ends of a file's streams say about its chunks, for going on behind damage:
// nothing of it is believed before the block at its place has been looked at.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "codec/stream/walk/index_reader.h"
#include "gdelta/stream.h"

namespace gdelta {

struct IndexHint {
  std::uint64_t byte = 0;
  bool is_end = false;  // an end block; else a chunk
  bool opaque = false;
  std::uint64_t block_bytes = 0;
  std::uint32_t check = 0;
  std::uint64_t records = 0;
  std::uint64_t decoded_bytes = 0;
  std::uint64_t number = 0;              // of the chunk, or of the first behind an end block
  std::shared_ptr<const Layout> layout;  // in force; none before the first layout block
};

/// Goes through the chunks and end blocks of the streams at the end of a file that have an index each,
/// from front to back, in bounded memory.
class IndexHints {
 public:
  IndexHints() = default;
  IndexHints(const ReadAt& read_at, std::uint64_t file_bytes);

  /// The next hint.
  const std::optional<IndexHint>& ahead() const { return ahead_; }
  void advance();
  /// Passes those before `byte`.
  void advance_to(std::uint64_t byte) {
    while (ahead_ && ahead_->byte < byte) advance();
  }
  /// Numbers are those in the file: the streams reach back to its beginning.
  bool are_complete() const { return complete_; }

 private:
  struct Stream {
    std::int64_t first_block = 0;  // before the file's beginning if bytes are missing from it
    std::uint64_t end_block = 0;
    std::uint64_t entries_at = 0;
    std::uint64_t entries_end = 0;
  };

  const ReadAt* read_at_ = nullptr;
  std::vector<Stream> streams_;  // the last first
  bool complete_ = false;

  std::optional<IndexReader> index_;  // of the stream at hand
  std::int64_t at_ = 0;
  std::uint64_t end_block_ = 0;
  std::uint64_t chunks_ = 0;
  std::shared_ptr<const Layout> layout_;
  std::optional<IndexHint> ahead_;
};

}  // namespace gdelta
