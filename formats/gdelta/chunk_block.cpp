#include "formats/gdelta/chunk_block.h"

#include <algorithm>

#include "formats/gdelta/block_frame.h"

namespace gdelta::format {
namespace {

const Byte* as_bytes(std::span<const std::byte> bytes) {
  return reinterpret_cast<const Byte*>(bytes.data());
}

tl::unexpected<Error> head_error(HeadError error, std::uint64_t byte) {
  if (error == HeadError::unsupported)
    return fail_at(Errc::unsupported_feature, byte,
                   "the chunk uses a coder, map or arrangement that this version does not know");
  return fail_at(
      Errc::corrupt, byte,
      "a field of the chunk's head is out of its range, or the sizes in it do not add up");
}

// Whether the varint at `at` goes on behind the last byte.
bool varint_is_cut(std::span<const std::byte> block, std::size_t at) {
  for (int i = 0; i < kMaxVarintBytes; ++i, ++at) {
    if (at >= block.size()) return true;
    if (static_cast<Byte>(block[at]) < 0x80) return false;
  }
  return false;
}

}  // namespace

HeadError parse_chunk_fields(Cursor cursor, const Layout& layout, ParsedChunk& chunk) {
  HeadError error = parse_chunk_head(cursor, layout.record_bytes(), chunk.head);
  if (error != HeadError::none) return error;
  chunk.columns.clear();
  chunk.columns.reserve(layout.columns.size());
  std::uint64_t section_at = 0;
  for (const Column& column : layout.columns) {
    ColumnHead& head = chunk.columns.emplace_back();
    error = parse_column_head(cursor, column, chunk.head.records, section_at, head);
    if (error != HeadError::none) return error;
    section_at += head.section_bytes;
  }
  return cursor.done() && section_at == chunk.head.payload_bytes ? HeadError::none
                                                                 : HeadError::corrupt;
}

Result<ParsedChunk> parse_chunk_block(std::span<const std::byte> block, std::uint64_t byte,
                                      const Layout& layout) {
  Cursor frame{as_bytes(block), block.size()};
  const Byte tag = frame.byte();
  const bool cut = frame.failed || varint_is_cut(block, 1);
  const std::uint64_t head_bytes = cut ? 0 : frame.varint();
  ParsedChunk chunk;
  chunk.head_at = frame.at;
  if (cut ||
      (!frame.failed && (frame.left() < kCheckBytes || frame.left() - kCheckBytes < head_bytes)))
    return fail_at(Errc::truncated, byte, "the stream ends inside a chunk's head");
  if (frame.failed || (tag != static_cast<Byte>(BlockTag::chunk) &&
                       tag != static_cast<Byte>(BlockTag::opaque_chunk)))
    return fail_at(Errc::corrupt, byte, "no chunk starts here");
  if (head_bytes > kMaxHeadBytes)
    return fail_at(Errc::corrupt, byte, "the chunk's head is longer than any may be");
  const std::uint64_t check_at = chunk.head_at + head_bytes;
  if (load_le(frame.data + check_at, kCheckBytes) != block_check(block.first(check_at)))
    return fail_at(Errc::corrupt, byte, "the chunk's head is damaged: its check differs");

  chunk.opaque = tag == static_cast<Byte>(BlockTag::opaque_chunk);
  chunk.payload_at = check_at + kCheckBytes;
  const HeadError error =
      parse_chunk_fields({frame.data + chunk.head_at, head_bytes}, layout, chunk);
  if (error != HeadError::none) return head_error(error, byte);
  if (block.size() - chunk.payload_at < chunk.head.payload_bytes)
    return fail_at(Errc::truncated, byte, "the stream ends inside a chunk");
  chunk.block_bytes = chunk.payload_at + chunk.head.payload_bytes;
  return chunk;
}

std::uint32_t page_end(std::span<const std::byte> block, const ParsedChunk& chunk,
                       const ColumnHead& column, std::uint64_t page) {
  return static_cast<std::uint32_t>(
      load_le(as_bytes(block) + chunk.head_at + column.parts_at + 4 * page, 4));
}

void append_column_model(std::vector<std::byte>& out, const Column& column,
                         const ColumnModel& model, std::span<const std::uint32_t> parts) {
  append_le(out, 1, static_cast<std::uint64_t>(model.coder));
  if (model.coder == Coder::raw || model.coder == Coder::constant) return;
  append_le(out, 1, static_cast<std::uint64_t>(model.map));
  const std::span lanes(model.orders, column.tuple);
  if (std::all_of(lanes.begin(), lanes.end(), [&](auto order) { return order == lanes[0]; })) {
    append_le(out, 1, lanes[0]);
  } else {
    append_le(out, 1, kOrdersPerLane);
    for (const std::uint8_t order : lanes) append_le(out, 1, order);
  }
  append_le(out, 1, model.num_strides);
  for (int link = 0; link < model.num_strides; ++link) {
    append_varint(out, model.strides[link].stride);
    append_le(out, 1, model.strides[link].order);
  }
  if (model.coder == Coder::pack) {
    append_varint(out, model.page_groups);
    for (const std::uint32_t end : parts) append_le(out, 4, end);
  } else {
    append_le(out, 1, static_cast<std::uint64_t>(model.arrangement));
    append_varint(out, model.frame_bytes);
    for (const std::uint32_t size : parts) append_varint(out, size);
  }
}

void append_chunk_head(std::vector<std::byte>& out, bool opaque, const ChunkHead& head,
                       std::span<const std::byte> models) {
  std::vector<std::byte> bytes;
  append_varint(bytes, head.records);
  append_varint(bytes, head.payload_bytes);
  append_le(bytes, 8, head.content);
  bytes.insert(bytes.end(), models.begin(), models.end());
  append_block(out, opaque ? BlockTag::opaque_chunk : BlockTag::chunk, bytes);
}

}  // namespace gdelta::format
