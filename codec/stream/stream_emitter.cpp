#include "codec/stream/stream_emitter.h"

#include "formats/gdelta/chunk_block.h"
#include "formats/gdelta/end_block.h"
#include "formats/gdelta/layout_block.h"
#include "formats/gdelta/metadata_block.h"
#include "formats/gdelta/stream_header.h"

namespace gdelta {

using format::BlockTag;

// An index takes hardly more of the chunks' bytes, if these are not very short.
constexpr std::uint64_t kIndexShare = 256;

Result<void> StreamEmitter::put(std::span<const std::byte> bytes) {
  if (auto taken = sink_.put(bytes); !taken) return taken;
  bytes_out_ += bytes.size();
  return {};
}

/// A block that has nothing but a head.
Result<void> StreamEmitter::put_head(BlockTag tag, std::span<const std::byte> head) {
  std::vector<std::byte> block;
  const std::uint32_t check = format::append_block(block, tag, head);
  format::append_index_entry(index_, {.tag = tag,
                                      .block_bytes = block.size(),
                                      .check = check,
                                      .records = 0,
                                      .head = {head.begin(), head.end()}});
  ++blocks_;
  return put(block);
}

Result<void> StreamEmitter::begin() {
  if (begun_) return {};
  begun_ = true;
  if (auto header = put(format::kStreamHeader); !header) return header;
  if (metadata_.empty()) return {};
  std::vector<std::byte> head;
  format::append_metadata_head(head, metadata_);
  return put_head(BlockTag::metadata, head);
}

Result<void> StreamEmitter::emit_layout(const Layout& layout) {
  if (layout_ == layout) return {};
  layout_ = layout;
  std::vector<std::byte> head;
  format::append_layout_head(head, {layout, note_});
  return put_head(BlockTag::layout, head);
}

Result<void> StreamEmitter::emit(std::span<const EncodeJob> jobs) {
  if (!begun_) {
    std::uint64_t bytes = 0;
    for (const EncodeJob& job : jobs) bytes += job.block.size();
    sink_.expect(bytes + bytes / kIndexShare);
  }
  for (const EncodeJob& job : jobs)
    if (auto put = emit_chunk(job); !put) return put;
  sink_.settle();
  return {};
}

Result<void> StreamEmitter::emit_chunk(const EncodeJob& job) {
  if (auto begun = begin(); !begun) return begun;
  if (!job.opaque) {
    if (auto emitted = emit_layout(*job.layout); !emitted) return emitted;
  }
  format::append_index_entry(index_, format::chunk_entry(job.block));
  ++blocks_;
  ++chunks_;
  bytes_out_ += job.block.size();
  return sink_.put_lasting(job.block);
}

Result<void> StreamEmitter::finish() {
  if (auto begun = begin(); !begun) return begun;
  std::vector<std::byte> block;
  // With one chunk or none there is nothing to find.
  format::append_end_block(block, chunks_ > 1 ? blocks_ : 0, index_);
  return put(block);
}

}  // namespace gdelta
