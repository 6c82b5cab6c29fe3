// --rm: what changes while it is read, or what somebody still writes to, stays.
#include <atomic>
#include <chrono>
#include <thread>

#include "command_runner.h"

namespace gdelta::cli_test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kChanged = ": warning: kept: it changed while it was read\n";

class InputKept : public CommandTest {
 protected:
  /// Runs the command while another thread does `change` again and again, once before it starts.
  Outcome run_amid(const Names& arguments, const std::function<void()>& change) {
    change();
    std::atomic<bool> ended = false;
    std::thread changing([&] {
      while (!ended) {
        change();
        std::this_thread::sleep_for(1ms);
      }
    });
    const Outcome outcome = run(arguments);
    ended = true;
    changing.join();
    return outcome;
  }

  void append(const std::string& name) const {
    std::ofstream(path(name), std::ios::binary | std::ios::app) << "more";
  }
  void touch_first_byte(const std::string& name) const {
    std::fstream file(path(name), std::ios::binary | std::ios::in | std::ios::out);
    const char first = static_cast<char>(file.get());
    file.seekp(0);
    file.put(first);
  }
  void replace(const std::string& name, const std::string& bytes) const {
    write_file(name + ".new", bytes);
    std::filesystem::rename(path(name + ".new"), path(name));
  }
};

TEST_F(InputKept, AFileThatGrowsWhileItIsCompressedStays) {
  write_file("log", sensor_bytes(60000));
  const Outcome outcome =
      run_amid({"compress", "--type", "i16", "--rm", "-9", "log"}, [&] { append("log"); });
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_EQ(outcome.err, std::string("gdelta: log") + kChanged);
  EXPECT_EQ(names(), (Names{"log", "log.gdz"}));
  // What was read is whole; what came later is in the file.
  const std::string packed = run({"decompress", "-c", "log.gdz"}).out;
  EXPECT_GE(packed.size(), sensor_bytes(60000).size());
  EXPECT_TRUE(read_file("log").rfind(packed, 0) == 0);
}

TEST_F(InputKept, AFileWhoseBytesChangeInPlaceStays) {
  write_file("a", sensor_bytes(60000));
  const Outcome outcome =
      run_amid({"compress", "--type", "i16", "--rm", "-9", "a"}, [&] { touch_first_byte("a"); });
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_EQ(outcome.err, std::string("gdelta: a") + kChanged);
  EXPECT_TRUE(exists("a"));
}

TEST_F(InputKept, AFileThatTookTheNameOfTheInputStays) {
  const std::string bytes = sensor_bytes(60000);
  write_file("a", bytes);
  const Outcome outcome =
      run_amid({"compress", "--type", "i16", "--rm", "-9", "a"}, [&] { replace("a", bytes); });
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_EQ(outcome.err,
            "gdelta: a: warning: kept: another file took its name while it was read\n");
  EXPECT_TRUE(read_file("a") == bytes);
}

TEST_F(InputKept, ACompressedFileThatChangesWhileItIsDecompressedStays) {
  // Streams one after the other: enough of them to take longer than a tick of the file system's clock.
  const std::string packed = run({"compress", "-q1", "--type", "u8"}, random_bytes(3000000)).out;
  std::string joined;
  for (int i = 0; i < 10; ++i) joined += packed;
  write_file("a.gdz", joined);
  const Outcome outcome =
      run_amid({"decompress", "--rm", "a.gdz"}, [&] { touch_first_byte("a.gdz"); });
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_EQ(outcome.err, std::string("gdelta: a.gdz") + kChanged);
  EXPECT_EQ(names(), (Names{"a", "a.gdz"}));
}

TEST_F(InputKept, AFileThatAnotherProcessWritesToStays) {
  write_file("log", sensor_bytes(100));
  write_file("probe", "");
  const int probe = open(path("probe").c_str(), O_RDONLY | O_CLOEXEC);
  const bool leases = fcntl(probe, F_SETLEASE, F_RDLCK) == 0;
  close(probe);
  if (!leases) GTEST_SKIP() << "this file system does not tell who has a file open";
  const int writer = open(path("log").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  const Outcome outcome = run({"compress", "-1", "--type", "i16", "--rm", "log"});
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_EQ(outcome.err, "gdelta: log: warning: kept: another process has it open for writing\n");
  EXPECT_TRUE(exists("log"));
  close(writer);
  EXPECT_EQ(run({"compress", "-fq", "--rm", "log"}).exit_status, 0);
  EXPECT_FALSE(exists("log"));
}

}  // namespace
}  // namespace gdelta::cli_test
