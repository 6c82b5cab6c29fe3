// A command whose caller has closed stdin, stdout or stderr, in every combination: no file takes the
// place of what was closed, so that no message and no data lands in it.
#include "command_runner.h"

namespace gdelta::cli_test {
namespace {

constexpr unsigned kAllCombinations = 8;  // bit N: descriptor N is closed

class StandardDescriptors : public CommandTest {
 protected:
  StandardDescriptors() {
    write_file("a", bytes_);
    run({"compress", "-q", "a"});
    packed_ = read_file("a.gdz");
  }
  Outcome run_without(unsigned closed, const Names& arguments) {
    return start(arguments,
                 [closed] {
                   for (int fd = 0; fd < 3; ++fd)
                     if ((closed >> fd & 1) != 0) close(fd);
                 })
        .finish();
  }
  void expect_untouched(unsigned closed, const Names& expected_names) {
    EXPECT_EQ(names(), expected_names) << closed;
    EXPECT_TRUE(read_file("a") == bytes_) << closed;
    EXPECT_TRUE(read_file("a.gdz") == packed_) << closed;
  }
  const std::string bytes_ = sensor_bytes(20000);
  std::string packed_;
};

TEST_F(StandardDescriptors, OutputsAreWholeAndHoldNoMessages) {
  for (unsigned closed = 0; closed < kAllCombinations; ++closed) {
    // Both have something to say on stderr.
    EXPECT_EQ(run_without(closed, {"compress", "-f", "a"}).exit_status, 0) << closed;
    EXPECT_EQ(run_without(closed, {"decompress", "-vf", "-o", "b", "a.gdz"}).exit_status, 0)
        << closed;
    EXPECT_TRUE(read_file("b") == bytes_) << closed;
    EXPECT_EQ(run_without(closed, {"test", "-v", "a.gdz"}).exit_status, 0) << closed;
    expect_untouched(closed, {"a", "a.gdz", "b"});
  }
}

TEST_F(StandardDescriptors, ErrorsAreErrorsThoughNobodyCanBeTold) {
  for (unsigned closed = 0; closed < kAllCombinations; ++closed) {
    EXPECT_EQ(run_without(closed, {"compress", "missing"}).exit_status, 1) << closed;
    EXPECT_EQ(run_without(closed, {"compress", "a"}).exit_status, 1) << closed;  // it exists
    EXPECT_EQ(run_without(closed, {"frobnicate"}).exit_status, 1) << closed;
    expect_untouched(closed, {"a", "a.gdz"});
  }
}

TEST_F(StandardDescriptors, AClosedStdoutIsAnErrorOfWhatWritesThere) {
  for (unsigned closed = 0; closed < kAllCombinations; ++closed) {
    if ((closed & 2) == 0) continue;
    for (const Names& arguments :
         {Names{"compress", "-c", "a"}, Names{"decompress", "-c", "a.gdz"}, Names{"cat", "a.gdz"},
          Names{"list", "a.gdz"}, Names{"list", "--json", "a.gdz"}, Names{"devices"},
          Names{"--help"}, Names{"--version"}, Names{"list", "--help"}}) {
      EXPECT_EQ(run_without(closed, arguments).exit_status, 1) << arguments[0] << ' ' << closed;
      expect_untouched(closed, {"a", "a.gdz"});
    }
  }
}

TEST_F(StandardDescriptors, AClosedStdinIsEmptyOrAnError) {
  for (unsigned closed = 1; closed < kAllCombinations; closed += 2) {
    run_without(closed, {"compress", "-q", "-o", "b", "-"});
    if (exists("b")) {
      EXPECT_EQ(run({"decompress", "-c", "b"}).out, "") << closed;
      std::filesystem::remove(path("b"));
    }
    EXPECT_EQ(run_without(closed, {"decompress", "-o", "b", "-"}).exit_status, 1) << closed;
    expect_untouched(closed, {"a", "a.gdz"});
  }
}

}  // namespace
}  // namespace gdelta::cli_test
