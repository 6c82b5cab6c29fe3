// Decompressed files: long stretches of zeros take no room on the disk.
#include "command_runner.h"

namespace gdelta::cli_test {
namespace {

constexpr std::size_t kHole = std::size_t{24} << 20;

class SparseOutput : public CommandTest {
 protected:
  void SetUp() override {
    write_file("probe", "");
    std::filesystem::resize_file(path("probe"), kHole);
    if (disk_bytes("probe") > kHole / 2) GTEST_SKIP() << "this file system has no holes";
  }
  std::uint64_t disk_bytes(const std::string& name) const {
    struct stat status = {};
    stat(path(name).c_str(), &status);
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
  }
  void compress_bytes(const std::string& bytes) {
    write_file("a.gdz", run({"compress", "-q1", "--type", "u8"}, bytes).out);
  }
};

TEST_F(SparseOutput, ZerosBecomeHolesWhereverTheyStand) {
  const std::string zeros(kHole, '\0');
  for (const std::string& bytes :
       {zeros, "head" + zeros, zeros + "tail", random_bytes(5000) + zeros + random_bytes(70000)}) {
    compress_bytes(bytes);
    ASSERT_EQ(run({"decompress", "-qf", "a.gdz"}).exit_status, 0);
    EXPECT_TRUE(read_file("a") == bytes);
    EXPECT_LT(disk_bytes("a"), std::uint64_t{1} << 20);
  }
}

TEST_F(SparseOutput, BytesBetweenZerosComeBack) {
  std::string bytes;
  for (std::size_t i = 0; i < 40; ++i) {
    bytes += random_bytes(1 + i * 997 % 9000);
    bytes.append(4000 * (i % 5) + i, '\0');
  }
  compress_bytes(bytes);
  ASSERT_EQ(run({"decompress", "-qf", "a.gdz"}).exit_status, 0);
  EXPECT_TRUE(read_file("a") == bytes);
}

TEST_F(SparseOutput, NoSparseWritesTheZeros) {
  compress_bytes(std::string(kHole, '\0'));
  ASSERT_EQ(run({"decompress", "-q", "--no-sparse", "a.gdz"}).exit_status, 0);
  EXPECT_EQ(std::filesystem::file_size(path("a")), kHole);
  EXPECT_GE(disk_bytes("a"), kHole);
}

TEST_F(SparseOutput, WhatIsAppendedByTheShellHasNoHoles) {
  const std::string zeros(kHole, '\0');
  compress_bytes(zeros);
  write_file("out", "before");
  const auto append = [&] { dup2(open("out", O_WRONLY | O_APPEND), STDOUT_FILENO); };
  ASSERT_EQ(start({"decompress", "-c", "a.gdz"}, append).finish().exit_status, 0);
  EXPECT_TRUE(read_file("out") == "before" + zeros);
}

}  // namespace
}  // namespace gdelta::cli_test
