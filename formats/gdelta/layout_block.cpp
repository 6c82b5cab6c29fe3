#include "formats/gdelta/layout_block.h"

#include "formats/gdelta/block_frame.h"

namespace gdelta::format {

namespace {

constexpr Byte kBigEndianBit = 0x80;

}  // namespace

void append_layout_head(std::vector<std::byte>& out, const LayoutHead& head) {
  append_varint(out, head.layout.columns.size());
  for (const Column& column : head.layout.columns) {
    const auto type = static_cast<std::uint64_t>(column.type);
    append_le(out, 1, type | (column.big_endian ? kBigEndianBit : 0));
    append_le(out, 1, column.tuple);
  }
  append_le(out, 1, (head.note.level & 15u) | static_cast<std::uint64_t>(head.note.origin) << 4);
}

Result<LayoutHead> parse_layout_head(std::span<const std::byte> head, std::uint64_t byte) {
  Cursor cursor = cursor_over(head);
  const std::uint64_t columns = cursor.varint();
  if (cursor.failed || columns < 1 || columns > kMaxColumns)
    return fail_at(Errc::corrupt, byte, "the layout block has an impossible number of columns");
  LayoutHead parsed;
  parsed.layout.columns.reserve(columns);
  for (std::uint64_t i = 0; i < columns; ++i) {
    const Byte type = cursor.byte();
    if (!cursor.failed && (type & ~kBigEndianBit) >= kNumValueTypes)
      return fail_at(Errc::unsupported_feature, byte,
                     "the layout block names an unknown value type: use a newer gdelta");
    const Byte tuple = cursor.byte();
    if (cursor.failed) return fail_at(Errc::corrupt, byte, "the layout block is too short");
    if (tuple < 1 || tuple > kMaxTuple)
      return fail_at(Errc::corrupt, byte, "the layout block has an impossible tuple");
    parsed.layout.columns.push_back(
        {static_cast<ValueType>(type & ~kBigEndianBit), tuple, (type & kBigEndianBit) != 0});
  }
  const Byte note = cursor.byte();
  if (cursor.failed) return fail_at(Errc::corrupt, byte, "the layout block is too short");
  parsed.note = {static_cast<std::uint8_t>(note & 15), static_cast<LayoutOrigin>(note >> 4)};
  if (!cursor.done()) return fail_at(Errc::corrupt, byte, "the layout block is too long");
  if (parsed.layout.record_bytes() > kMaxRecordBytes)
    return fail_at(Errc::corrupt, byte, "the layout block describes too long a record");
  return parsed;
}

}  // namespace gdelta::format
