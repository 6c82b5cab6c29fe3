// The head of a layout block.
#include "formats/gdelta/layout_block.h"

#include <gtest/gtest.h>

#include "formats/gdelta/block_frame.h"

namespace gdelta::format {
namespace {

std::vector<std::byte> head_of(const Layout& layout) {
  std::vector<std::byte> head;
  append_layout_head(head, layout);
  return head;
}

TEST(LayoutBlock, EveryTypeAndTupleComesBack) {
  for (int type = 0; type < kNumValueTypes; ++type)
    for (int tuple = 1; tuple <= kMaxTuple; ++tuple)
      for (const bool big_endian : {false, true}) {
        const Layout layout{
            {{static_cast<ValueType>(type), static_cast<std::uint8_t>(tuple), big_endian}}};
        const auto head = head_of(layout);
        EXPECT_EQ(head.size(), 3u);
        EXPECT_EQ(parse_layout_head(head, 0).value(), layout);
      }
}

TEST(LayoutBlock, TheWidestRecordIsReadAndOneByteMoreIsCorrupt) {
  Layout layout{std::vector<Column>(128, {ValueType::f64, 64, false})};
  EXPECT_EQ(layout.record_bytes(), kMaxRecordBytes);
  EXPECT_EQ(parse_layout_head(head_of(layout), 0).value(), layout);
  layout.columns.push_back({ValueType::u8, 1, false});
  const auto refused = parse_layout_head(head_of(layout), 123);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::corrupt);
  EXPECT_EQ(refused.error().byte, 123u);
}

TEST(LayoutBlock, EveryTruncationIsCorrupt) {
  const auto head = head_of(parse_record("i32x3,u16:be,f64").value());
  for (std::size_t length = 0; length < head.size(); ++length) {
    EXPECT_FALSE(parse_layout_head(std::span(head).first(length), 0)) << length;
    EXPECT_EQ(layout_head_bytes(std::span(head).first(length)), 0u) << length;
  }
}

TEST(LayoutBlock, AHeadOfTooManyColumnsIsNone) {
  std::vector<std::byte> most, too_many;
  append_varint(most, kMaxColumns);
  append_varint(too_many, kMaxColumns + 1);
  for (auto* head : {&most, &too_many}) head->resize(head->size() + 2 * (kMaxColumns + 1));
  EXPECT_EQ(layout_head_bytes(most), most.size() - 2);
  EXPECT_EQ(layout_head_bytes(too_many), 0u);
}

TEST(LayoutBlock, AHeadThatOthersFollowTellsItsLength) {
  auto head = head_of(parse_record("i32x3,u16:be,f64").value());
  const std::size_t bytes = head.size();
  head.push_back(std::byte{1});
  EXPECT_EQ(layout_head_bytes(head), bytes);
  EXPECT_EQ(parse_layout_head(head, 0).error().code, Errc::corrupt);
}

}  // namespace
}  // namespace gdelta::format
