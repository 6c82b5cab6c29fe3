#include "formats/gdelta/layout_block.h"

#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/bytes.h"

namespace gdelta::format {

namespace {

constexpr Byte kBigEndianBit = 0x80;
constexpr std::size_t kColumnBytes = 2;

Cursor cursor_over(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const Byte*>(bytes.data()), bytes.size()};
}

}  // namespace

void append_layout_head(std::vector<std::byte>& out, const Layout& layout) {
  append_varint(out, layout.columns.size());
  for (const Column& column : layout.columns) {
    const auto type = static_cast<std::uint64_t>(column.type);
    append_le(out, 1, type | (column.big_endian ? kBigEndianBit : 0));
    append_le(out, 1, column.tuple);
  }
}

Result<Layout> parse_layout_head(std::span<const std::byte> head, std::uint64_t byte) {
  Cursor cursor = cursor_over(head);
  const std::uint64_t columns = cursor.varint();
  if (cursor.failed || columns < 1 || columns > kMaxColumns)
    return fail_at(Errc::corrupt, byte, "the layout block has an impossible number of columns");
  Layout layout;
  layout.columns.reserve(columns);
  for (std::uint64_t i = 0; i < columns; ++i) {
    const Byte type = cursor.byte();
    const Byte tuple = cursor.byte();
    if (cursor.failed) return fail_at(Errc::corrupt, byte, "the layout block is too short");
    if ((type & ~kBigEndianBit) >= kNumValueTypes)
      return fail_at(Errc::unsupported_feature, byte,
                     "the layout block names an unknown value type: use a newer gdelta");
    if (tuple < 1 || tuple > kMaxTuple)
      return fail_at(Errc::corrupt, byte, "the layout block has an impossible tuple");
    layout.columns.push_back(
        {static_cast<ValueType>(type & ~kBigEndianBit), tuple, (type & kBigEndianBit) != 0});
  }
  if (!cursor.done()) return fail_at(Errc::corrupt, byte, "the layout block is too long");
  if (layout.record_bytes() > kMaxRecordBytes)
    return fail_at(Errc::corrupt, byte, "the layout block describes too long a record");
  return layout;
}

std::size_t layout_head_bytes(std::span<const std::byte> bytes) {
  Cursor cursor = cursor_over(bytes);
  const std::uint64_t columns = cursor.varint();
  if (cursor.failed || columns < 1 || columns > kMaxColumns) return 0;
  if (!cursor.skip(columns * kColumnBytes)) return 0;
  return cursor.at;
}

}  // namespace gdelta::format
