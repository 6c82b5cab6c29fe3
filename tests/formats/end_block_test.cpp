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

std::span<const std::byte> without_footer(const std::vector<std::byte>& block) {
  return std::span(block).first(block.size() - kFooterBytes);
}

TEST(EndBlock, EntriesComeBackInOrder) {
  std::vector<std::byte> block;
  append_end_block(block, std::size(kEntries), encode_entries());
  EXPECT_EQ(load_le(reinterpret_cast<const Byte*>(block.data()) + block.size() - kFooterBytes,
                    kFooterBytes),
            block.size() - kFooterBytes);
  const auto head = end_block_head(without_footer(block), 0);
  ASSERT_TRUE(head);
  IndexParser index(*head);
  EXPECT_EQ(index.count(), std::size(kEntries));
  for (const IndexEntry& expected : kEntries) {
    EXPECT_FALSE(index.whole());
    const auto entry = index.next();
    ASSERT_TRUE(entry);
    EXPECT_EQ(entry->tag, expected.tag);
    EXPECT_EQ(entry->block_bytes, expected.block_bytes);
    EXPECT_EQ(entry->records, expected.records);
    EXPECT_EQ(entry->layout, expected.layout);
  }
  EXPECT_FALSE(index.next());
  EXPECT_TRUE(index.whole());
}

TEST(EndBlock, WithoutIndexItIsTheSmallest) {
  std::vector<std::byte> block;
  append_end_block(block, 0, encode_entries());
  EXPECT_EQ(block.size(), kSmallestEndBytes + kFooterBytes);
  IndexParser index(end_block_head(without_footer(block), 0).value());
  EXPECT_EQ(index.count(), 0u);
  EXPECT_TRUE(index.whole());
}

TEST(EndBlock, EveryBitFlipAndTruncationIsCorrupt) {
  std::vector<std::byte> block;
  append_end_block(block, std::size(kEntries), encode_entries());
  block.resize(block.size() - kFooterBytes);
  for (std::size_t bit = 0; bit < 8 * block.size(); ++bit) {
    auto damaged = block;
    damaged[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(end_block_head(damaged, 0)) << bit;
  }
  for (std::size_t length = 0; length < block.size(); ++length)
    EXPECT_FALSE(end_block_head(std::span(block).first(length), 0)) << length;
}

TEST(EndBlock, EntriesThatMakeNoSenseEndTheIndex) {
  const auto first_entry_fails = [](std::initializer_list<int> head) {
    std::vector<std::byte> bytes;
    for (const int b : head) bytes.push_back(static_cast<std::byte>(b));
    IndexParser index(bytes);
    EXPECT_FALSE(index.next());
    EXPECT_FALSE(index.whole());
  };
  first_entry_fails({});
  first_entry_fails({1});
  first_entry_fails({1, 0, 50, 5});          // no such tag
  first_entry_fails({1, 4, 50, 5});          // an end block is not listed
  first_entry_fails({1, 2, 17, 5});          // shorter than any chunk
  first_entry_fails({1, 1, 8, 1, 6, 1});     // shorter than any layout
  first_entry_fails({1, 2, 50});             // records missing
  first_entry_fails({1, 2, 0x80, 0x00, 5});  // not the shortest varint
  first_entry_fails({1, 1, 9, 1, 14, 1});    // unknown type
  first_entry_fails({1, 1, 9, 2, 6, 1});     // a column missing
  first_entry_fails({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2});
}

}  // namespace
}  // namespace gdelta::format
