#include "formats/gdelta/end_block.h"

#include "formats/gdelta/bytes.h"
#include "formats/gdelta/layout_block.h"

namespace gdelta::format {

namespace {

// A block that claims less is not what it is taken for. This bounds the entries of a hostile index by
// the length of the file: tag, length, records, payload length, content, model, check, payload; and
// tag, length, one column, check.
constexpr std::uint64_t kSmallestChunkBytes = 1 + 1 + 1 + 1 + 8 + 1 + kCheckBytes + 1;
constexpr std::uint64_t kSmallestLayoutBytes = 1 + 1 + 3 + kCheckBytes;

bool may_be_block(Byte tag, std::uint64_t block_bytes) {
  if (!is_block_tag(tag) || static_cast<BlockTag>(tag) == BlockTag::end) return false;
  const bool is_layout = static_cast<BlockTag>(tag) == BlockTag::layout;
  return block_bytes >= (is_layout ? kSmallestLayoutBytes : kSmallestChunkBytes);
}

}  // namespace

void append_index_entry(std::vector<std::byte>& out, const IndexEntry& entry) {
  append_le(out, 1, static_cast<std::uint64_t>(entry.tag));
  append_varint(out, entry.block_bytes);
  if (entry.tag == BlockTag::layout)
    append_layout_head(out, entry.layout.value());
  else
    append_varint(out, entry.records);
}

void append_end_block(std::vector<std::byte>& out, std::uint64_t count,
                      std::span<const std::byte> entries) {
  std::vector<std::byte> head;
  if (entries.size() > kMaxEndHeadBytes - kMaxVarintBytes) count = 0;
  append_varint(head, count);
  if (count > 0) head.insert(head.end(), entries.begin(), entries.end());
  const std::size_t start = out.size();
  append_block(out, BlockTag::end, head);
  append_le(out, kFooterBytes, out.size() - start);
}

IndexParser::IndexParser(std::span<const std::byte> head) : head_(head) {
  Cursor cursor{reinterpret_cast<const Byte*>(head.data()), head.size()};
  count_ = cursor.varint();
  failed_ = cursor.failed;
  at_ = cursor.at;
}

std::optional<IndexEntry> IndexParser::next() {
  if (failed_ || taken_ == count_) return std::nullopt;
  const auto rest = head_.subspan(at_);
  Cursor cursor{reinterpret_cast<const Byte*>(rest.data()), rest.size()};
  IndexEntry entry;
  const Byte tag = cursor.byte();
  entry.tag = static_cast<BlockTag>(tag);
  entry.block_bytes = cursor.varint();
  failed_ = cursor.failed || !may_be_block(tag, entry.block_bytes);
  if (failed_) return std::nullopt;
  if (entry.tag == BlockTag::layout) {
    const auto head = rest.subspan(cursor.at);
    const std::size_t bytes = layout_head_bytes(head);
    auto layout = parse_layout_head(head.first(bytes), 0);
    failed_ = !layout.has_value();
    if (failed_) return std::nullopt;
    entry.layout = std::move(*layout);
    at_ += cursor.at + bytes;
  } else {
    entry.records = cursor.varint();
    failed_ = cursor.failed;
    if (failed_) return std::nullopt;
    at_ += cursor.at;
  }
  ++taken_;
  return entry;
}

Result<std::span<const std::byte>> end_block_head(std::span<const std::byte> block,
                                                  std::uint64_t byte) {
  Cursor cursor{reinterpret_cast<const Byte*>(block.data()), block.size()};
  const Byte tag = cursor.byte();
  const std::uint64_t head_bytes = cursor.varint();
  const std::uint64_t head_at = cursor.at;
  if (cursor.failed || tag != static_cast<Byte>(BlockTag::end) || head_bytes > kMaxEndHeadBytes ||
      cursor.left() != head_bytes + kCheckBytes)
    return fail_at(Errc::corrupt, byte, "the end block is not as long as its footer says");
  cursor.skip(head_bytes);
  if (cursor.fixed(kCheckBytes) != block_check(block.first(head_at + head_bytes)))
    return fail_at(Errc::corrupt, byte, "the end block is damaged: its check differs");
  return block.subspan(head_at, head_bytes);
}

}  // namespace gdelta::format
