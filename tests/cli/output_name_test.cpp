// Where an output appears: names that are taken meanwhile, very long, of sockets, or "-".
#include <sys/socket.h>
#include <sys/un.h>

#include "command_runner.h"

namespace gdelta::cli_test {
namespace {

constexpr std::size_t kLongestName = 255;

class OutputName : public CommandTest {
 protected:
  const std::string bytes_ = sensor_bytes(1000);
};

TEST_F(OutputName, AFileThatAppearsMeanwhileIsNotOverwritten) {
  const std::string packed = run({"compress", "-q"}, bytes_).out;
  for (const auto& [command, input] :
       {std::pair<std::string, std::string>{"compress", bytes_}, {"decompress", packed}}) {
    Running running = start({command, "-q", "-o", "out"});
    ASSERT_NE(wait_for_new_name({}), "");
    write_file("out", "precious");
    const Outcome outcome = running.finish(input);
    EXPECT_EQ(outcome.exit_status, 1) << command;
    EXPECT_NE(outcome.err.find("gdelta: out: "), std::string::npos) << outcome.err;
    EXPECT_EQ(read_file("out"), "precious") << command;
    EXPECT_EQ(names(), Names{"out"}) << command;
    std::filesystem::remove(path("out"));
  }
}

TEST_F(OutputName, WithForceItIsOverwrittenAtOnce) {
  Running running = start({"compress", "-qf", "-o", "out"});
  ASSERT_NE(wait_for_new_name({}), "");
  write_file("out", "not precious");
  EXPECT_EQ(running.finish(bytes_).exit_status, 0);
  EXPECT_EQ(names(), Names{"out"});
  EXPECT_TRUE(run({"decompress", "-c", "out"}).out == bytes_);
}

TEST_F(OutputName, MayBeAsLongAsTheFileSystemAllows) {
  for (const std::size_t size : {200, 230, 250, 251}) {
    const std::string name(size, 'n');
    const std::string packed = name + ".gdz";
    ASSERT_LE(packed.size(), kLongestName);
    write_file(name, bytes_);
    const Outcome outcome = run({"compress", "-q", name});
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    std::filesystem::remove(path(name));
    EXPECT_EQ(run({"decompress", packed}).exit_status, 0);
    EXPECT_TRUE(read_file(name) == bytes_) << size;
    EXPECT_EQ(names(), (Names{name, packed}));
    std::filesystem::remove(path(name));
    std::filesystem::remove(path(packed));
  }
}

TEST_F(OutputName, ThatTheSuffixMakesTooLongIsAnErrorAndLeavesNothing) {
  for (const std::size_t size : {252, 255}) {
    const std::string name(size, 'n');
    write_file(name, bytes_);
    EXPECT_EQ(run({"compress", "-q", "--rm", name}).exit_status, 1) << size;
    EXPECT_EQ(names(), Names{name});
    std::filesystem::remove(path(name));
  }
}

TEST_F(OutputName, OfASocketIsRefusedEvenWithForce) {
  write_file("a", bytes_);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string name = path("socket").string();
  if (name.size() >= sizeof address.sun_path) GTEST_SKIP() << "no socket fits so long a path";
  std::copy(name.begin(), name.end(), address.sun_path);
  const int socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(socket_fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  for (const Names& arguments :
       {Names{"compress", "-qf", "-o", "socket", "a"}, Names{"compress", "-q", "-o", "socket", "a"},
        Names{"compress", "-qf", "--rm", "-o", "socket", "a"}}) {
    EXPECT_EQ(run(arguments).exit_status, 1);
    EXPECT_TRUE(std::filesystem::is_socket(path("socket")));
    EXPECT_EQ(names(), (Names{"a", "socket"}));
  }
  close(socket_fd);
}

TEST_F(OutputName, OfADashIsStdout) {
  write_file("a", bytes_);
  for (const char* out : {"-", "/dev/stdout"}) {
    const Outcome packed = run({"compress", "-q", "-o", out, "a"});
    EXPECT_EQ(packed.exit_status, 0) << packed.err;
    EXPECT_TRUE(packed.out == run({"compress", "-qc", "a"}).out) << out;
    const Outcome back = run({"decompress", "-o", out}, packed.out);
    EXPECT_EQ(back.exit_status, 0) << back.err;
    EXPECT_TRUE(back.out == bytes_) << out;
  }
  EXPECT_EQ(run({"compress", "-q", "-c", "-o", "-", "a"}).exit_status, 0);
  EXPECT_EQ(names(), Names{"a"});
}

}  // namespace
}  // namespace gdelta::cli_test
