// The head of a metadata block.
#include "formats/gdelta/metadata_block.h"

#include <gtest/gtest.h>

#include "formats/gdelta/tags.h"

namespace gdelta::format {
namespace {

const std::vector<MetadataEntry> kPairs = {{"sample_rate", "44100"},
                                           {"empty", ""},
                                           {"k", std::string(300, 'v')},
                                           {std::string(255, 'k'), "x"}};

std::vector<std::byte> metadata_head_of(std::span<const MetadataEntry> entries) {
  std::vector<std::byte> head;
  append_metadata_head(head, entries);
  return head;
}

TEST(MetadataBlock, EntriesComeBackInOrder) {
  const auto head = metadata_head_of(kPairs);
  EXPECT_EQ(parse_metadata_head(head, 0).value(), kPairs);
}

TEST(MetadataBlock, EveryTruncationAndAByteMoreAreCorrupt) {
  auto head = metadata_head_of(kPairs);
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
  EXPECT_FALSE(parse_metadata_head(metadata_head_of({&unnamed, 1}), 0));
  const MetadataEntry long_named{std::string(256, 'k'), "x"};
  EXPECT_FALSE(parse_metadata_head(metadata_head_of({&long_named, 1}), 0));
  EXPECT_FALSE(parse_metadata_head(metadata_head_of({}), 0));
}

bool is_accepted(std::string_view text) {
  const MetadataEntry as_key{std::string(text), ""}, as_value{"k", std::string(text)};
  const bool accepted = check_metadata({&as_value, 1}).has_value();
  EXPECT_EQ(check_metadata({&as_key, 1}).has_value(), accepted);
  return accepted;
}

TEST(CheckMetadata, TakesUtf8Alone) {
  for (const char* text : {"a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                           "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_accepted(text)) << text;
  for (const char* text :
       {"\x80", "\xc1\xbf", "\xc2", "\xc2\x7f", "\xc2\xc0", "\xe0\x9f\xbf", "\xe1\x80",
        "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf1\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"})
    EXPECT_FALSE(is_accepted(text)) << text;
}

TEST(CheckMetadata, LongestIsWhatABlockHolds) {
  MetadataEntry entry{"k", std::string(kMaxMetadataBytes - 1 - 2 - 3, 'v')};
  ASSERT_TRUE(check_metadata({&entry, 1}));
  EXPECT_EQ(metadata_head_of({&entry, 1}).size(), kMaxMetadataBytes);
  entry.value += 'v';
  EXPECT_FALSE(check_metadata({&entry, 1}));
}

TEST(MetadataBlock, LengthsThatWrapAreCorrupt) {
  std::vector<std::byte> head = {std::byte{1}, std::byte{1}, std::byte{'k'}};
  for (int i = 0; i < 9; ++i) head.push_back(std::byte{0xff});
  head.push_back(std::byte{1});
  EXPECT_FALSE(parse_metadata_head(head, 0));
}

}  // namespace
}  // namespace gdelta::format
