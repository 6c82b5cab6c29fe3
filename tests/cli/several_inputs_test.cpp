// Several inputs whose outputs are joined on stdout, when one of them or stdout itself fails.
#include <stdlib.h>
#include <termios.h>

#include <thread>

#include "command_runner.h"

namespace gdelta::cli_test {
namespace {

class SeveralInputs : public CommandTest {
 protected:
  SeveralInputs() {
    write_file("a", sensor_bytes(1000));
    write_file("b", sensor_bytes(2000));
  }
  std::string packed(const std::string& name) { return run({"compress", "-qc", name}).out; }
};

TEST_F(SeveralInputs, OneThatCannotBeReadAtAllIsLeftOut) {
  const Outcome outcome = run({"compress", "-qc", "a", "missing", "b"});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_TRUE(outcome.out == packed("a") + packed("b"));
}

/// An input that gives `bytes` and then fails: a terminal's outer side, after its inner side closed.
class FailingInput {
 public:
  FailingInput() : outside_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    grantpt(outside_);
    unlockpt(outside_);
    inside_ = open(ptsname(outside_), O_RDWR | O_NOCTTY | O_CLOEXEC);
    termios settings = {};
    tcgetattr(inside_, &settings);
    cfmakeraw(&settings);
    tcsetattr(inside_, TCSANOW, &settings);
  }
  ~FailingInput() { close(outside_); }
  bool is_there() const { return inside_ >= 0; }
  void become_stdin() const { dup2(outside_, STDIN_FILENO); }
  void give(const std::string& bytes) {
    std::size_t given = 0;
    while (given < bytes.size()) {
      const ssize_t put = write(inside_, bytes.data() + given, bytes.size() - given);
      if (put <= 0) break;
      given += static_cast<std::size_t>(put);
    }
    close(std::exchange(inside_, -1));
  }

 private:
  int outside_;
  int inside_ = -1;
};

TEST_F(SeveralInputs, NothingFollowsAnUnfinishedStream) {
  FailingInput failing;
  if (!failing.is_there()) GTEST_SKIP() << "there are no pseudo-terminals here";
  // More than one thread's two batches, which is what the command keeps back before it writes.
  const std::string given((33 << 20), 'x');
  const auto packed_raw = [](const Names& files) {
    Names arguments = {"compress", "-q", "-c", "-T1", "--type", "u8", "--coder", "raw"};
    arguments.insert(arguments.end(), files.begin(), files.end());
    return arguments;
  };
  Running running = start(packed_raw({"a", "-", "b"}), [&] { failing.become_stdin(); });
  std::thread feed([&] { failing.give(given); });
  const Outcome outcome = running.finish();
  feed.join();
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  const std::string first = run(packed_raw({"a"})).out;
  const std::string last = run(packed_raw({"b"})).out;
  ASSERT_GT(outcome.out.size(), first.size() + last.size()) << "the stream was not begun";
  EXPECT_TRUE(outcome.out.starts_with(first));
  EXPECT_FALSE(outcome.out.ends_with(last));
}

TEST_F(SeveralInputs, AFullStdoutIsSaidOnce) {
  run({"compress", "-q", "a", "b"});
  for (const Names& arguments :
       {Names{"compress", "-qc", "a", "b"}, Names{"decompress", "-c", "a.gdz", "b.gdz"}}) {
    const Outcome outcome =
        start(arguments, [] { dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO); }).finish();
    EXPECT_EQ(outcome.exit_status, 1) << arguments[0];
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST_F(SeveralInputs, OfSeveralDecompressedOneThatIsDamagedDoesNotStopTheRest) {
  run({"compress", "-q", "a", "b"});
  write_file("damaged.gdz", "this was never compressed");
  const Outcome outcome = run({"decompress", "-c", "a.gdz", "damaged.gdz", "missing", "b.gdz"});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_TRUE(outcome.out == sensor_bytes(1000) + sensor_bytes(2000));
}

}  // namespace
}  // namespace gdelta::cli_test
