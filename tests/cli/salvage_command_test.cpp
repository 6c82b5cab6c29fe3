// decompress --salvage behind damage, --fill, and limits on memory and output, as a user meets them.
#include <cinttypes>
#include <cstdio>

#include "command_runner.h"

namespace gdelta::cli_test {
namespace {

class SalvageCommand : public CommandTest {
 protected:
  /// Ten chunks of 4 KiB.
  std::string packed() {
    return run({"compress", "-q", "--type", "i16", "--tuple", "2", "--chunk", "4K"}, bytes_).out;
  }
  /// Damages one payload byte in the middle of the stream.
  std::string damaged() {
    std::string stream = packed();
    stream[stream.size() / 2] ^= 0x10;
    return stream;
  }
  const std::string bytes_ = sensor_bytes(10240);
};

TEST_F(SalvageCommand, KeepsWhatStandsBehindTheDamageAndSaysWhatIsMissing) {
  write_file("a.gdz", damaged());
  const Outcome outcome = run({"decompress", "--salvage", "a.gdz"});
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_EQ(read_file("a").size(), 9 * 4096u);
  EXPECT_NE(outcome.err.find("gdelta: a.gdz: warning: chunk "), std::string::npos) << outcome.err;
  const std::size_t gap = outcome.err.find("missing: 1 chunk, decoded bytes ");
  ASSERT_NE(gap, std::string::npos) << outcome.err;
  std::uint64_t begin = 0, end = 0;
  ASSERT_EQ(std::sscanf(outcome.err.c_str() + gap,
                        "missing: 1 chunk, decoded bytes %" SCNu64 ":%" SCNu64, &begin, &end),
            2);
  EXPECT_EQ(end, begin + 4096);
  EXPECT_NE(outcome.err.find("warning: kept 9 of 10 chunks, 36864 bytes\n"), std::string::npos)
      << outcome.err;
  const std::string saved = read_file("a");
  EXPECT_TRUE(saved == bytes_.substr(0, begin) + bytes_.substr(end));
  const Outcome piped = run({"decompress", "--salvage", "-c"}, damaged());
  EXPECT_EQ(piped.exit_status, 2);
  EXPECT_TRUE(piped.out == saved);
}

TEST_F(SalvageCommand, FillKeepsEverythingAtItsPlace) {
  write_file("a.gdz", damaged());
  const Outcome outcome = run({"decompress", "--salvage", "--fill", "a.gdz"});
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_NE(outcome.err.find("(filled with zeros)"), std::string::npos) << outcome.err;
  const std::string saved = read_file("a");
  ASSERT_EQ(saved.size(), bytes_.size());
  std::size_t differing = 0;
  for (std::size_t at = 0; at < saved.size(); at += 4096) {
    if (saved.substr(at, 4096) == bytes_.substr(at, 4096)) continue;
    ++differing;
    EXPECT_EQ(saved.substr(at, 4096), std::string(4096, '\0'));
  }
  EXPECT_EQ(differing, 1u);
}

TEST_F(SalvageCommand, RmRemovesAFileThatIsWholeAndKeepsADamagedOne) {
  write_file("a.gdz", packed());
  const Outcome whole = run({"decompress", "--salvage", "--rm", "-v", "a.gdz", "-o", "b"});
  EXPECT_EQ(whole.exit_status, 0);
  EXPECT_TRUE(whole.err.starts_with("gdelta: a.gdz: " + std::to_string(packed().size()) +
                                    " to 40960 bytes"))
      << whole.err;
  EXPECT_EQ(names(), (Names{"b"}));
  write_file("c.gdz", damaged());
  EXPECT_EQ(run({"decompress", "-q", "--salvage", "--rm", "c.gdz"}).exit_status, 2);
  EXPECT_EQ(names(), (Names{"b", "c", "c.gdz"}));
}

TEST_F(SalvageCommand, FillKeepsWhatFollowsBytesThatCameInOrWentAtItsPlace) {
  const std::string whole = packed();
  const std::size_t middle = whole.size() / 2;
  for (const std::string& stream : {whole.substr(0, middle) + '\r' + whole.substr(middle),
                                    whole.substr(0, middle) + whole.substr(middle + 2000),
                                    whole.substr(0, 20) + 'x' + whole.substr(20)}) {
    write_file("a.gdz", stream);
    const Outcome outcome = run({"decompress", "--salvage", "--fill", "-f", "a.gdz"});
    EXPECT_EQ(outcome.exit_status, 2);
    const std::string saved = read_file("a");
    ASSERT_EQ(saved.size(), bytes_.size()) << outcome.err;
    std::size_t kept = 0;
    for (std::size_t at = 0; at < saved.size(); at += 4096) {
      const bool is_there = saved.substr(at, 4096) == bytes_.substr(at, 4096);
      kept += is_there ? 1 : 0;
      EXPECT_TRUE(is_there || saved.substr(at, 4096) == std::string(4096, '\0')) << at;
    }
    EXPECT_GE(kept, 7u);
    EXPECT_NE(outcome.err.find(" kept " + std::to_string(kept) + " of 10 chunks"),
              std::string::npos)
        << outcome.err;
  }
}

TEST_F(SalvageCommand, FillGoesWithSalvage) {
  write_file("a.gdz", packed());
  const Outcome outcome = run({"decompress", "--fill", "a.gdz"});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_NE(outcome.err.find("--salvage"), std::string::npos) << outcome.err;
  EXPECT_FALSE(exists("a"));
}

TEST_F(SalvageCommand, AnOutputBeyondItsLimitIsRefusedAndLeavesNothing) {
  write_file("a.gdz", packed());
  for (const char* command : {"decompress", "test", "cat"}) {
    const Outcome refused = run({command, "--max-output", "39K", "a.gdz"});
    EXPECT_EQ(refused.exit_status, 1) << command;
    EXPECT_NE(refused.err.find("--max-output"), std::string::npos) << refused.err;
    EXPECT_EQ(run({command, "--max-output", "40K", "a.gdz"}).exit_status, 0) << command;
  }
  const Outcome part = run({"cat", "--range", "0:5000", "--max-output", "4999", "a.gdz"});
  EXPECT_EQ(part.exit_status, 1);
  EXPECT_NE(part.err.find("--max-output"), std::string::npos) << part.err;
  std::filesystem::remove(path("a"));
  EXPECT_EQ(run({"decompress", "--max-output", "1", "a.gdz"}).exit_status, 1);
  EXPECT_EQ(names(), (std::vector<std::string>{"a.gdz"}));
}

TEST_F(SalvageCommand, CompressKeepsAMemoryLimitAndWritesTheSameBytes) {
  const std::string free = run({"compress", "-q", "--type", "i16"}, bytes_).out;
  EXPECT_TRUE(run({"compress", "-q", "--type", "i16", "-M", "64M"}, bytes_).out == free);
  const Outcome refused = run({"compress", "-q", "--type", "i16", "-M", "1M"}, bytes_);
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_NE(refused.err.find("memory limit"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("-M"), std::string::npos) << refused.err;
  EXPECT_EQ(refused.out, "");
}

TEST_F(SalvageCommand, MemoryIsToldAsLimitsAreGiven) {
  const Outcome refused = run({"compress", "-q", "--type", "i16", "-M", "1M"}, bytes_);
  const std::size_t said = refused.err.find(" at this level takes ");
  ASSERT_NE(said, std::string::npos) << refused.err;
  std::uint64_t needed = 0;
  EXPECT_EQ(std::sscanf(refused.err.c_str() + said,
                        " at this level takes %" SCNu64 " MiB, more than", &needed),
            1)
      << refused.err;
  EXPECT_NE(refused.err.find(" the memory limit of 1 MiB: "), std::string::npos) << refused.err;
  const std::string limit = std::to_string(needed) + "M";
  EXPECT_EQ(run({"compress", "-q", "--type", "i16", "-M", limit}, bytes_).exit_status, 0);
}

}  // namespace
}  // namespace gdelta::cli_test
