// Who may do what with an output, while it is written and afterwards.
#include <grp.h>

#include "command_runner.h"

namespace gdelta::cli_test {
namespace {

class OutputMode : public CommandTest {};

TEST_F(OutputMode, OfWhatComesFromStdinFollowsTheUmask) {
  for (const mode_t mask : {0022, 0027, 0077, 0}) {
    const auto with_mask = [mask] { umask(mask); };
    EXPECT_EQ(start({"compress", "-qf", "-o", "a.gdz"}, with_mask).finish("bytes").exit_status, 0);
    EXPECT_EQ(mode_of("a.gdz"), 0666 & ~mask);
    const Outcome back =
        start({"decompress", "-qf", "-o", "a"}, with_mask).finish(read_file("a.gdz"));
    EXPECT_EQ(back.exit_status, 0) << back.err;
    EXPECT_EQ(mode_of("a"), 0666 & ~mask);
  }
}

TEST_F(OutputMode, OfWhatComesFromAFifoFollowsTheUmask) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  Running running = start({"compress", "-q", "-o", "out.gdz", "fifo"}, [] { umask(0022); });
  write_file("fifo", "bytes");  // waits for the reader
  EXPECT_EQ(running.finish().exit_status, 0);
  EXPECT_EQ(mode_of("out.gdz"), 0644u);
}

TEST_F(OutputMode, NobodyElseReadsAnUnfinishedFile) {
  for (const Names& arguments :
       {Names{"compress", "-q", "-o", "out"}, Names{"decompress", "-q", "-o", "out"}}) {
    Running running = start(arguments, [] { umask(0); });
    const std::string unfinished = wait_for_new_name({});
    ASSERT_NE(unfinished, "");
    EXPECT_EQ(mode_of(unfinished) & 077, 0u) << arguments[0];
    running.finish();
    std::filesystem::remove(path("out"));
  }
}

TEST_F(OutputMode, RightsToBecomeSomebodyElseAreNotPassedOn) {
  for (const mode_t special : {04000, 02000, 01000}) {
    write_file("a", sensor_bytes(100));
    ASSERT_EQ(chmod(path("a").c_str(), special | 0755), 0);
    ASSERT_EQ(mode_of("a"), special | 0755);
    EXPECT_EQ(run({"compress", "-qf", "a"}).exit_status, 0);
    EXPECT_EQ(mode_of("a.gdz"), 0755u);
    ASSERT_EQ(chmod(path("a.gdz").c_str(), special | 0711), 0);
    EXPECT_EQ(run({"decompress", "-qf", "-o", "b", "a.gdz"}).exit_status, 0);
    EXPECT_EQ(mode_of("b"), 0711u);
  }
}

TEST_F(OutputMode, TheOwnerIsThatOfTheInputWhereTheSystemAllowsIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  write_file("a", sensor_bytes(100));
  ASSERT_EQ(chown(path("a").c_str(), 1234, 2345), 0);
  ASSERT_EQ(run({"compress", "-q", "a"}).exit_status, 0);
  ASSERT_EQ(run({"decompress", "-o", "b", "a.gdz"}).exit_status, 0);
  for (const char* name : {"a.gdz", "b"}) {
    struct stat status = {};
    ASSERT_EQ(stat(path(name).c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, 1234u) << name;
    EXPECT_EQ(status.st_gid, 2345u) << name;
  }
}

TEST_F(OutputMode, AGroupThatCannotBeGivenGetsNoRightsOfTheInputsGroup) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a file that belongs to another group";
  chmod(folder_.c_str(), 0777);
  write_file("a", sensor_bytes(100));
  const auto become_nobody_of_no_group = [] {
    if (setgroups(0, nullptr) != 0 || setgid(65534) != 0) _exit(125);
    become_nobody();
  };
  for (const auto& [input, output] :
       {std::pair<mode_t, mode_t>{0674, 0644}, {0664, 0644}, {0604, 0600}, {0646, 0644}}) {
    ASSERT_EQ(chmod(path("a").c_str(), input), 0);
    std::filesystem::remove(path("a.gdz"));
    const Outcome outcome = start({"compress", "-q", "a"}, become_nobody_of_no_group).finish();
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    EXPECT_EQ(mode_of("a.gdz"), output) << std::oct << input;
  }
}

}  // namespace
}  // namespace gdelta::cli_test
