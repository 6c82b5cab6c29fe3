// The end block and its index.
#include "formats/gdelta/end_block.h"

#include <gtest/gtest.h>

#include "formats/gdelta/bytes.h"

namespace gdelta::format {
namespace {

const IndexEntry kEntries[] = {{BlockTag::opaque_chunk, 77, 44, {}},
                               {BlockTag::layout, 9, 0, parse_record("i16x2,f64:be").value()},
                               {BlockTag::chunk, 1ull << 40, 1ull << 28, {}},
                               {BlockTag::chunk, 18, 1, {}}};

std::vector<std::byte> encode_entries() {
  std::vector<std::byte> bytes;
  for (const IndexEntry& entry : kEntries) append_index_entry(bytes, entry);
  return bytes;
}

TEST(EndBlock, EntriesComeBackInOrder) {
  const std::vector<std::byte> entries = encode_entries();
  std::vector<std::byte> block;
  append_end_block(block, std::size(kEntries), entries);
  EXPECT_EQ(load_le(reinterpret_cast<const Byte*>(block.data()) + block.size() - kFooterBytes,
                    kFooterBytes),
            block.size() - kFooterBytes);
  // Tag, length and count take a byte each.
  std::span<const std::byte> rest(block);
  EXPECT_EQ(rest[2], std::byte{std::size(kEntries)});
  rest = rest.subspan(3);
  for (const IndexEntry& expected : kEntries) {
    const auto parsed = parse_index_entry(rest);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->entry.tag, expected.tag);
    EXPECT_EQ(parsed->entry.block_bytes, expected.block_bytes);
    EXPECT_EQ(parsed->entry.records, expected.records);
    EXPECT_EQ(parsed->entry.layout, expected.layout);
    rest = rest.subspan(parsed->bytes);
  }
  EXPECT_EQ(rest.size(), std::size_t{kCheckBytes} + kFooterBytes);
}

TEST(EndBlock, WithoutIndexItIsTheSmallest) {
  std::vector<std::byte> block;
  append_end_block(block, 0, encode_entries());
  EXPECT_EQ(block.size(), kSmallestEndBytes + kFooterBytes);
  EXPECT_EQ(block[2], std::byte{0});
}

TEST(EndBlock, NoEntryIsLongerThanTheLongest) {
  IndexEntry longest{BlockTag::layout, ~0ull, 0, Layout{}};
  longest.layout->columns.resize(kMaxColumns, Column{ValueType::u8, 1, false});
  std::vector<std::byte> bytes;
  append_index_entry(bytes, longest);
  EXPECT_EQ(bytes.size(), kMostEntryBytes);
  EXPECT_TRUE(parse_index_entry(bytes));
}

TEST(EndBlock, EveryEntryThatIsCutShortIsNone) {
  for (const IndexEntry& entry : kEntries) {
    std::vector<std::byte> bytes;
    append_index_entry(bytes, entry);
    for (std::size_t length = 0; length < bytes.size(); ++length)
      EXPECT_FALSE(parse_index_entry(std::span<const std::byte>(bytes).first(length))) << length;
  }
}

TEST(EndBlock, EntriesThatMakeNoSenseAreNone) {
  const auto is_none = [](std::initializer_list<int> entry) {
    std::vector<std::byte> bytes;
    for (const int b : entry) bytes.push_back(static_cast<std::byte>(b));
    return !parse_index_entry(bytes);
  };
  EXPECT_TRUE(is_none({0, 50, 5}));          // no such tag
  EXPECT_TRUE(is_none({4, 50, 5}));          // an end block is not listed
  EXPECT_TRUE(is_none({2, 17, 5}));          // shorter than any chunk
  EXPECT_TRUE(is_none({1, 8, 1, 6, 1}));     // shorter than any layout
  EXPECT_TRUE(is_none({2, 0x80, 0x00, 5}));  // not the shortest varint
  EXPECT_TRUE(is_none({1, 9, 1, 14, 1}));    // unknown type
  EXPECT_TRUE(is_none({1, 9, 2, 6, 1}));     // a column missing
  EXPECT_FALSE(is_none({2, 18, 5}));
}

}  // namespace
}  // namespace gdelta::format
