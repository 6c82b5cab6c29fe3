// Puts a stream together from encoded chunks: header, layouts if they are needed, chunks, end
// block with its index.
#pragma once

#include <optional>
#include <vector>

#include "codec/backend/backend.h"
#include "codec/stream/stream_sink.h"
#include "formats/gdelta/tags.h"

namespace gdelta {

class StreamEmitter {
 public:
  /// Does not own the sink.
  explicit StreamEmitter(StreamSink& sink) : sink_(sink) {}

  /// What the stream says about itself and beside its layouts; before its first chunk.
  void describe(std::vector<MetadataEntry> metadata, LayoutNote note) {
    metadata_ = std::move(metadata);
    note_ = note;
  }
  /// Blocks of encoded jobs, which may be gone when it returns.
  Result<void> emit(std::span<const EncodeJob> jobs);
  Result<void> finish();

  std::uint64_t bytes_out() const { return bytes_out_; }

 private:
  Result<void> begin();
  Result<void> emit_chunk(const EncodeJob& job);
  Result<void> emit_layout(const Layout& layout);
  Result<void> put_head(format::BlockTag tag, std::span<const std::byte> head);
  Result<void> put(std::span<const std::byte> bytes);

  StreamSink& sink_;
  std::vector<MetadataEntry> metadata_;
  LayoutNote note_;
  bool begun_ = false;
  std::optional<Layout> layout_;  // that holds
  std::uint64_t bytes_out_ = 0;
  std::uint64_t chunks_ = 0;
  std::uint64_t blocks_ = 0;
  std::vector<std::byte> index_;  // entries so far, as they will be written
};

}  // namespace gdelta
