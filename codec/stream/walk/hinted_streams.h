// The streams of a damaged file that have an index, found by their end blocks.
#pragma once

#include <vector>

#include "codec/stream/walk/index_hints.h"

namespace gdelta {

class HintedStreams {
 public:
  HintedStreams() = default;
  /// Goes from the end of the file to its front as far as each index tells where its stream begins.
  HintedStreams(const ReadAt& read_at, std::uint64_t file_bytes);

  const ReadAt& read_at() const { return *read_at_; }
  std::size_t size() const { return streams_.size(); }
  /// From front to back.
  const HintedStream& operator[](std::size_t i) const { return streams_[streams_.size() - 1 - i]; }
  void leave_first(std::size_t count) { streams_.resize(streams_.size() - count); }
  /// Leaves those whose end block is before `byte`.
  void leave_before(std::uint64_t byte);
  /// Leaves those before the stream that begins here, as its index says; false if there is none.
  bool leave_for(std::int64_t first_block);
  /// Looks, once, for end blocks from `byte` to that of the first stream known. They may lie in chunks, where
  /// streams are stored.
  void find_more(std::uint64_t byte);
  bool has_looked() const { return found_more_; }
  /// A header stands where the index says: this is where the stream begins.
  bool header_stands(const HintedStream& stream) const;

 private:
  std::optional<std::uint64_t> end_block_at(std::uint64_t at, std::span<const std::byte> bytes,
                                            std::uint64_t& credit) const;

  const ReadAt* read_at_ = nullptr;
  std::uint64_t file_bytes_ = 0;
  std::vector<HintedStream> streams_;  // the last first
  bool found_more_ = false;
};

}  // namespace gdelta
