// The hash that kernels use against libxxhash.
#include "kernels/checksum/xxh3.h"

#include <gtest/gtest.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <random>
#include <vector>

namespace gdelta {
namespace {

TEST(Xxh3, AgreesWithLibxxhashForAllLengthsUpTo5000) {
  std::mt19937_64 random(1);
  std::vector<unsigned char> bytes(5001);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  for (std::size_t length = 0; length <= 5000; ++length)
    ASSERT_EQ(xxh3::hash(bytes.data(), length), XXH3_64bits(bytes.data(), length)) << length;
}

TEST(Xxh3, AgreesWithLibxxhashOnExtremeBytesAndOddAddresses) {
  for (const unsigned char fill : {0x00, 0xff, 0x80}) {
    const std::vector<unsigned char> bytes(2100, fill);
    for (std::size_t at = 0; at < 9; ++at) {
      for (const std::size_t length : {1, 16, 17, 128, 129, 240, 241, 1024, 1025, 2048})
        ASSERT_EQ(xxh3::hash(bytes.data() + at, length), XXH3_64bits(bytes.data() + at, length));
    }
  }
}

TEST(Xxh3, AgreesWithLibxxhashOnAMillionBytes) {
  std::mt19937_64 random(2);
  std::vector<unsigned char> bytes(1000003);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  EXPECT_EQ(xxh3::hash(bytes.data(), bytes.size()), XXH3_64bits(bytes.data(), bytes.size()));
}

}  // namespace
}  // namespace gdelta
