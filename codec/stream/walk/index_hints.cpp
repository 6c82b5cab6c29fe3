#include "codec/stream/walk/index_hints.h"

#include "formats/gdelta/layout_block.h"
#include "formats/gdelta/stream_header.h"

namespace gdelta {

namespace {

using format::BlockTag;

constexpr std::size_t kMostStreams = 1 << 20;
constexpr std::uint64_t kLongestStream = std::uint64_t{1} << 62;

}  // namespace

IndexHints::IndexHints(const ReadAt& read_at, std::uint64_t file_bytes) : read_at_(&read_at) {
  std::uint64_t end = file_bytes;
  while (end > 0 && streams_.size() < kMostStreams) {
    // The header, the layouts and the chunks may all be damaged, and bytes may be missing before them.
    const auto found = find_end_block(read_at, end, kLongestStream);
    if (!found || !*found) break;
    const IndexedStream& stream = **found;
    streams_.push_back(
        {.first_block = static_cast<std::int64_t>(stream.end_block_at - stream.block_bytes),
         .end_block = stream.end_block_at,
         .entries_at = stream.entries_at,
         .entries_end = stream.entries_end});
    const auto header = streams_.back().first_block - std::int64_t{format::kStreamHeaderBytes};
    end = header > 0 ? static_cast<std::uint64_t>(header) : 0;
  }
  complete_ = end == 0;
  advance();
}

void IndexHints::advance() {
  ahead_.reset();
  if (!index_) {
    if (streams_.empty()) return;
    const Stream& next = streams_.back();
    index_.emplace(*read_at_, next.entries_at, next.entries_end);
    at_ = next.first_block;
    end_block_ = next.end_block;
    layout_.reset();
    streams_.pop_back();
  }
  for (;;) {
    auto read = index_->next();
    if (!read || !*read) break;
    auto& entry = *read;
    IndexHint hint;
    const std::int64_t at = at_;
    at_ += static_cast<std::int64_t>(entry->block_bytes);
    hint.byte = static_cast<std::uint64_t>(at);
    if (entry->tag == BlockTag::layout) {
      auto head = format::parse_layout_head(entry->head, 0);
      layout_ = head ? std::make_shared<const Layout>(std::move(head->layout)) : nullptr;
    }
    if (!entry->is_chunk()) continue;
    hint.number = chunks_++;
    hint.opaque = entry->tag == BlockTag::opaque_chunk;
    hint.layout = layout_;
    const Layout* layout = hint.opaque ? &byte_layout() : layout_.get();
    const bool in_segments = entry->segments.lengths > 0;
    if (at < 0 || layout == nullptr ||
        !format::records_fit(entry->records, layout->record_bytes(), in_segments))
      continue;
    hint.block_bytes = entry->block_bytes;
    hint.check = entry->check;
    hint.records = entry->records;
    hint.decoded_bytes = entry->records * layout->record_bytes();
    ahead_ = std::move(hint);
    return;
  }
  index_.reset();
  ahead_ = IndexHint{};
  ahead_->byte = end_block_;
  ahead_->is_end = true;
  ahead_->number = chunks_;
}

}  // namespace gdelta
