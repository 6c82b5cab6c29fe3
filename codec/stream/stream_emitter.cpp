#include "codec/stream/stream_emitter.h"

#include "formats/gdelta/end_block.h"
#include "formats/gdelta/layout_block.h"
#include "formats/gdelta/stream_header.h"

namespace gdelta {

using format::BlockTag;

Result<void> StreamEmitter::put(std::span<const std::byte> bytes) {
  if (auto taken = sink_(bytes); !taken) return taken;
  bytes_out_ += bytes.size();
  return {};
}

Result<void> StreamEmitter::begin() {
  if (begun_) return {};
  begun_ = true;
  return put(format::kStreamHeader);
}

Result<void> StreamEmitter::emit_layout(const Layout& layout) {
  if (layout_ == layout) return {};
  layout_ = layout;
  std::vector<std::byte> head;
  format::append_layout_head(head, layout);
  std::vector<std::byte> block;
  format::append_block(block, BlockTag::layout, head);
  format::append_index_entry(index_, {BlockTag::layout, block.size(), 0, layout});
  ++blocks_;
  return put(block);
}

Result<void> StreamEmitter::emit(const EncodeJob& job) {
  if (auto begun = begin(); !begun) return begun;
  if (!job.opaque) {
    if (auto emitted = emit_layout(*job.layout); !emitted) return emitted;
  }
  format::append_index_entry(index_, {job.opaque ? BlockTag::opaque_chunk : BlockTag::chunk,
                                      job.block.size(),
                                      job.values.size() / job.layout->record_bytes(),
                                      {}});
  ++blocks_;
  ++chunks_;
  return put(job.block);
}

Result<void> StreamEmitter::finish() {
  if (auto begun = begin(); !begun) return begun;
  std::vector<std::byte> block;
  // With one chunk or none there is nothing to find.
  format::append_end_block(block, chunks_ > 1 ? blocks_ : 0, index_);
  return put(block);
}

}  // namespace gdelta
