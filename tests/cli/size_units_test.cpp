// Sizes with units, by what they do.
#include <map>

#include "command_runner.h"

namespace gdelta::cli_test {
namespace {

class SizeUnits : public CommandTest {
 protected:
  /// A stream of so many zeros, made once.
  const std::string& zeros(std::uint64_t count) {
    std::string& packed = packed_zeros_[count];
    if (!packed.empty()) return packed;
    write_file("zeros", "");
    std::filesystem::resize_file(path("zeros"), count);
    packed = run({"compress", "-qc", "--type", "u8", "--chunk", "64M", "zeros"}).out;
    return packed;
  }
  /// Streams joined that decode to so many bytes; of a TiB they take two MB.
  std::string file_of(std::uint64_t bytes) {
    constexpr std::uint64_t kPiece = 64 << 20;
    std::string file;
    for (; bytes > kPiece; bytes -= kPiece) file += zeros(kPiece);
    return file + zeros(bytes);
  }

 private:
  std::map<std::uint64_t, std::string> packed_zeros_;
};

// An empty range at the end of a file is taken, one behind it refused: neither writes anything,
// however wrong the size is read.
TEST_F(SizeUnits, ArePowersOf1024InEverySpelling) {
  std::uint64_t bytes = 1;
  for (const std::string unit : {"K", "M", "G", "T"}) {
    bytes *= 1024;
    write_file("whole.gdz", file_of(bytes));
    write_file("less.gdz", file_of(bytes - 1));
    for (const std::string ending : {"", "B", "iB"}) {
      const std::string size = "1" + unit + ending;
      const std::string range = size + ":" + size;
      const Outcome whole = run({"cat", "--range", range, "whole.gdz"});
      EXPECT_EQ(whole.exit_status, 0) << size << ' ' << whole.err;
      EXPECT_EQ(run({"cat", "--range", range, "less.gdz"}).exit_status, 1) << size;
    }
  }
}

TEST_F(SizeUnits, OfAChunkAreThoseOfItsContent) {
  write_file("a", sensor_bytes(100000));
  for (const std::string size : {"65536", "64K", "64KB", "64KiB", "64k", "64kb", "64kib"}) {
    const Outcome outcome = run({"compress", "-qc", "--type", "i16", "--chunk", size, "a"});
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    EXPECT_TRUE(outcome.out == run({"compress", "-qc", "--type", "i16", "--chunk", "64K", "a"}).out)
        << size;
  }
  for (const char* size :
       {"64 K", "64KiBs", "64Ki", "64BK", "K", "", "0x40", "1P", "-1K", "64.5K", "+64"}) {
    EXPECT_EQ(run({"compress", "-qc", "--type", "i16", "--chunk", size, "a"}).exit_status, 1)
        << size;
  }
}

TEST_F(SizeUnits, OfTheMemoryLimitDecideWhatIsRefused) {
  write_file("a.gdz", run({"compress", "-q", "--type", "i16"}, sensor_bytes(300000)).out);
  for (const Names& command : {Names{"decompress", "-c"}, Names{"test"}, Names{"cat"}}) {
    const auto run_with_limit = [&](const std::string& option, const std::string& limit) {
      Names arguments = command;
      arguments.insert(arguments.end(), {option, limit, "a.gdz"});
      return run(arguments);
    };
    for (const char* enough : {"1G", "1T", "64M", "64MiB", "67108864"})
      EXPECT_EQ(run_with_limit("-M", enough).exit_status, 0) << command[0] << enough;
    for (const char* little : {"64K", "64KB", "65536", "1", "0"}) {
      const Outcome outcome = run_with_limit("--memory", little);
      EXPECT_EQ(outcome.exit_status, 1) << command[0] << ' ' << little;
      EXPECT_EQ(outcome.out, "") << command[0] << ' ' << little;
      EXPECT_NE(outcome.err.find("memory limit"), std::string::npos) << outcome.err;
      EXPECT_NE(outcome.err.find("-M"), std::string::npos) << outcome.err;
    }
  }
}

}  // namespace
}  // namespace gdelta::cli_test
