#include "formats/gdelta/end_block.h"

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

std::optional<ParsedEntry> parse_index_entry(std::span<const std::byte> bytes) {
  Cursor cursor{reinterpret_cast<const Byte*>(bytes.data()), bytes.size()};
  ParsedEntry parsed;
  const Byte tag = cursor.byte();
  parsed.entry.tag = static_cast<BlockTag>(tag);
  parsed.entry.block_bytes = cursor.varint();
  if (cursor.failed || !may_be_block(tag, parsed.entry.block_bytes)) return std::nullopt;
  if (parsed.entry.tag == BlockTag::layout) {
    const auto head = bytes.subspan(cursor.at);
    const std::size_t head_bytes = layout_head_bytes(head);
    auto layout = parse_layout_head(head.first(head_bytes), 0);
    if (!layout) return std::nullopt;
    parsed.entry.layout = std::move(*layout);
    cursor.skip(head_bytes);
  } else {
    parsed.entry.records = cursor.varint();
    if (cursor.failed) return std::nullopt;
  }
  parsed.bytes = cursor.at;
  return parsed;
}

}  // namespace gdelta::format
