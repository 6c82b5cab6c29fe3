#include "formats/gdelta/end_block.h"

#include "formats/gdelta/head_writer.h"

namespace gdelta::format {

namespace {

// A block that claims less is not what it is taken for. This bounds the entries of a hostile index by
// the length of the file: tag, lengths, records, kinds, the smallest model, check, payload; and tag,
// lengths, a head of one byte, check.
constexpr std::uint64_t kSmallestChunkBytes =
    1 + 1 + 1 + 1 + 1 + kSmallestModelBytes + kCheckBytes + 1;
constexpr std::uint64_t kSmallestOtherBytes = 1 + 1 + 1 + 1 + kCheckBytes;

bool may_be_block(BlockTag tag, std::uint64_t block_bytes) {
  if (!is_known_tag(tag) || tag == BlockTag::end) return false;
  return block_bytes >= (is_chunk_tag(tag) ? kSmallestChunkBytes : kSmallestOtherBytes);
}

}  // namespace

void append_index_entry(std::vector<std::byte>& out, const IndexEntry& entry) {
  const bool in_segments = entry.segments.lengths > 0;
  ByteAppender sink{out};
  write_entry_start(sink,
                    {.tag = in_segments ? kSegmentedEntryTag : static_cast<std::uint8_t>(entry.tag),
                     .block_bytes = entry.block_bytes,
                     .check = entry.check,
                     .number = entry.is_chunk() ? entry.records : entry.head.size()});
  sink.bytes(stretch_of(entry.head));
  if (in_segments) write_joins(sink, entry.segments);
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
  Cursor cursor = cursor_over(bytes);
  ParsedEntry parsed;
  const Byte tag = cursor.byte();
  const bool in_segments = tag == kSegmentedEntryTag;
  parsed.entry.tag = in_segments ? BlockTag::chunk : static_cast<BlockTag>(tag);
  parsed.entry.block_bytes = cursor.varint();
  parsed.entry.check = static_cast<std::uint32_t>(cursor.fixed(kCheckBytes));
  const std::uint64_t number = cursor.varint();
  if (cursor.failed || !may_be_block(parsed.entry.tag, parsed.entry.block_bytes))
    return std::nullopt;
  if (parsed.entry.is_chunk()) {
    parsed.entry.records = number;
    if (in_segments && parse_joins(cursor, parsed.entry.segments) != HeadError::none)
      return std::nullopt;
  } else {
    if (number > kMaxAncillaryHeadBytes) return std::nullopt;
    const std::uint64_t at = cursor.at;
    if (!cursor.skip(number)) return std::nullopt;
    const auto head = bytes.subspan(at, number);
    parsed.entry.head.assign(head.begin(), head.end());
  }
  parsed.bytes = cursor.at;
  return parsed;
}

}  // namespace gdelta::format
