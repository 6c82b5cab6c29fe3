// The check of a part against section 7 of the specification, word by word.
#include "kernels/checksum/part_check.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace gdelta {
namespace {

std::vector<unsigned char> some_bytes(std::size_t size) {
  std::vector<unsigned char> bytes(size);
  std::uint32_t random = 1;
  for (unsigned char& byte : bytes) {
    random = random * 1664525 + 1013904223;
    byte = static_cast<unsigned char>(random >> 24);
  }
  return bytes;
}

constexpr std::uint64_t kTuples = 77;

std::uint32_t check_by_definition(const std::vector<unsigned char>& bytes) {
  std::uint64_t sum = kTuples, power = 0x5851F42D4C957F2D;
  for (std::size_t at = 0; at < bytes.size(); at += 4) {
    std::uint64_t word = 0;
    for (std::size_t b = 0; b < 4 && at + b < bytes.size(); ++b)
      word |= std::uint64_t{bytes[at + b]} << (8 * b);
    sum += word * power;
    power *= 0x5851F42D4C957F2D;
  }
  return static_cast<std::uint32_t>(((sum ^ (sum >> 29)) * 0x9E3779B97F4A7C15) >> 32);
}

TEST(PartCheck, IsThatOfTheSpecification) {
  for (const std::size_t size : {0,  1,   2,    3,    4,    5,    31,   32,   33,    63,
                                 64, 100, 4092, 4095, 4096, 4097, 4128, 8192, 12345, 100003}) {
    const auto bytes = some_bytes(size);
    EXPECT_EQ(part_check(kTuples, bytes.data(), size), check_by_definition(bytes)) << size;
  }
}

TEST(PartCheck, StretchesOfWholeWordsGiveTheSame) {
  const auto bytes = some_bytes(20011);
  for (const std::size_t stretch : {4, 12, 36, 4096, 4100, 8200}) {
    PartCheck check;
    for (std::size_t at = 0; at < bytes.size(); at += stretch)
      check.add(bytes.data() + at, std::min(stretch, bytes.size() - at));
    EXPECT_EQ(check.value(kTuples), check_by_definition(bytes)) << stretch;
  }
}

TEST(PartCheck, EveryFlippedBitAndEveryTwoExchangedWordsShow) {
  auto bytes = some_bytes(512);
  const std::uint32_t right = part_check(kTuples, bytes.data(), bytes.size());
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= static_cast<unsigned char>(1 << (bit % 8));
    EXPECT_NE(part_check(kTuples, bytes.data(), bytes.size()), right) << bit;
    bytes[bit / 8] ^= static_cast<unsigned char>(1 << (bit % 8));
  }
  for (std::size_t i = 0; i < 128; ++i)
    for (std::size_t j = i + 1; j < 128; ++j) {
      std::swap_ranges(&bytes[4 * i], &bytes[4 * i] + 4, &bytes[4 * j]);
      EXPECT_NE(part_check(kTuples, bytes.data(), bytes.size()), right) << i << " " << j;
      std::swap_ranges(&bytes[4 * i], &bytes[4 * i] + 4, &bytes[4 * j]);
    }
}

// The worst for a sum: only the top bit of words changes.
TEST(PartCheck, SignsThatFlipInPairsShow) {
  std::set<std::uint32_t> seen;
  std::vector<unsigned char> bytes(4 * 256);
  for (std::size_t i = 0; i < 256; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      bytes[4 * i + 3] ^= 0x80;
      bytes[4 * j + 3] ^= 0x80;
      seen.insert(part_check(kTuples, bytes.data(), bytes.size()));
      bytes[4 * i + 3] ^= 0x80;
      bytes[4 * j + 3] ^= 0x80;
    }
  EXPECT_GT(seen.size(), 256u * 255 / 2 - 3);  // a chance of 2^-32 a pair of pairs
}

TEST(PartCheck, ZerosBehindTheLastTupleShow) {
  const std::vector<unsigned char> zeros(100);
  EXPECT_NE(part_check(10, zeros.data(), 40), part_check(11, zeros.data(), 44));
}

TEST(PartCheck, PowersAreThoseOfTheBase) {
  std::uint64_t power = 1;
  for (std::uint64_t i = 0; i < 1000; ++i, power *= kCheckBase) EXPECT_EQ(check_power(i), power);
}

}  // namespace
}  // namespace gdelta
