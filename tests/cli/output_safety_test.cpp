// Full disks, closed pipes, terminals and signals: an error and nothing left behind.
#include <chrono>
#include <thread>

#include "command_runner.h"
#include "terminal.h"

namespace gdelta::cli_test {
namespace {

using namespace std::chrono_literals;

class OutputSafety : public CommandTest {
 protected:
  /// Waits until the command has made its temporary file.
  bool wait_for_temporary() const {
    for (int i = 0; i < 500; ++i) {
      for (const std::string& name : names())
        if (name.rfind(".out", 0) == 0) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }
};

TEST_F(OutputSafety, StdoutThatIsTheInputIsRefused) {
  write_file("a", sensor_bytes(1000));
  ASSERT_EQ(run({"compress", "-q", "a"}).exit_status, 0);
  struct Case {
    Names arguments;
    std::string file;
  };
  for (const Case& of :
       {Case{{"compress", "-1q", "--type", "u8", "-c", "a"}, "a"}, Case{{"compress", "-q"}, "a"},
        Case{{"decompress", "-c", "a.gdz"}, "a.gdz"}, Case{{"cat", "a.gdz"}, "a.gdz"},
        Case{{"cat", "--range", "0:9", "-"}, "a.gdz"}}) {
    const std::string& file = of.file;
    const Names& arguments = of.arguments;
    const std::string before = read_file(file);
    const Outcome outcome = start(arguments, [&] {
                              dup2(open(path(file).c_str(), O_RDONLY), STDIN_FILENO);
                              dup2(open(path(file).c_str(), O_WRONLY | O_APPEND), STDOUT_FILENO);
                            }).finish();
    EXPECT_EQ(outcome.exit_status, 1) << arguments[0];
    EXPECT_EQ(outcome.err, "gdelta: (stdout): is the input itself\n") << arguments[0];
    EXPECT_TRUE(read_file(file) == before) << arguments[0];
  }
}

TEST_F(OutputSafety, AFullDiskIsAnErrorBothWays) {
  write_file("a", sensor_bytes(50000));
  const Outcome packed = run({"compress", "-q", "-o", "/dev/full", "a"});
  EXPECT_EQ(packed.exit_status, 1);
  EXPECT_EQ(packed.err, "gdelta: /dev/full: No space left on device\n");
  ASSERT_EQ(run({"compress", "-q", "a"}).exit_status, 0);
  for (const Names& arguments :
       {Names{"decompress", "-c", "a.gdz"}, Names{"cat", "a.gdz"}, Names{"list", "a.gdz"},
        Names{"list", "--json", "a.gdz"}, Names{"--help"}, Names{"--version"},
        Names{"compress", "--help"}, Names{"devices"}, Names{"bench", "-1", "--json", "a"},
        Names{"bench", "-1", "--device", "cpu", "a"}}) {
    const Outcome outcome =
        start(arguments, [] { dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO); }).finish();
    EXPECT_EQ(outcome.exit_status, 1) << arguments[0];
    EXPECT_EQ(outcome.err, "gdelta: (stdout): No space left on device\n") << arguments[0];
  }
}

TEST_F(OutputSafety, AFileThatGrowsTooLargeIsAnErrorAndGone) {
  write_file("a", random_bytes(500000));
  write_file("a.gdz", "precious");
  const auto limit_files = [] {
    const rlimit limit = {100000, 100000};
    setrlimit(RLIMIT_FSIZE, &limit);
  };
  const Outcome outcome = start({"compress", "-qf", "a"}, limit_files).finish();
  EXPECT_EQ(outcome.exit_status, 1) << outcome.signal_number;
  EXPECT_EQ(outcome.err, "gdelta: a.gdz: File too large\n");
  EXPECT_EQ(names(), (Names{"a", "a.gdz"}));
  EXPECT_EQ(read_file("a.gdz"), "precious");

  ASSERT_EQ(run({"compress", "-qf", "--coder", "raw", "a"}).exit_status, 0);
  EXPECT_EQ(start({"decompress", "-o", "b", "a.gdz"}, limit_files).finish().exit_status, 1);
  EXPECT_EQ(names(), (Names{"a", "a.gdz"}));
}

TEST_F(OutputSafety, AFolderWithoutWriteRightsIsAnError) {
  write_file("a", sensor_bytes(10));
  chmod(folder_.c_str(), 0555);
  const Outcome outcome = start({"compress", "-q", "a"}, become_nobody).finish();
  chmod(folder_.c_str(), 0700);
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.err, "gdelta: a.gdz: Permission denied\n");
}

TEST_F(OutputSafety, AClosedPipeEndsTheCommandBySigpipeQuietly) {
  write_file("a", random_bytes(3000000));
  ASSERT_EQ(run({"compress", "-q", "a"}).exit_status, 0);
  for (const Names& arguments :
       {Names{"compress", "-qc", "a"}, Names{"decompress", "-c", "a.gdz"}, Names{"cat", "a.gdz"}}) {
    Running running = start(arguments);
    running.close_stdout();
    const Outcome outcome = running.finish();
    EXPECT_EQ(outcome.signal_number, SIGPIPE) << arguments[0] << outcome.exit_status;
    EXPECT_EQ(outcome.err, "") << arguments[0];
  }
}

TEST_F(OutputSafety, TheInputIsNeverTheOutput) {
  write_file("a", sensor_bytes(10));
  std::filesystem::create_hard_link(path("a"), path("b"));
  for (const char* output : {"a", "./a", "b"}) {
    const Outcome outcome = run({"compress", "-f", "-o", output, "a"});
    EXPECT_EQ(outcome.exit_status, 1);
    EXPECT_NE(outcome.err.find("is the input itself"), std::string::npos) << outcome.err;
  }
  EXPECT_TRUE(read_file("a") == sensor_bytes(10));
}

TEST_F(OutputSafety, ADirectoryAndADanglingLinkAreNotOverwritten) {
  write_file("a", sensor_bytes(10));
  std::filesystem::create_directory(path("folder"));
  std::filesystem::create_symlink("nowhere", path("link"));
  EXPECT_EQ(run({"compress", "-qf", "-o", "folder", "a"}).exit_status, 1);
  EXPECT_EQ(run({"compress", "-q", "-o", "link", "a"}).exit_status, 1);
  EXPECT_EQ(run({"compress", "-q", "-o", "missing/b", "a"}).exit_status, 1);
  EXPECT_EQ(names(), (Names{"a", "folder", "link"}));
}

TEST_F(OutputSafety, SignalsRemoveTheUnfinishedFile) {
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
    write_file("out.gdz", "precious");
    Running running = start({"compress", "-qf", "-o", "out.gdz"});
    running.write_to_stdin(random_bytes(60000));
    ASSERT_TRUE(wait_for_temporary());
    ASSERT_EQ(kill(running.pid(), number), 0);
    const Outcome outcome = running.finish();
    EXPECT_EQ(outcome.signal_number, number);
    EXPECT_EQ(names(), (Names{"out.gdz"}));
    EXPECT_EQ(read_file("out.gdz"), "precious");
  }
}

TEST_F(OutputSafety, AnIgnoredSignalStaysIgnored) {
  Running running = start({"compress", "-q", "-o", "out.gdz"}, [] { signal(SIGHUP, SIG_IGN); });
  running.write_to_stdin("bytes");
  ASSERT_TRUE(wait_for_temporary());
  kill(running.pid(), SIGHUP);
  EXPECT_EQ(running.finish().exit_status, 0);
  EXPECT_EQ(names(), (Names{"out.gdz"}));
}

TEST_F(OutputSafety, CompressedBytesDoNotGoToATerminal) {
  const Terminal terminal;
  if (terminal.inside < 0) GTEST_SKIP() << "there are no pseudo-terminals here";
  write_file("a", sensor_bytes(10));
  const auto to_terminal = [&] { dup2(terminal.inside, STDOUT_FILENO); };
  for (const Names& arguments : {Names{"compress"}, Names{"compress", "-c", "a"}}) {
    const Outcome outcome = start(arguments, to_terminal).finish("bytes");
    EXPECT_EQ(outcome.exit_status, 1);
    EXPECT_EQ(outcome.err,
              "gdelta: (stdout): compressed bytes do not go to a terminal (-f sends them)\n");
  }
  EXPECT_EQ(terminal.written(), "");
  EXPECT_EQ(start({"compress", "-qcf", "a"}, to_terminal).finish().exit_status, 0);
  EXPECT_NE(terminal.written(), "");
  const Outcome from_terminal =
      start({"decompress"}, [&] { dup2(terminal.inside, STDIN_FILENO); }).finish();
  EXPECT_EQ(from_terminal.exit_status, 1);
}

TEST_F(OutputSafety, ProgressIsShownOnATerminalAlone) {
  for (const bool quiet : {false, true}) {
    const Terminal terminal;
    if (terminal.inside < 0) GTEST_SKIP() << "there are no pseudo-terminals here";
    Running running = start({"compress", quiet ? "-q" : "-v", "--type", "u8"},
                            [&] { dup2(terminal.inside, STDERR_FILENO); });
    for (int i = 0; i < 3; ++i) {
      running.write_to_stdin(random_bytes(5000));
      std::this_thread::sleep_for(200ms);
    }
    EXPECT_EQ(running.finish().exit_status, 0);
    const std::string shown = terminal.written();
    EXPECT_EQ(shown.find("\r(stdin): ") != std::string::npos, !quiet) << shown;
  }
}

}  // namespace
}  // namespace gdelta::cli_test
