// gdelta decompress and gdelta test: whole files, damaged ones, and what is no gdelta file at all.
#include "command_runner.h"

namespace gdelta::cli_test {
namespace {

class DecompressCommand : public CommandTest {
 protected:
  /// Ten chunks of 4 KiB.
  std::string packed(const std::string& bytes) {
    return run({"compress", "-q", "--type", "i16", "--tuple", "2", "--chunk", "4K"}, bytes).out;
  }
  const std::string bytes_ = sensor_bytes(10240);
};

TEST_F(DecompressCommand, AnUnknownSuffixNeedsAnOutput) {
  write_file("a.bin", packed(bytes_));
  write_file(".gdz", packed(bytes_));
  for (const char* name : {"a.bin", ".gdz"}) {
    const Outcome outcome = run({"decompress", name});
    EXPECT_EQ(outcome.exit_status, 1);
    EXPECT_EQ(outcome.err, "gdelta: " + std::string(name) +
                               ": has no suffix .gdz to take off; -o or -c says where to write\n");
  }
  EXPECT_EQ(run({"decompress", "-o", "b", "a.bin"}).exit_status, 0);
  EXPECT_TRUE(read_file("b") == bytes_);
}

TEST_F(DecompressCommand, DoesNotOverwriteWithoutForce) {
  write_file("a.gdz", packed(bytes_));
  write_file("a", "precious");
  EXPECT_EQ(run({"decompress", "a.gdz"}).exit_status, 1);
  EXPECT_EQ(read_file("a"), "precious");
  EXPECT_EQ(run({"decompress", "-f", "a.gdz"}).exit_status, 0);
  EXPECT_TRUE(read_file("a") == bytes_);
}

TEST_F(DecompressCommand, WhatIsNoStreamIsNamedAndLeavesNothing) {
  write_file("text.gdz", "this was never compressed");
  write_file("empty.gdz", "");
  for (const char* name : {"text.gdz", "empty.gdz"}) {
    const Outcome outcome = run({"decompress", name});
    EXPECT_EQ(outcome.exit_status, 1);
    EXPECT_EQ(outcome.err.rfind("gdelta: " + std::string(name) + ": byte 0: ", 0), 0u)
        << outcome.err;
  }
  EXPECT_EQ(names(), (Names{"empty.gdz", "text.gdz"}));
}

TEST_F(DecompressCommand, ADamagedFileNamesChunkAndByteAndChangesNothing) {
  std::string stream = packed(bytes_);
  stream[stream.size() / 2] ^= 0x10;
  write_file("a.gdz", stream);
  write_file("a", "precious");
  const Outcome outcome = run({"decompress", "-f", "a.gdz"});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.err.rfind("gdelta: a.gdz: chunk ", 0), 0u) << outcome.err;
  EXPECT_NE(outcome.err.find(", byte "), std::string::npos) << outcome.err;
  EXPECT_EQ(read_file("a"), "precious");
  EXPECT_EQ(names(), (Names{"a", "a.gdz"}));
}

TEST_F(DecompressCommand, OneBadFileDoesNotStopTheRest) {
  write_file("a.gdz", "damaged");
  write_file("b.gdz", packed(bytes_));
  EXPECT_EQ(run({"decompress", "a.gdz", "b.gdz"}).exit_status, 1);
  EXPECT_EQ(names(), (Names{"a.gdz", "b", "b.gdz"}));
  const Outcome joined = run({"decompress", "-c", "a.gdz", "b.gdz"});
  EXPECT_EQ(joined.exit_status, 1);
  EXPECT_TRUE(joined.out == bytes_);
}

TEST_F(DecompressCommand, SalvageKeepsEveryWholeChunk) {
  const std::string stream = packed(bytes_);
  write_file("a.gdz", stream.substr(0, stream.size() * 2 / 3));
  EXPECT_EQ(run({"decompress", "a.gdz"}).exit_status, 1);
  EXPECT_FALSE(exists("a"));
  const Outcome outcome = run({"decompress", "--salvage", "--rm", "a.gdz"});
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_NE(outcome.err.find("gdelta: a.gdz: warning: chunk "), std::string::npos) << outcome.err;
  const std::string saved = read_file("a");
  EXPECT_GE(saved.size(), bytes_.size() / 2);
  EXPECT_EQ(saved.size() % 4096, 0u);
  EXPECT_TRUE(saved == bytes_.substr(0, saved.size()));
  EXPECT_TRUE(exists("a.gdz")) << "what is missing may still be in it";
}

TEST_F(DecompressCommand, SalvageOfAWholeFileIsNoWarning) {
  write_file("a.gdz", packed(bytes_));
  const Outcome outcome = run({"decompress", "--salvage", "-c", "a.gdz"});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(outcome.out == bytes_);
}

TEST_F(DecompressCommand, SalvageOfNothingIsAnError) {
  write_file("a.gdz", packed(bytes_).substr(0, 40));
  write_file("b.gdz", "this was never compressed");
  EXPECT_EQ(run({"decompress", "--salvage", "a.gdz", "b.gdz"}).exit_status, 1);
  EXPECT_EQ(names(), (Names{"a.gdz", "b.gdz"}));
}

TEST_F(DecompressCommand, TheMemoryLimitIsKeptAndNamesItsOption) {
  write_file("a.gdz", run({"compress", "-q", "--type", "i16"}, sensor_bytes(300000)).out);
  const Outcome refused = run({"decompress", "-M", "64K", "a.gdz"});
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_NE(refused.err.find("memory limit"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("-M"), std::string::npos) << refused.err;
  EXPECT_FALSE(exists("a"));
  EXPECT_EQ(run({"decompress", "-M", "1G", "a.gdz"}).exit_status, 0);
}

TEST_F(DecompressCommand, RemovesTheInputWhenAsked) {
  write_file("a.gdz", packed(bytes_));
  EXPECT_EQ(run({"decompress", "--rm", "a.gdz"}).exit_status, 0);
  EXPECT_EQ(names(), (Names{"a"}));
}

TEST_F(DecompressCommand, TestIsSilentWhereAllIsWell) {
  write_file("a.gdz", packed(bytes_));
  const Outcome good = run({"test", "a.gdz", "-"}, packed(bytes_));
  EXPECT_EQ(good.exit_status, 0);
  EXPECT_EQ(good.out + good.err, "");
  EXPECT_EQ(run({"test", "-v", "a.gdz"}).err, "gdelta: a.gdz: ok, 40960 bytes\n");
  EXPECT_EQ(names(), (Names{"a.gdz"}));
}

TEST_F(DecompressCommand, TestFindsEveryDamagedFile) {
  std::string stream = packed(bytes_);
  write_file("short.gdz", stream.substr(0, stream.size() - 1));
  stream[stream.size() / 3] ^= 1;
  write_file("flipped.gdz", stream);
  const Outcome outcome = run({"test", "short.gdz", "missing", "flipped.gdz"});
  EXPECT_EQ(outcome.exit_status, 1);
  for (const char* name : {"short.gdz", "missing", "flipped.gdz"})
    EXPECT_NE(outcome.err.find("gdelta: " + std::string(name) + ": "), std::string::npos);
  EXPECT_EQ(run({"test", "-qq", "flipped.gdz"}).err, "");
}

}  // namespace
}  // namespace gdelta::cli_test
