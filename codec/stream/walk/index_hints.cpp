#include "codec/stream/walk/index_hints.h"

#include "formats/gdelta/layout_block.h"

namespace gdelta {

using format::BlockTag;

StreamHints::StreamHints(const ReadAt& read_at, const HintedStream& stream)
    : index_(read_at, stream.entries_at, stream.entries_end),
      at_(stream.first_block),
      end_block_(stream.end_block) {
  advance();
}

void StreamHints::advance() {
  for (;;) {
    auto read = index_.next();
    if (!read || !*read) break;
    auto& entry = *read;
    const std::int64_t at = at_;
    at_ += static_cast<std::int64_t>(entry->block_bytes);
    if (entry->tag == BlockTag::layout) {
      auto head = format::parse_layout_head(entry->head, 0);
      layout_ = head ? std::make_shared<const Layout>(std::move(head->layout)) : nullptr;
    }
    if (!entry->is_chunk()) continue;
    ahead_ = {.byte = at,
              .is_end = false,
              .name = {.opaque = entry->tag == BlockTag::opaque_chunk,
                       .block_bytes = entry->block_bytes,
                       .check = entry->check,
                       .records = entry->records},
              .number = chunks_++,
              .decoded_bytes = std::nullopt,
              .layout = layout_};
    const Layout* layout = ahead_.name.opaque ? &byte_layout() : layout_.get();
    const bool in_segments = entry->segments.lengths > 0;
    if (layout != nullptr &&
        format::records_fit(entry->records, layout->record_bytes(), in_segments))
      ahead_.decoded_bytes = entry->records * layout->record_bytes();
    return;
  }
  ahead_ = {};
  ahead_.byte = static_cast<std::int64_t>(end_block_);
  ahead_.is_end = true;
  ahead_.number = chunks_;
}

}  // namespace gdelta
