// Walks over the blocks of all streams of a file, in order, and checks everything that can be
// checked without decoding: checks 1 to 5 of the spec, section 8, and each index against the blocks
// before it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "codec/chunk/chunk_decode.h"
#include "codec/stream/walk/byte_buffer.h"
#include "codec/stream/walk/byte_input.h"
#include "formats/gdelta/end_block.h"

namespace gdelta {

/// byte_layout(), which nobody has to own, where layouts are shared.
inline std::shared_ptr<const Layout> shared_byte_layout() {
  return {std::shared_ptr<const Layout>(), &byte_layout()};
}

/// A chunk block whose head has been read and checked.
struct ChunkBlock {
  std::uint64_t number = 0;  // through the whole file
  std::uint64_t byte = 0;    // where the block starts
  std::uint32_t check = 0;   // of its head
  std::uint64_t decoded_bytes = 0;
  DecodeScratch scratch;                 // what decoding holds beside block and values
  std::shared_ptr<const Layout> layout;  // byte_layout() for opaque chunks
  std::vector<std::byte> head;           // from the tag to the check
  format::ParsedChunk parsed;

  std::uint64_t records() const { return parsed.records; }
  std::uint64_t payload_bytes() const { return parsed.frame.payload_bytes; }
  std::uint64_t block_bytes() const { return parsed.frame.block_bytes(); }
};

/// What an index begins with if it is that of the blocks read: its entries, as a hash.
struct IndexPrefix {
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;
};

class BlockStream {
 public:
  /// No head larger than `memory_limit` is read. Chunks with models of a later version are errors, or
  /// are listed: then they have no scratch and cannot be decoded.
  BlockStream(ByteInput& input, std::uint64_t memory_limit,
              format::UnknownModels unknown = format::UnknownModels::refused);

  /// The next chunk block, or nothing at the end of the file. Its payload has to be read or skipped
  /// before the next call.
  Result<std::optional<ChunkBlock>> next();
  /// Appends the payload to `block`, which grows only as bytes arrive.
  Result<void> read_payload(const ChunkBlock& chunk, ByteBuffer& block);
  Result<void> skip_payload(const ChunkBlock& chunk);

  std::uint64_t streams() const { return streams_; }
  /// What was noted of the layout in force.
  LayoutNote note() const { return note_; }
  /// Is told the entries of each metadata block that next() passes.
  using OnMetadata = std::function<void(std::vector<MetadataEntry>&& entries)>;
  void tell_metadata(OnMetadata on_metadata) { on_metadata_ = std::move(on_metadata); }

  // ---- For what goes on behind damage

  /// Goes on at the input's place, in a stream, where a block should begin; its index will not be
  /// compared. `layout` is in force there; without one that of before stays.
  void resume(std::shared_ptr<const Layout> layout, std::uint64_t next_chunk);
  /// Goes on at the input's place, where a stream should begin.
  void resume_between_streams() { in_stream_ = false; }
  /// Heads that are longer are taken for damaged.
  void believe_heads_up_to(std::uint64_t bytes) { longest_head_ = bytes; }
  bool in_stream() const { return in_stream_; }
  const std::shared_ptr<const Layout>& layout() const { return layout_; }
  std::uint64_t next_chunk() const { return chunks_; }
  /// Chunks that nobody has met have numbers, too.
  void pass_numbers(std::uint64_t chunks) { chunks_ += chunks; }
  /// Where the first block of this stream is, behind its header.
  std::uint64_t first_block() const { return first_block_; }
  /// Behind damage in this stream: not all of its blocks have been read.
  bool is_resumed() const { return resumed_; }
  IndexPrefix index_so_far() const { return {blocks_, index_bytes_, index_hash_.value()}; }

 private:
  struct BlockStart;
  Result<bool> open_stream();
  Result<void> skip_frame(std::uint64_t byte);
  Result<std::optional<BlockStart>> read_block_start();
  Result<std::vector<std::byte>> read_head(const BlockStart& start);
  Result<ChunkBlock> read_chunk(const BlockStart& start);
  Result<void> read_layout(const BlockStart& start);
  Result<void> read_other(const BlockStart& start);
  Result<void> read_end(const BlockStart& start);
  Result<void> check_joins(const ChunkBlock& chunk);
  Result<void> no_open_segment(const BlockStart& start) const;
  Result<void> pass_over_end(const BlockStart& start);
  void expect_in_index(const format::IndexEntry& entry);
  void expect_head_in_index(std::span<const std::byte> head, const format::BlockFrame& frame);
  static tl::unexpected<Error> unknown_payload(const BlockStart& start);
  tl::unexpected<Error> payload_missing(const ChunkBlock& chunk) const;

  ByteInput& input_;
  std::uint64_t memory_limit_;
  format::UnknownModels unknown_;
  std::uint64_t streams_ = 0;
  std::uint64_t chunks_ = 0;
  std::uint64_t longest_head_ = ~std::uint64_t{0};
  std::uint64_t first_block_ = 0;
  bool in_stream_ = false;
  bool resumed_ = false;  // behind damage in this stream
  // Whether the last chunk says that its last segment goes on; behind damage, and behind what
  // a later version has made, nobody knows.
  std::optional<bool> segment_is_open_ = false;
  std::shared_ptr<const Layout> layout_;  // in force
  LayoutNote note_;
  OnMetadata on_metadata_;
  // What the index of this stream must say. Kept as a hash, so that a stream of any length takes no
  // memory.
  std::uint64_t blocks_ = 0;
  std::uint64_t index_bytes_ = 0;
  format::RunningHash index_hash_;
  std::vector<std::byte> index_entry_;  // of the block at hand; kept for its memory
};

}  // namespace gdelta
