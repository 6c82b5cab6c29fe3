// The head of a layout block.
#include "formats/gdelta/layout_block.h"

#include <gtest/gtest.h>

#include "formats/gdelta/block_frame.h"

namespace gdelta::format {
namespace {

std::vector<std::byte> layout_head_of(const Layout& layout, LayoutNote note = {}) {
  std::vector<std::byte> head;
  append_layout_head(head, {layout, note});
  return head;
}

TEST(LayoutBlock, EveryTypeAndTupleComesBack) {
  for (int type = 0; type < kNumValueTypes; ++type)
    for (int tuple = 1; tuple <= kMaxTuple; ++tuple)
      for (const bool big_endian : {false, true}) {
        const Layout layout{
            {{static_cast<ValueType>(type), static_cast<std::uint8_t>(tuple), big_endian}}};
        const auto head = layout_head_of(layout);
        EXPECT_EQ(head.size(), 4u);
        EXPECT_EQ(parse_layout_head(head, 0)->layout, layout);
      }
}

TEST(LayoutBlock, TheWidestRecordIsReadAndOneByteMoreIsCorrupt) {
  Layout layout{std::vector<Column>(128, {ValueType::f64, 64, false})};
  EXPECT_EQ(layout.record_bytes(), kMaxRecordBytes);
  EXPECT_EQ(parse_layout_head(layout_head_of(layout), 0)->layout, layout);
  layout.columns.push_back({ValueType::u8, 1, false});
  const auto refused = parse_layout_head(layout_head_of(layout), 123);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::corrupt);
  EXPECT_EQ(refused.error().byte, 123u);
}

TEST(LayoutBlock, EveryTruncationIsCorrupt) {
  const auto head = layout_head_of(parse_record("i32x3,u16:be,f64").value());
  for (std::size_t length = 0; length < head.size(); ++length)
    EXPECT_FALSE(parse_layout_head(std::span(head).first(length), 0)) << length;
}

TEST(LayoutBlock, AHeadOfTooManyColumnsIsNone) {
  for (const int columns : {kMaxColumns, kMaxColumns + 1}) {
    std::vector<std::byte> head;
    append_varint(head, static_cast<std::uint64_t>(columns));
    for (int i = 0; i < columns; ++i) head.insert(head.end(), {std::byte{1}, std::byte{1}});
    head.push_back(std::byte{0});
    EXPECT_EQ(parse_layout_head(head, 0).has_value(), columns == kMaxColumns);
  }
}

TEST(LayoutBlock, AByteMoreIsCorrupt) {
  auto head = layout_head_of(parse_record("i32x3,u16:be,f64").value());
  head.push_back(std::byte{1});
  EXPECT_EQ(parse_layout_head(head, 0).error().code, Errc::corrupt);
}

TEST(LayoutBlock, EveryNoteComesBack) {
  const Layout layout = parse_record("i32x3").value();
  for (int level = 0; level < 16; ++level)
    for (int origin = 0; origin < 16; ++origin) {
      const LayoutNote note{static_cast<std::uint8_t>(level), static_cast<LayoutOrigin>(origin)};
      EXPECT_EQ(parse_layout_head(layout_head_of(layout, note), 0)->note, note);
    }
}

}  // namespace
}  // namespace gdelta::format
