// The head of a metadata block.
#include "formats/gdelta/metadata_block.h"

#include <gtest/gtest.h>

#include "formats/gdelta/tags.h"

namespace gdelta::format {
namespace {

const std::vector<MetadataEntry> kEntries = {
    {"sample_rate", "44100"}, {"empty", ""}, {"k", std::string(300, 'v')}, {std::string(255, 'k'), "x"}};

std::vector<std::byte> head_of(std::span<const MetadataEntry> entries) {
  std::vector<std::byte> head;
  append_metadata_head(head, entries);
  return head;
}

TEST(MetadataBlock, EntriesComeBackInOrder) {
  const auto head = head_of(kEntries);
  EXPECT_EQ(head.size(), metadata_head_bytes(kEntries));
  EXPECT_EQ(parse_metadata_head(head, 0).value(), kEntries);
}

TEST(MetadataBlock, EveryTruncationAndAByteMoreAreCorrupt) {
  auto head = head_of(kEntries);
  for (std::size_t length = 0; length < head.size(); ++length) {
    const auto parsed = parse_metadata_head(std::span(head).first(length), 77);
    ASSERT_FALSE(parsed) << length;
    EXPECT_EQ(parsed.error().code, Errc::corrupt);
    EXPECT_EQ(parsed.error().byte, 77u);
  }
  head.push_back(std::byte{0});
  EXPECT_FALSE(parse_metadata_head(head, 0));
}

TEST(MetadataBlock, KeysHaveBytesAndNotTooMany) {
  const MetadataEntry unnamed{"", "x"};
  EXPECT_FALSE(parse_metadata_head(head_of({&unnamed, 1}), 0));
  const MetadataEntry long_named{std::string(256, 'k'), "x"};
  EXPECT_FALSE(parse_metadata_head(head_of({&long_named, 1}), 0));
  EXPECT_FALSE(parse_metadata_head(head_of({}), 0));
}

TEST(MetadataBlock, LengthsThatWrapAreCorrupt) {
  std::vector<std::byte> head = {std::byte{1}, std::byte{1}, std::byte{'k'}};
  for (int i = 0; i < 9; ++i) head.push_back(std::byte{0xff});
  head.push_back(std::byte{1});
  EXPECT_FALSE(parse_metadata_head(head, 0));
}

}  // namespace
}  // namespace gdelta::format
