// --rm removes what was compressed, when its output is on the disk, and nothing else.
#include "command_runner.h"

namespace gdelta::cli_test {
namespace {

class RemoveInput : public CommandTest {
 protected:
  RemoveInput() { write_file("a", bytes_); }
  const std::string bytes_ = sensor_bytes(1000);
};

TEST_F(RemoveInput, ADeviceOrFifoIsNoCopyOfTheInput) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  const int reader = open(path("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  run({"compress", "-q", "-o", "b.gdz", "a"});
  for (const std::string output : {"/dev/null", "fifo"}) {
    for (const auto& [command, input] :
         {std::pair<std::string, std::string>{"compress", "a"}, {"decompress", "b.gdz"}}) {
      const Outcome outcome = run({command, "--rm", "-o", output, input});
      EXPECT_NE(outcome.exit_status, 0) << command << ' ' << output;
      EXPECT_NE(outcome.err, "") << command << ' ' << output;
      EXPECT_EQ(names(), (Names{"a", "b.gdz", "fifo"}));
    }
  }
  EXPECT_TRUE(read_file("a") == bytes_);
  close(reader);
}

TEST_F(RemoveInput, KeepUndoesIt) {
  EXPECT_EQ(run({"compress", "-q", "--rm", "-k", "a"}).exit_status, 0);
  EXPECT_EQ(names(), (Names{"a", "a.gdz"}));
  EXPECT_EQ(run({"decompress", "-f", "--rm", "--keep", "a.gdz"}).exit_status, 0);
  EXPECT_EQ(names(), (Names{"a", "a.gdz"}));
}

TEST_F(RemoveInput, AnInputThatMayNotBeRemovedIsKeptWithAWarning) {
  std::filesystem::create_directory(path("locked"));
  std::filesystem::create_directory(path("open"));
  write_file("locked/a", bytes_);
  chmod(path("locked").c_str(), 0555);
  chmod(path("open").c_str(), 0777);
  chmod(folder_.c_str(), 0755);
  const Outcome outcome =
      start({"compress", "-q1", "--rm", "-o", "open/a.gdz", "locked/a"}, become_nobody).finish();
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_EQ(outcome.err, "");
  const Outcome told =
      start({"compress", "-1f", "--type", "i16", "--rm", "-o", "open/a.gdz", "locked/a"},
            become_nobody)
          .finish();
  EXPECT_EQ(told.exit_status, 2);
  EXPECT_EQ(told.err, "gdelta: locked/a: warning: kept: Permission denied\n");
  EXPECT_TRUE(read_file("locked/a") == bytes_);
  EXPECT_TRUE(exists("open/a.gdz"));
  chmod(path("locked").c_str(), 0755);
}

TEST_F(RemoveInput, StdinIsNotRemoved) {
  EXPECT_EQ(run({"compress", "-q", "--rm", "-o", "out.gdz"}, bytes_).exit_status, 0);
  const auto from_file = [this] { dup2(open(path("a").c_str(), O_RDONLY), STDIN_FILENO); };
  EXPECT_EQ(start({"compress", "-qf", "--rm", "-o", "out.gdz"}, from_file).finish().exit_status, 0);
  EXPECT_EQ(names(), (Names{"a", "out.gdz"}));
}

TEST_F(RemoveInput, AFifoIsTakenWithForceAndKept) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  Running running = start({"compress", "-qf", "--rm", "fifo"});
  write_file("fifo", bytes_);  // waits for the reader
  EXPECT_NE(running.finish().exit_status, 1);
  EXPECT_TRUE(std::filesystem::is_fifo(path("fifo")));
  EXPECT_TRUE(run({"decompress", "-c", "fifo.gdz"}).out == bytes_);
}

#ifdef GDELTA_WATCHED_CALLS

/// Runs commands with watched_calls.cpp preloaded.
class WatchedRemoveInput : public RemoveInput {
 protected:
  Running start_watched(const Names& arguments, const char* variable, const std::string& name) {
    return start(arguments, [this, variable, name] {
      setenv("LD_PRELOAD", GDELTA_WATCHED_CALLS, 1);
      setenv(variable, path(name).c_str(), 1);
    });
  }
  /// Lets `act` happen while the command waits for the disk.
  Outcome run_and_act_before_removal(const Names& arguments, const std::function<void()>& act) {
    mkfifo(path("gate").c_str(), 0600);
    Running running = start_watched(arguments, "GDELTA_WATCH_GATE", "gate");
    int gate = -1;
    EXPECT_TRUE(wait_until([&] {
      gate = open(path("gate").c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
      return gate >= 0;  // the command is at the other end
    }));
    act();
    close(gate);
    Outcome outcome = running.finish();
    std::filesystem::remove(path("gate"));
    return outcome;
  }
};

TEST_F(WatchedRemoveInput, TheOutputIsOnTheDiskAndInItsPlaceBefore) {
  run({"compress", "-q", "-o", "c.gdz", "a"});
  write_file("b", bytes_);
  for (const auto& [input, output, arguments] :
       {std::tuple<std::string, std::string, Names>{"a", "a.gdz", {"compress", "-q", "--rm", "a"}},
        {"b", "b.gdz", {"compress", "-qf", "--rm", "b"}},
        {"c.gdz", "c", {"decompress", "-q", "--rm", "c.gdz"}}}) {
    EXPECT_EQ(start_watched(arguments, "GDELTA_WATCH_LOG", "log").finish().exit_status, 0);
    const std::string log = read_file("log");
    const std::string fsync_of = log.substr(0, log.find('\n'));
    ASSERT_TRUE(fsync_of.starts_with("fsync ")) << log;
    const std::string unfinished = fsync_of.substr(6);
    const std::size_t renamed = log.find("rename " + unfinished + " " + output + "\n");
    const std::size_t removed = log.find("unlink " + input + "\n");
    ASSERT_NE(renamed, std::string::npos) << log;
    ASSERT_NE(removed, std::string::npos) << log;
    EXPECT_LT(renamed, removed) << log;
    std::filesystem::remove(path("log"));
  }
}

TEST_F(WatchedRemoveInput, AnotherFileThatTookTheNameIsKept) {
  write_file("newer", "newer bytes");
  const Outcome outcome =
      run_and_act_before_removal({"compress", "-q", "--rm", "-o", "out.gdz", "a"},
                                 [this] { std::filesystem::rename(path("newer"), path("a")); });
  EXPECT_NE(outcome.exit_status, 0);
  EXPECT_EQ(names(), (Names{"a", "out.gdz"}));
  EXPECT_EQ(read_file("a"), "newer bytes");
  EXPECT_TRUE(run({"decompress", "-c", "out.gdz"}).out == bytes_);
}

TEST_F(WatchedRemoveInput, ALinkThatTookTheNameIsKept) {
  const Outcome outcome =
      run_and_act_before_removal({"compress", "-q", "--rm", "-o", "out.gdz", "a"}, [this] {
        std::filesystem::rename(path("a"), path("moved"));
        std::filesystem::create_symlink("moved", path("a"));
      });
  EXPECT_NE(outcome.exit_status, 0);
  EXPECT_EQ(names(), (Names{"a", "moved", "out.gdz"}));
}

TEST_F(WatchedRemoveInput, AnInputWhoseOutputIsDamagedIsKept) {
  const Outcome outcome =
      start_watched({"compress", "-q", "--rm", "a"}, "GDELTA_WATCH_DAMAGE", "any").finish();
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_TRUE(outcome.err.starts_with("gdelta: a.gdz: chunk 0, byte ")) << outcome.err;
  EXPECT_TRUE(read_file("a") == bytes_);
}

TEST_F(WatchedRemoveInput, AnInputWhoseOutputGivesOtherBytesIsKept) {
  for (const std::string& other : {bytes_.substr(0, 1000), bytes_ + "more", sensor_bytes(500)}) {
    const std::string stream = run({"compress", "-qc"}, other).out;
    const Outcome outcome =
        run_and_act_before_removal({"compress", "-qf", "--rm", "-o", "out.gdz", "a"}, [&] {
          for (const std::string& name : names())
            if (name.starts_with(".out.gdz.")) write_file(name, stream);
        });
    EXPECT_EQ(outcome.exit_status, 1);
    EXPECT_TRUE(outcome.err.starts_with(
        "gdelta: out.gdz: read again, it differs from its input at decoded byte "))
        << outcome.err;
    EXPECT_EQ(names(), (Names{"a", "out.gdz"}));
    EXPECT_TRUE(read_file("a") == bytes_);
  }
}

#else

TEST_F(RemoveInput, TheOutputIsOnTheDiskAndInItsPlaceBefore) {
  GTEST_SKIP() << "a build with AddressSanitizer takes no library before it";
}

#endif

}  // namespace
}  // namespace gdelta::cli_test
