// The first bytes of streams and of the frames between them.
#include "formats/gdelta/stream_header.h"

#include <gtest/gtest.h>

#include <vector>

namespace gdelta::format {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(StreamHeader, OpeningsAreToldApart) {
  EXPECT_EQ(recognise_opening(kStreamHeader), Opening::stream);
  EXPECT_EQ(recognise_opening({}), Opening::cut_short);
  EXPECT_EQ(recognise_opening(bytes_of({0x89, 'G', 'D'})), Opening::cut_short);
  EXPECT_EQ(recognise_opening(bytes_of({0x89, 'P', 'N', 'G'})), Opening::neither);
  EXPECT_EQ(recognise_opening(bytes_of({0x28, 0xb5, 0x2f, 0xfd})), Opening::neither);
  for (int low = 0; low < 16; ++low) {
    EXPECT_EQ(recognise_opening(bytes_of({0x50 | low, 0x2a, 0x4d, 0x18})), Opening::skippable);
    EXPECT_EQ(recognise_opening(bytes_of({0x50 | low, 0x2a})), Opening::cut_short);
    EXPECT_EQ(recognise_opening(bytes_of({0x60 | low, 0x2a, 0x4d, 0x18})), Opening::neither);
  }
}

TEST(StreamHeader, TheVersionAndFourFlagsMustBeZero) {
  EXPECT_TRUE(check_stream_header(kStreamHeader, 0));
  for (int value = 1; value < 256; ++value) {
    auto version = kStreamHeader;
    version[4] = static_cast<std::byte>(value);
    EXPECT_EQ(check_stream_header(version, 7).error().code, Errc::unsupported_version);
    auto flags = kStreamHeader;
    flags[5] = static_cast<std::byte>(value);
    const auto checked = check_stream_header(flags, 7);
    EXPECT_EQ(checked.has_value(), (value & 0x0f) == 0) << value;
    if (checked) continue;
    EXPECT_EQ(checked.error().code, Errc::unsupported_feature);
    EXPECT_EQ(checked.error().byte, 7u);
  }
}

TEST(StreamHeader, ATruncatedHeaderIsToldFromForeignBytes) {
  for (std::size_t length = 0; length < kStreamHeaderBytes; ++length)
    EXPECT_EQ(check_stream_header(std::span(kStreamHeader).first(length), 0).error().code,
              Errc::truncated);
  EXPECT_EQ(check_stream_header(bytes_of({'R', 'I', 'F', 'F', 0, 0}), 0).error().code,
            Errc::not_gdelta);
}

}  // namespace
}  // namespace gdelta::format
