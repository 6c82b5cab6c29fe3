// Frames of zstd that take seconds: told while they grow, and the same that libzstd makes at one go.
#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <vector>

#include "codec/coders/work.h"
#include "codec/coders/workers.h"
#include "codec/coders/zstd_section.h"
#include "tests/noise.h"

namespace gdelta::test {
namespace {

struct CountedWork final : Work {
  void add(double share) override {
    ++calls;
    most = std::max(most, share);
    done += share;
  }
  int calls = 0;
  double most = 0, done = 0;
};

/// Three in four bits of each byte say nothing.
std::vector<unsigned char> noisy_bytes() {
  std::vector<unsigned char> bytes = noise(3 << 20);
  for (unsigned char& byte : bytes) byte &= 0x77;
  return bytes;
}

TEST(LongFrame, IsToldPieceByPiece) {
  const std::vector<unsigned char> bytes = noisy_bytes();
  for (const ZstdLevels levels : {ZstdLevels{3}, ZstdLevels{3, 1}}) {
    CountedWork work;
    std::vector<std::byte> section;
    encode_frames(bytes, bytes.size(), levels, Workers::alone(), section, &work);
    EXPECT_GE(work.calls, 16);
    EXPECT_LE(work.most, 0.1);
    EXPECT_NEAR(work.done, 1, 1e-9);
  }
}

TEST(LongFrame, HasTheBytesThatLibzstdMakesAtOneGo) {
  const std::vector<unsigned char> bytes = noisy_bytes();
  for (const int level : {1, 3, 19}) {
    std::vector<std::byte> section;
    encode_frames(bytes, bytes.size(), {level}, Workers::alone(), section);
    std::vector<std::byte> at_one_go(ZSTD_compressBound(bytes.size()));
    at_one_go.resize(
        ZSTD_compress(at_one_go.data(), at_one_go.size(), bytes.data(), bytes.size(), level));
    EXPECT_TRUE(section == at_one_go) << level;
  }
}

TEST(WorkPart, CountsWhatItWasNotToldWhenItEnds) {
  CountedWork work;
  {
    WorkPart half(&work, 0.5);
    half.add(0.5);
    EXPECT_DOUBLE_EQ(work.done, 0.25);
    WorkPart quarter(&half, 0.25);
    quarter.add(2);
    EXPECT_DOUBLE_EQ(work.done, 0.375);
  }
  EXPECT_DOUBLE_EQ(work.done, 0.5);
}

}  // namespace
}  // namespace gdelta::test
