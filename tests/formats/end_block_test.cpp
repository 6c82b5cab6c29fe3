// The end block and its index.
#include "formats/gdelta/end_block.h"

#include <gtest/gtest.h>

#include "formats/gdelta/bytes.h"

namespace gdelta::format {
namespace {

const IndexEntry kEntries[] = {
    {BlockTag::opaque_chunk, 77, 0x89abcdef, 44, {}},
    {BlockTag::layout, 9, 1, 0, {std::byte{1}, std::byte{6}, std::byte{2}, std::byte{0}}},
    {BlockTag::chunk, 1ull << 40, 0, 1ull << 28, {}},
    {BlockTag::metadata, 300, ~0u, 0, std::vector<std::byte>(200, std::byte{7})},
    {static_cast<BlockTag>(255), 9, 2, 0, {std::byte{0}}},
    {BlockTag::chunk, 18, 3, 1, {}}};

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
  // Tag and count take a byte, the lengths two and one.
  std::span<const std::byte> rest(block);
  EXPECT_EQ(rest[4], std::byte{std::size(kEntries)});
  rest = rest.subspan(5);
  for (const IndexEntry& expected : kEntries) {
    const auto parsed = parse_index_entry(rest);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->entry, expected);
    rest = rest.subspan(parsed->bytes);
  }
  EXPECT_EQ(rest.size(), std::size_t{kCheckBytes} + kFooterBytes);
}

TEST(EndBlock, WithoutIndexItIsTheSmallest) {
  std::vector<std::byte> block;
  append_end_block(block, 0, encode_entries());
  EXPECT_EQ(block.size(), kSmallestEndBytes + kFooterBytes);
  EXPECT_EQ(block[3], std::byte{0});
}

TEST(EndBlock, NoEntryIsLongerThanTheLongest) {
  IndexEntry longest{
      .tag = BlockTag::metadata, .block_bytes = ~0ull, .check = 0, .records = 0, .head = {}};
  longest.head.resize(kMaxAncillaryHeadBytes);
  std::vector<std::byte> bytes;
  append_index_entry(bytes, longest);
  EXPECT_LE(bytes.size(), kMostEntryBytes);
  EXPECT_TRUE(parse_index_entry(bytes));
  longest.head.resize(kMaxAncillaryHeadBytes + 1);
  bytes.clear();
  append_index_entry(bytes, longest);
  EXPECT_FALSE(parse_index_entry(bytes));
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
  EXPECT_TRUE(is_none({0, 50, 1, 2, 3, 4, 5}));  // no such tag
  EXPECT_TRUE(is_none({127, 50, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(is_none({4, 50, 1, 2, 3, 4, 5}));          // an end block is not listed
  EXPECT_TRUE(is_none({2, 17, 1, 2, 3, 4, 5}));          // shorter than any chunk
  EXPECT_TRUE(is_none({1, 7, 1, 2, 3, 4, 1, 1}));        // shorter than any block
  EXPECT_TRUE(is_none({2, 0x80, 0x00, 1, 2, 3, 4, 5}));  // not the shortest varint
  EXPECT_TRUE(is_none({1, 12, 1, 2, 3, 4, 2, 1}));       // a byte of the head missing
  EXPECT_FALSE(is_none({1, 12, 1, 2, 3, 4, 2, 1, 1}));
  EXPECT_FALSE(is_none({2, 18, 1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace gdelta::format
