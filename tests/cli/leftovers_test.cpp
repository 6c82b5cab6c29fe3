// Unfinished outputs of killed processes go with the next run; nobody else's file does.
#include <chrono>
#include <thread>

#include "command_runner.h"

namespace gdelta::cli_test {
namespace {

using namespace std::chrono_literals;

class Leftovers : public CommandTest {
 protected:
  /// The temporary files there are, after waiting for the first.
  Names temporaries() const {
    for (int i = 0; i < 500; ++i) {
      Names found;
      for (const std::string& name : names())
        if (name.rfind(".out.gdz.", 0) == 0) found.push_back(name);
      if (!found.empty()) return found;
      std::this_thread::sleep_for(10ms);
    }
    return {};
  }
};

TEST_F(Leftovers, TheNextRunRemovesWhatAKilledOneLeft) {
  for (int i = 0; i < 2; ++i) {
    Running killed = start({"compress", "-qf", "-o", "out.gdz"});
    killed.write_to_stdin("bytes");
    const Names left = temporaries();
    ASSERT_EQ(left.size(), 1u) << "run " << i;
    EXPECT_TRUE(left[0].ends_with(".gdelta-part")) << left[0];
    ASSERT_EQ(kill(killed.pid(), SIGKILL), 0);
    EXPECT_EQ(killed.finish().signal_number, SIGKILL);
    EXPECT_EQ(names(), left);
  }
  EXPECT_EQ(run({"compress", "-q", "-o", "other.gdz"}, "bytes").exit_status, 0);
  EXPECT_EQ(temporaries().size(), 1u) << "it belongs to another output";
  EXPECT_EQ(run({"compress", "-q", "-o", "out.gdz"}, "bytes").exit_status, 0);
  EXPECT_EQ(names(), (Names{"other.gdz", "out.gdz"}));
}

TEST_F(Leftovers, ARunThatIsStillAtWorkKeepsItsFile) {
  Running working = start({"compress", "-qf", "-o", "out.gdz"});
  working.write_to_stdin("first ");
  const Names its = temporaries();
  ASSERT_EQ(its.size(), 1u);
  EXPECT_EQ(run({"compress", "-q", "-o", "out.gdz"}, "second").exit_status, 0);
  EXPECT_EQ(temporaries(), its);
  const Outcome outcome = working.finish("bytes");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
  EXPECT_EQ(names(), (Names{"out.gdz"}));
  EXPECT_EQ(run({"decompress", "-c", "out.gdz"}).out, "first bytes");
}

TEST_F(Leftovers, FilesThatOnlyLookAlikeStay) {
  const std::string real = ".out.gdz.0badcafe.gdelta-part";
  const Names files = {".out.gdz.0badcaf.gdelta-part",    ".out.gdz.0badcafg.gdelta-part",
                       ".out.gdz.0badcafe.gdelta-par",    "out.gdz.0badcafe.gdelta-part",
                       ".out.gdz.x.0badcafe.gdelta-part", ".gdz.0badcafe.gdelta-part"};
  for (const std::string& name : files) write_file(name, "precious");
  std::filesystem::create_directory(path(".out.gdz.00000001.gdelta-part"));
  std::filesystem::create_symlink(files[0], path(".out.gdz.00000002.gdelta-part"));
  write_file("linked", "precious");
  std::filesystem::create_hard_link(path("linked"), path(".out.gdz.00000003.gdelta-part"));
  write_file(real, "a leftover");
  const std::size_t before = names().size();
  EXPECT_EQ(run({"compress", "-q", "-o", "out.gdz"}, "bytes").exit_status, 0);
  EXPECT_EQ(names().size(), before) << "one more, one less";
  EXPECT_FALSE(exists(real));
  for (const std::string& name : files) EXPECT_EQ(read_file(name), "precious") << name;
}

TEST_F(Leftovers, AnotherUsersFileStays) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a file of another user";
  const std::string name = ".out.gdz.0badcafe.gdelta-part";
  write_file(name, "theirs");
  ASSERT_EQ(chown(path(name).c_str(), 65534, 65534), 0);
  EXPECT_EQ(run({"compress", "-q", "-o", "out.gdz"}, "bytes").exit_status, 0);
  EXPECT_EQ(read_file(name), "theirs");
}

}  // namespace
}  // namespace gdelta::cli_test
