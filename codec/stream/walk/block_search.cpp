#include "codec/stream/walk/block_search.h"

#include <algorithm>

#include "formats/gdelta/chunk_block.h"
#include "formats/gdelta/end_block.h"
#include "formats/gdelta/layout_block.h"
#include "formats/gdelta/metadata_block.h"
#include "formats/gdelta/stream_header.h"

namespace gdelta {

namespace {

using format::BlockTag;
using format::Cursor;

// Longer heads are not looked for: a chunk of the most pages has a quarter of that.
constexpr std::uint64_t kLongestHead = 1 << 20;
constexpr std::size_t kViewBytes = 4096;

bool chunk_head_makes_sense(const format::BlockFrame& frame, std::span<const std::byte> head,
                            const Layout& layout) {
  format::ParsedChunk parsed;
  parsed.frame = frame;
  return format::parse_chunk_fields(format::cursor_over(head), layout, parsed) ==
         format::HeadError::none;
}

bool index_makes_sense(std::span<const std::byte> head) {
  Cursor cursor = format::cursor_over(head);
  const std::uint64_t count = cursor.varint();
  std::size_t at = cursor.at;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto entry = format::parse_index_entry(head.subspan(at));
    if (!entry) return false;
    at += entry->bytes;
  }
  return !cursor.failed && at == head.size();
}

bool head_makes_sense(const format::BlockFrame& frame, std::span<const std::byte> head,
                      const Layout* layout) {
  switch (frame.tag) {
    case BlockTag::layout:
      return format::parse_layout_head(head, 0).has_value();
    case BlockTag::chunk:
      return layout != nullptr && chunk_head_makes_sense(frame, head, *layout);
    case BlockTag::opaque_chunk:
      return chunk_head_makes_sense(frame, head, byte_layout());
    case BlockTag::end:
      return index_makes_sense(head);
    case BlockTag::metadata:
      return format::parse_metadata_head(head, 0).has_value();
  }
  return false;  // nothing is known of how it should look
}

// Tags whose heads can be told from other bytes.
bool may_be_found(BlockTag tag) {
  return format::is_known_tag(tag) && (!format::is_ancillary(tag) || tag == BlockTag::metadata);
}

bool may_begin_chunk(std::byte first) { return format::is_chunk_tag(static_cast<BlockTag>(first)); }

bool may_begin_something(std::byte first) {
  return may_be_found(static_cast<BlockTag>(first)) || first == format::kStreamHeader.front();
}

}  // namespace

bool BlockSearch::spend(std::uint64_t bytes) {
  if (bytes > credit_) return false;
  credit_ -= bytes;
  return true;
}

Result<bool> BlockSearch::block_is_here(const Layout* layout) {
  auto start = input_.peek(format::kMaxFrameBytes);
  if (!start) return tl::unexpected(start.error());
  Cursor cursor = format::cursor_over(*start);
  format::BlockFrame frame;
  if (format::parse_block_frame(cursor, frame) != format::HeadError::none ||
      !may_be_found(frame.tag) || frame.head_bytes > kLongestHead || !spend(frame.head_bytes))
    return false;
  const auto block = input_.peek(frame.payload_at());
  if (!block) return tl::unexpected(block.error());
  if (block->size() < frame.payload_at()) return false;
  if (!head_makes_sense(frame, block->subspan(frame.head_at, frame.head_bytes), layout))
    return false;
  Cursor check = format::cursor_over(block->subspan(frame.check_at()));
  return check.fixed(format::kCheckBytes) == format::block_check(block->first(frame.check_at()));
}

Result<bool> BlockSearch::find_chunk(const Layout* layout, std::uint64_t end) {
  while (input_.at() < end) {
    const auto view = input_.peek(kViewBytes);
    if (!view) return tl::unexpected(view.error());
    if (view->empty()) return false;
    const auto tag = std::find_if(view->begin(), view->end(), may_begin_chunk);
    const std::uint64_t at = input_.at() + static_cast<std::uint64_t>(tag - view->begin());
    input_.go_to(std::min(at, end));
    pass_to(input_.at());
    if (tag == view->end() || at >= end) continue;
    auto here = block_is_here(layout);
    if (!here || *here) return here;
    input_.go_to(at + 1);
  }
  return false;
}

Result<bool> BlockSearch::find(const Layout* layout, bool in_stream, std::uint64_t end) {
  const std::uint64_t begin = input_.at();
  std::uint32_t last_four = 0;  // bytes passed, as a number of a file
  bool at_end_block = false;
  const auto footer_fits = [&] { return last_four + format::kFooterBytes == input_.at() - begin; };
  passed_end_block_ = false;
  for (;;) {
    const auto view = input_.peek(kViewBytes);
    if (!view) return tl::unexpected(view.error());
    if (view->empty()) {
      passed_end_block_ = footer_fits();
      return false;
    }
    std::size_t i = 0;
    do {
      const auto passed = std::to_integer<std::uint32_t>((*view)[i]);
      if (input_.at() == begin && i == 0)
        at_end_block = passed == static_cast<std::uint32_t>(BlockTag::end);
      last_four = last_four >> 8 | passed << 24;
      ++i;
    } while (i < view->size() && !may_begin_something((*view)[i]));
    pass(i);
    input_.go_to(input_.at() + i);
    if (input_.at() >= end) return false;
    const auto here = input_.peek(format::kStreamHeaderBytes);
    if (!here) return tl::unexpected(here.error());
    if (here->size() == format::kStreamHeaderBytes &&
        std::equal(here->begin(), here->end(), format::kStreamHeader.begin())) {
      // Behind an end block, or behind what a footer says was one, it is the file's own.
      passed_end_block_ = footer_fits();
      return !in_stream || at_end_block || passed_end_block_;
    }
    auto is_here = block_is_here(layout);
    if (!is_here || *is_here) return is_here;
  }
}

}  // namespace gdelta
