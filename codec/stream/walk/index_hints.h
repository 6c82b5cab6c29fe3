// What the index at the end of a stream says about its chunks, for going on behind damage: nothing of it
// is believed before the block at its place has been looked at.
#pragma once

#include <memory>
#include <optional>

#include "codec/stream/walk/block_stream.h"
#include "codec/stream/walk/index_reader.h"

namespace gdelta {

/// A stream whose index holds by itself.
struct HintedStream {
  std::int64_t first_block =
      0;  // as the index says; before the file's beginning if bytes are missing
  std::uint64_t end_block = 0;
  std::uint64_t entries_at = 0;
  std::uint64_t entries_end = 0;
};

/// What an index tells chunks apart by.
struct ChunkName {
  bool opaque = false;
  std::uint64_t block_bytes = 0;
  std::uint32_t check = 0;
  std::uint64_t records = 0;

  friend bool operator==(const ChunkName&, const ChunkName&) = default;
};

inline ChunkName name_of(const ChunkBlock& chunk) {
  return {.opaque = chunk.parsed.opaque(),
          .block_bytes = chunk.block_bytes(),
          .check = chunk.check,
          .records = chunk.records()};
}

struct IndexHint {
  std::int64_t byte = 0;  // by the distance from the end block
  bool is_end = false;    // the end block; else a chunk
  ChunkName name;
  std::uint64_t number = 0;                    // of the chunk in its stream, or how many there are
  std::optional<std::uint64_t> decoded_bytes;  // if an entry before it tells the layout
  std::shared_ptr<const Layout> layout;        // in force; none before the first layout block
};

/// Goes through the chunks that an index names, and to the end block, in bounded memory.
class StreamHints {
 public:
  StreamHints(const ReadAt& read_at, const HintedStream& stream);

  const IndexHint& ahead() const { return ahead_; }
  /// The next hint; behind that of the end block there is none.
  void advance();
  /// Counts the bytes that copying it costs.
  std::uint64_t held_bytes() const { return index_.held_bytes(); }

 private:
  IndexReader index_;
  std::int64_t at_;
  std::uint64_t end_block_;
  std::uint64_t chunks_ = 0;
  std::shared_ptr<const Layout> layout_;
  IndexHint ahead_;
};

}  // namespace gdelta
