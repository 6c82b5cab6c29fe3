#include <gtest/gtest.h>

#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "kernels/checksum/content_checksum.h"

namespace gdelta {
namespace {

TEST(ChecksumContent, IsTheHashOfTheHashesOfPieces) {
  for (const std::size_t size : {1u, 4095u, 4096u, 4097u, 512u * 4096, 512u * 4096 + 1, 3000000u}) {
    std::vector<unsigned char> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(i * i >> 5);
    std::vector<unsigned char> digests;
    for (std::size_t at = 0; at < size; at += 4096) {
      const std::uint64_t digest = XXH3_64bits(&bytes[at], std::min<std::size_t>(4096, size - at));
      for (int b = 0; b < 8; ++b) digests.push_back(static_cast<unsigned char>(digest >> (8 * b)));
    }
    EXPECT_EQ(content_checksum(bytes.data(), size), XXH3_64bits(digests.data(), digests.size()));
  }
}

}  // namespace
}  // namespace gdelta
