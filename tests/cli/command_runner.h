// Runs the built command in a folder of its own and keeps what it said.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "places.h"

namespace gdelta::cli_test {

using Names = std::vector<std::string>;

/// Of a line that is meant for people.
inline constexpr std::size_t kMostColumns = 80;

inline Names lines_of(const std::string& text) {
  Names lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

struct Outcome {
  int exit_status = -1;  // -1: ended by a signal
  int signal_number = 0;
  std::string out;
  std::string err;
};

/// Gives a child the signals of a fresh login. Whoever runs the tests may ignore or block some, as
/// a shell does with SIGINT for what it starts in the background, and a command inherits that.
inline void reset_signals() {
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGPIPE}) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// A command that was started and not yet waited for.
class Running {
 public:
  Running(pid_t pid, int in, int out, int err) : pid_(pid), in_(in), out_(out), err_(err) {}
  pid_t pid() const { return pid_; }
  void write_to_stdin(const std::string& bytes) const {
    ASSERT_EQ(::write(in_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void close_stdout() { close(std::exchange(out_, -1)); }

  /// Feeds the rest of stdin, closes it and collects both outputs until the command ends.
  Outcome finish(std::string input = {}) {
    Outcome outcome;
    std::size_t fed = 0;
    fcntl(in_, F_SETFL, O_NONBLOCK);
    while (in_ >= 0 || out_ >= 0 || err_ >= 0) {
      if (in_ >= 0 && fed == input.size()) close(std::exchange(in_, -1));
      std::array<pollfd, 3> waits = {{{in_, POLLOUT, 0}, {out_, POLLIN, 0}, {err_, POLLIN, 0}}};
      if (in_ < 0 && out_ < 0 && err_ < 0) break;
      poll(waits.data(), waits.size(), -1);
      if (in_ >= 0 && waits[0].revents != 0) {
        const ssize_t put = ::write(in_, input.data() + fed, input.size() - fed);
        if (put > 0) fed += static_cast<std::size_t>(put);
        if (put < 0 && errno != EAGAIN) close(std::exchange(in_, -1));  // it reads no more
      }
      if (out_ >= 0 && waits[1].revents != 0) collect(out_, outcome.out);
      if (err_ >= 0 && waits[2].revents != 0) collect(err_, outcome.err);
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    if (WIFEXITED(status)) outcome.exit_status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) outcome.signal_number = WTERMSIG(status);
    return outcome;
  }

 private:
  static void collect(int& fd, std::string& text) {
    std::array<char, 1 << 16> buffer;
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) close(std::exchange(fd, -1));
  }

  pid_t pid_;
  int in_, out_, err_;
};

/// Looks again and again, for ten seconds at most.
inline bool wait_until(const std::function<bool()>& holds) {
  for (int i = 0; i < 1000; ++i) {
    if (holds()) return true;
    usleep(10'000);
  }
  return holds();
}

/// An empty folder, gone with the test.
class CommandTest : public ::testing::Test {
 protected:
  CommandTest() {
    std::string name = (std::filesystem::temp_directory_path() / "gdelta_cli_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    signal(SIGPIPE, SIG_IGN);  // a command that reads no further must not end the tests
  }
  ~CommandTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  void write_file(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  std::string read_file(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool exists(const std::string& name) const {
    return std::filesystem::exists(std::filesystem::symlink_status(path(name)));
  }
  /// The names in the folder, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }

  mode_t mode_of(const std::string& name) const {
    struct stat status = {};
    EXPECT_EQ(stat(path(name).c_str(), &status), 0) << name;
    return status.st_mode & 07777;
  }
  /// Waits for a file that is none of `known`, such as an unfinished one; empty if none comes.
  std::string wait_for_new_name(const std::vector<std::string>& known) const {
    std::string found;
    wait_until([&] {
      for (const std::string& name : names())
        if (std::find(known.begin(), known.end(), name) == known.end()) found = name;
      return !found.empty();
    });
    return found;
  }

  /// `prepare` runs in the child after its descriptors are in place, before the command.
  Running start(std::vector<std::string> arguments, const std::function<void()>& prepare = {}) {
    int in[2], out[2], err[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
      std::abort();
    arguments.insert(arguments.begin(), test::kCommand);
    // Opened here, for after `prepare` the child may no longer have the right to.
    const int command = open(test::kCommand, O_RDONLY | O_CLOEXEC);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    // A copy of the test's memory, which only `prepare` may need, takes far longer than most commands.
    const pid_t pid = prepare ? fork() : vfork();
    if (pid == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      dup2(err[1], STDERR_FILENO);
      reset_signals();
      if (chdir(folder_.c_str()) != 0) _exit(126);
      if (prepare) prepare();
      fexecve(command, argv.data(), environ);
      _exit(127);
    }
    close(command);
    close(in[0]);
    close(out[1]);
    close(err[1]);
    return Running(pid, in[1], out[0], err[0]);
  }
  Outcome run(const std::vector<std::string>& arguments, const std::string& input = {}) {
    return start(arguments).finish(input);
  }

  std::filesystem::path folder_;
};

/// For `prepare`: root may do everything, so a test of missing rights becomes somebody else first.
inline void become_nobody() {
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0 && setuid(kNobody) != 0) _exit(125);
}

inline std::uint32_t next_random(std::uint32_t& state) {
  return state = state * 1664525u + 1013904223u;
}

/// Two lanes of 16-bit samples that wander: what sensors give.
inline std::string sensor_bytes(std::size_t tuples) {
  std::string bytes;
  std::uint32_t random = 7;
  std::array<std::int16_t, 2> level = {100, -2000};
  for (std::size_t i = 0; i < tuples; ++i)
    for (std::int16_t& lane : level) {
      lane = static_cast<std::int16_t>(lane + static_cast<int>(next_random(random) >> 27) - 16);
      bytes += static_cast<char>(lane & 0xff);
      bytes += static_cast<char>((lane >> 8) & 0xff);
    }
  return bytes;
}

inline std::string random_bytes(std::size_t count) {
  std::string bytes;
  std::uint32_t random = 99;
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(next_random(random) >> 24);
  return bytes;
}

}  // namespace gdelta::cli_test
