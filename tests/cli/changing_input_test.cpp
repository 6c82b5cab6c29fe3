// An input that grows or shrinks while it is read, as a log does.
#include "command_runner.h"

namespace gdelta::cli_test {
namespace {

class ChangingInput : public CommandTest {
 protected:
  ChangingInput() {
    write_file("log", bytes_);
    mkfifo(path("fifo").c_str(), 0600);
  }
  /// Lets `change` happen after the command has opened its input, while it waits for a reader of its
  /// output; what it wrote becomes stdout of the outcome.
  Outcome compress_while(const std::function<void()>& change) {
    Running running = start({"compress", "--type", "u8", "-o", "fifo", "log"});
    if (!wait_until([&] { return has_open(running.pid(), path("log")); })) {
      ADD_FAILURE() << "the input was never opened";
      return running.finish();
    }
    change();
    std::string written = read_file("fifo");
    Outcome outcome = running.finish();
    outcome.out = std::move(written);
    return outcome;
  }
  void expect_warning(const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_status, 2) << outcome.err;
    EXPECT_NE(outcome.err.find("gdelta: log: warning: "), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("length"), std::string::npos) << outcome.err;
  }
  const std::string bytes_ = random_bytes(100000);

 private:
  static bool has_open(pid_t pid, const std::filesystem::path& file) {
    std::error_code gone;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone))
      if (std::filesystem::read_symlink(entry, gone) == file) return true;
    return false;
  }
};

TEST_F(ChangingInput, OneThatGrowsIsAWarningAndNothingIsLost) {
  const Outcome outcome = compress_while(
      [&] { std::ofstream(path("log"), std::ios::binary | std::ios::app) << "one more line"; });
  expect_warning(outcome);
  EXPECT_TRUE(run({"decompress"}, outcome.out).out == bytes_ + "one more line");
}

TEST_F(ChangingInput, OneThatShrinksIsAWarningAndWhatIsThereIsKept) {
  const Outcome outcome =
      compress_while([&] { std::filesystem::resize_file(path("log"), bytes_.size() - 100); });
  expect_warning(outcome);
  const Outcome back = run({"decompress"}, outcome.out);
  EXPECT_EQ(back.exit_status, 0) << back.err;
  EXPECT_TRUE(back.out == bytes_.substr(0, bytes_.size() - 100));
}

TEST_F(ChangingInput, OneThatStaysIsNoWarning) {
  const Outcome outcome = compress_while([] {});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace gdelta::cli_test
