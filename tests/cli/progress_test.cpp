// What a terminal on stderr shows: how far a file is, then its sizes.
#include <chrono>
#include <regex>
#include <thread>

#include "command_runner.h"
#include "terminal.h"

namespace gdelta::cli_test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

class Progress : public CommandTest {
 protected:
  void SetUp() override {
    if (terminal_.inside < 0) GTEST_SKIP() << "there are no pseudo-terminals here";
  }
  Running start_watched(const Names& arguments) {
    return start(arguments, [this] { dup2(terminal_.inside, STDERR_FILENO); });
  }
  /// Bytes that no coder makes smaller, so that a pipe nobody reads holds the work up.
  static std::string many_random_bytes() {
    const std::string piece = random_bytes(kMiB);
    std::string bytes;
    for (int i = 0; i < 40; ++i) bytes += piece;
    return bytes;
  }
  static bool shows(const std::string& text, const char* pattern) {
    return std::regex_search(text, std::regex(pattern));
  }
  Terminal terminal_;
};

TEST_F(Progress, CountsBytesThatAreCodedNotThoseThatAreRead) {
  write_file("a", many_random_bytes());
  Running running =
      start_watched({"compress", "-1c", "-T1", "--type", "u8", "--coder", "raw", "a"});
  // The output is stuck after a part; all the same the line moves.
  const char* part = "\ra: [1-9][0-9.]* MiB of 40\\.0 MiB, [1-9][0-9] %, [0-9.]+ .iB/s, 0:01";
  const std::string stuck =
      terminal_.written_until([&](const std::string& text) { return shows(text, part); });
  EXPECT_TRUE(shows(stuck, part)) << stuck;
  EXPECT_TRUE(shows(stuck, "\\([0-9:]+ left\\)")) << stuck;
  EXPECT_FALSE(shows(stuck, " 100 %")) << stuck;
  EXPECT_EQ(running.finish().exit_status, 0);
  EXPECT_TRUE(shows(terminal_.written(), "40\\.0 MiB of 40\\.0 MiB, 100 %"));
}

TEST_F(Progress, KnowsHowMuchThereIsToDecode) {
  write_file("a.gdz",
             run({"compress", "-q1", "--type", "u8", "--coder", "raw"}, random_bytes(kMiB)).out);
  Running running = start_watched({"decompress", "-c", "a.gdz"});
  const std::string stuck = terminal_.written_until([&](const std::string& text) {
    return shows(text, "\ra\\.gdz: [0-9.]+ .?i?B of 1\\.0 MiB, ");
  });
  EXPECT_TRUE(shows(stuck, "\ra\\.gdz: [0-9.]+ .?i?B of 1\\.0 MiB, ")) << stuck;
  EXPECT_EQ(running.finish().exit_status, 0);
  const std::string ended = stuck + terminal_.written();
  EXPECT_TRUE(shows(ended, "1\\.0 MiB of 1\\.0 MiB, 100 %")) << ended;
}

TEST_F(Progress, MovesWhileNothingComesFromAPipe) {
  Running running = start_watched({"compress", "--type", "u8"});
  running.write_to_stdin("bytes");
  const std::string shown = terminal_.written_until(
      [&](const std::string& text) { return shows(text, "\r\\(stdin\\): 0 B, 0:01"); });
  EXPECT_TRUE(shows(shown, "\r\\(stdin\\): 0 B, 0:00")) << shown;
  EXPECT_TRUE(shows(shown, "\r\\(stdin\\): 0 B, 0:01")) << shown;
  EXPECT_EQ(running.finish().exit_status, 0);
  EXPECT_TRUE(terminal_.written().ends_with("\r\x1b[K")) << "the line stays behind";
}

TEST_F(Progress, ALineFitsTheTerminal) {
  const std::string name(200, 'n');
  write_file(name, many_random_bytes());
  Running running =
      start_watched({"compress", "-1c", "-T1", "--type", "u8", "--coder", "raw", name});
  const std::string shown = terminal_.written_until(
      [&](const std::string& text) { return shows(text, "of 40\\.0 MiB[^\r]*\x1b\\[K"); });
  EXPECT_TRUE(shows(shown, "\r\\.\\.\\.n+: [^\r]{1,70}\x1b\\[K")) << shown;
  EXPECT_FALSE(shows(shown, "n{80}")) << shown;
  EXPECT_EQ(running.finish().exit_status, 0);
}

TEST_F(Progress, SizesAndTheirSumAreToldOnATerminal) {
  write_file("a", sensor_bytes(20000));
  write_file("b", std::string(1000, 'x'));
  EXPECT_EQ(
      start_watched({"compress", "--type", "i16", "--tuple", "2", "a", "b"}).finish().exit_status,
      0);
  const std::string packed = terminal_.written();
  EXPECT_TRUE(
      shows(packed, "gdelta: a: 78\\.1 KiB to [0-9.]+ KiB, ratio [0-9.]+; i16x2 \\(given\\)\r\n"))
      << packed;
  EXPECT_TRUE(shows(packed, "gdelta: 2 files: 79\\.1 KiB to [0-9.]+ KiB, ratio [0-9.]+\r\n"))
      << packed;
  EXPECT_EQ(start_watched({"decompress", "-f", "a.gdz", "b.gdz"}).finish().exit_status, 0);
  const std::string back = terminal_.written();
  EXPECT_TRUE(shows(back, "gdelta: a\\.gdz: [0-9.]+ KiB to 78\\.1 KiB, ratio [0-9.]+\r\n")) << back;
  EXPECT_TRUE(shows(back, "gdelta: 2 files: [0-9.]+ KiB to 79\\.1 KiB, ratio")) << back;
}

TEST_F(Progress, WithoutATerminalOnlyVerboseRunsTellSizes) {
  write_file("a", sensor_bytes(20000));
  write_file("b", sensor_bytes(20000));
  EXPECT_EQ(run({"compress", "--type", "i16", "a", "b"}).err, "");
  EXPECT_NE(run({"compress", "-vf", "--type", "i16", "a", "b"})
                .err.find("gdelta: 2 files: 156.2 KiB to "),
            std::string::npos);
  EXPECT_EQ(run({"decompress", "-f", "a.gdz", "b.gdz"}).err, "");
  EXPECT_EQ(start_watched({"compress", "-qf", "a", "b"}).finish().exit_status, 0);
  EXPECT_EQ(terminal_.written(), "");
}

}  // namespace
}  // namespace gdelta::cli_test
