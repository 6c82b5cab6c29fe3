// gdelta compress: names, options, what it says, and the way back.
#include <sys/time.h>

#include <chrono>

#include "command_runner.h"

namespace gdelta::cli_test {
namespace {

class CompressCommand : public CommandTest {
 protected:
  void expect_round_trip(const std::string& name, const std::string& bytes) {
    const Outcome back = run({"decompress", "-c", name});
    EXPECT_EQ(back.exit_status, 0) << back.err;
    EXPECT_TRUE(back.out == bytes) << name;
  }
};

TEST_F(CompressCommand, KeepsTheInputAndPutsTheOutputBesideIt) {
  const std::string bytes = sensor_bytes(20000);
  write_file("a.bin", bytes);
  const Outcome outcome = run({"compress", "a.bin"});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(names(), (Names{"a.bin", "a.bin.gdz"}));
  EXPECT_LT(read_file("a.bin.gdz").size(), bytes.size() * 3 / 5);
  std::filesystem::remove(path("a.bin"));
  EXPECT_EQ(run({"decompress", "a.bin.gdz"}).exit_status, 0);
  EXPECT_EQ(names(), (Names{"a.bin", "a.bin.gdz"}));
  EXPECT_TRUE(read_file("a.bin") == bytes);
}

TEST_F(CompressCommand, SaysWhatItChoseUnlessQuietOrTold) {
  write_file("a.bin", sensor_bytes(20000));
  EXPECT_EQ(run({"compress", "a.bin"}).err,
            "gdelta: a.bin: i16x2 (found in a sample; --type and --tuple override it)\n");
  EXPECT_EQ(run({"compress", "-qf", "a.bin"}).err, "");
  EXPECT_EQ(run({"compress", "-f", "--type", "i16", "--tuple", "2", "a.bin"}).err, "");
  const Outcome verbose = run({"compress", "-vf", "--type", "i16", "--tuple", "2", "a.bin"});
  EXPECT_NE(verbose.err.find("i16x2 (given); 80000 to "), std::string::npos) << verbose.err;
}

TEST_F(CompressCommand, VerboseTellsHowFastItWas) {
  write_file("a.bin", sensor_bytes(200000));
  const auto start = std::chrono::steady_clock::now();
  const std::string said = run({"compress", "-v", "--type", "i16", "a.bin"}).err;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::size_t rate = said.rfind(' ', said.find(" MB/s") - 1);
  ASSERT_NE(said.find(" MB/s"), std::string::npos) << said;
  const double told = std::stod(said.substr(rate));
  EXPECT_GE(told, 0.8 / seconds - 0.1) << said;  // the start of the process counts here alone
  EXPECT_LE(told, 1e5) << said;
}

TEST_F(CompressCommand, TextGoesToZstdAtTheFastestLevelsTooAndTheNoteSaysSo) {
  std::string text;
  for (int row = 0; row < 4000; ++row)
    text += "station " + std::to_string(row * 7919 % 100) + ", level " + std::to_string(row) + "\n";
  write_file("a.csv", text);
  for (const std::string level : {"-1", "-2"}) {
    EXPECT_EQ(
        run({"compress", "-f", level, "a.csv"}).err,
        "gdelta: a.csv: u8 (no numbers found in a sample: for zstd; --type and --tuple override "
        "it)\n");
    EXPECT_LT(read_file("a.csv.gdz").size(), text.size() / 3);
    EXPECT_EQ(run({"compress", "-qf", level, "--device-decodable", "a.csv"}).exit_status, 0);
    EXPECT_GT(read_file("a.csv.gdz").size(), text.size() / 2);
  }
}

TEST_F(CompressCommand, KeepsModeAndTimes) {
  write_file("a.bin", sensor_bytes(100));
  chmod(path("a.bin").c_str(), 0640);
  const timeval times[2] = {{1000000000, 0}, {1100000000, 0}};
  utimes(path("a.bin").c_str(), times);
  ASSERT_EQ(run({"compress", "a.bin"}).exit_status, 0);
  ASSERT_EQ(run({"decompress", "-o", "b.bin", "a.bin.gdz"}).exit_status, 0);
  for (const char* name : {"a.bin.gdz", "b.bin"}) {
    struct stat status = {};
    ASSERT_EQ(stat(path(name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0640u) << name;
    EXPECT_EQ(status.st_mtime, 1100000000) << name;
  }
}

TEST_F(CompressCommand, DoesNotOverwriteWithoutForce) {
  write_file("a.bin", sensor_bytes(100));
  write_file("a.bin.gdz", "precious");
  const Outcome outcome = run({"compress", "a.bin"});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.err, "gdelta: a.bin.gdz: exists already; -f overwrites it\n");
  EXPECT_EQ(read_file("a.bin.gdz"), "precious");
  EXPECT_EQ(run({"compress", "-f", "a.bin"}).exit_status, 0);
  expect_round_trip("a.bin.gdz", sensor_bytes(100));
}

TEST_F(CompressCommand, ForceWithoutAnInputLeavesTheOutputAlone) {
  write_file("a.gdz", "precious");
  EXPECT_EQ(run({"compress", "-f", "-o", "a.gdz", "missing"}).exit_status, 1);
  EXPECT_EQ(read_file("a.gdz"), "precious");
}

TEST_F(CompressCommand, OneBadFileDoesNotStopTheRest) {
  write_file("a", sensor_bytes(10));
  write_file("b", sensor_bytes(20));
  std::filesystem::create_directory(path("folder"));
  const Outcome outcome = run({"compress", "-q", "a", "missing", "folder", "b"});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.err,
            "gdelta: missing: No such file or directory\n"
            "gdelta: folder: is a directory; -r takes the files in it\n");
  EXPECT_EQ(names(), (Names{"a", "a.gdz", "b", "b.gdz", "folder"}));
}

TEST_F(CompressCommand, AFileThatCannotBeReadIsAnError) {
  write_file("a", "bytes");
  chmod(path("a").c_str(), 0);
  chmod(folder_.c_str(), 0777);
  const Outcome outcome = start({"compress", "a"}, become_nobody).finish();
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.err, "gdelta: a: Permission denied\n");
}

TEST_F(CompressCommand, TheSuffixIsSkippedWithAWarningUnlessForced) {
  write_file("a.gdz", "not really");
  const Outcome outcome = run({"compress", "a.gdz"});
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_NE(outcome.err.find("gdelta: a.gdz: warning: has the suffix .gdz already"),
            std::string::npos);
  EXPECT_EQ(names(), (Names{"a.gdz"}));
  EXPECT_EQ(run({"compress", "-qf", "a.gdz"}).exit_status, 0);
  EXPECT_EQ(names(), (Names{"a.gdz", "a.gdz.gdz"}));
}

TEST_F(CompressCommand, RemovesTheInputOnlyWhenAskedAndDone) {
  write_file("a", sensor_bytes(50));
  write_file("b", sensor_bytes(60));
  write_file("b.gdz", "precious");
  EXPECT_EQ(run({"compress", "-q", "--rm", "a", "b"}).exit_status, 1);
  EXPECT_EQ(names(), (Names{"a.gdz", "b", "b.gdz"}));
  expect_round_trip("a.gdz", sensor_bytes(50));
  EXPECT_EQ(run({"compress", "--rm", "-c", "b"}).exit_status, 1);
  EXPECT_TRUE(exists("b"));
}

TEST_F(CompressCommand, RmKeepsASymbolicLink) {
  write_file("a", sensor_bytes(50));
  std::filesystem::create_symlink("a", path("link"));
  EXPECT_EQ(run({"compress", "-q", "--rm", "link"}).exit_status, 2);
  EXPECT_EQ(names(), (Names{"a", "link", "link.gdz"}));
}

TEST_F(CompressCommand, ReadsStdinWithoutAFileOrWithADash) {
  const std::string bytes = sensor_bytes(3000);
  for (const std::vector<std::string>& arguments :
       {Names{"compress", "-q"}, Names{"compress", "-q", "-"}}) {
    const Outcome packed = run(arguments, bytes);
    ASSERT_EQ(packed.exit_status, 0) << packed.err;
    const Outcome back = run({"-d"}, packed.out);
    EXPECT_EQ(back.exit_status, 0) << back.err;
    EXPECT_TRUE(back.out == bytes);
  }
  EXPECT_EQ(names(), Names{});
}

TEST_F(CompressCommand, FilesJoinedOnStdoutDecodeAsOne) {
  write_file("a", sensor_bytes(1000));
  write_file("b", random_bytes(999));
  write_file("joined.gdz", run({"compress", "-qc", "a", "b"}).out);
  expect_round_trip("joined.gdz", sensor_bytes(1000) + random_bytes(999));
}

TEST_F(CompressCommand, AFifoNeedsAnOutputOrForce) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  const Outcome skipped = run({"compress", "fifo"});
  EXPECT_EQ(skipped.exit_status, 2);
  EXPECT_NE(skipped.err.find("is no regular file; skipped"), std::string::npos);

  Running running = start({"compress", "-q", "-o", "out.gdz", "fifo"});
  write_file("fifo", sensor_bytes(5000));  // waits for the reader
  EXPECT_EQ(running.finish().exit_status, 0);
  expect_round_trip("out.gdz", sensor_bytes(5000));
}

TEST_F(CompressCommand, AnEmptyFileIsAStream) {
  write_file("empty", "");
  EXPECT_EQ(run({"compress", "empty"}).exit_status, 0);
  EXPECT_GT(read_file("empty.gdz").size(), 0u);
  expect_round_trip("empty.gdz", "");
}

TEST_F(CompressCommand, AFileOfUnknownLengthIsReadToItsEnd) {
  // Files in /proc say that they have no bytes.
  const Outcome packed = run({"compress", "-qc", "/proc/self/status"});
  EXPECT_EQ(packed.exit_status, 0) << packed.err;
  const Outcome back = run({"decompress"}, packed.out);
  EXPECT_EQ(back.out.substr(0, 5), "Name:");
}

TEST_F(CompressCommand, NamesThatLookLikeOptionsAreFiles) {
  for (const char* name : {"-9", "--rm", "[a,b]", "++", "with space", "-"}) {
    write_file(name, sensor_bytes(30));
    const std::string argument = name == std::string("-") ? "./-" : name;
    const Outcome outcome = run({"compress", "-q", "--", argument});
    EXPECT_EQ(outcome.exit_status, 0) << name << outcome.err;
    EXPECT_TRUE(exists(std::string(name) + ".gdz")) << name;
  }
}

TEST_F(CompressCommand, EveryWayOfDescribingNumbersComesBack) {
  const std::string bytes = sensor_bytes(5000) + "odd";  // no whole number of tuples
  write_file("a", bytes);
  const std::vector<Names> ways = {
      {"--type", "i16", "--tuple", "2"},
      {"--type", "f64:be"},
      {"--type=u24", "--tuple=64"},
      {"--record", "i32x3,u16,u8x2,f64"},
      {"--type", "i16", "--order", "8", "--coder", "pack", "--chunk", "4K"},
      {"--coder", "zstd", "--order", "0"},
      {"--coder", "raw"},
      {"--device-decodable", "--device", "cpu", "-T1"},
      {"-1"},
      {"-3", "-T", "3"},
      {"-9"},
  };
  for (const Names& way : ways) {
    Names arguments = {"compress", "-qf", "a"};
    arguments.insert(arguments.end(), way.begin(), way.end());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_status, 0) << way[0] << outcome.err;
    expect_round_trip("a.gdz", bytes);
  }
}

TEST_F(CompressCommand, TheBytesDoNotDependOnTheNumberOfThreads) {
  write_file("a", sensor_bytes(60000));
  const std::string one = run({"compress", "-qc", "--chunk", "16K", "-T1", "a"}).out;
  EXPECT_TRUE(one == run({"compress", "-qc", "--chunk", "16K", "-T4", "a"}).out);
  EXPECT_TRUE(one == run({"compress", "-q", "--chunk", "16K"}, sensor_bytes(60000)).out);
}

TEST_F(CompressCommand, OptionsThatMakeNoSenseAreRefused) {
  write_file("a", sensor_bytes(10));
  const std::vector<std::pair<Names, std::string>> cases = {
      {{"-19"}, "there is no level -19; levels are -1 to -9"},
      {{"-0"}, "there is no level -0"},
      {{"--tuple", "2"}, "--tuple requires --type"},
      {{"--type", "i33"}, "there is no type 'i33'"},
      {{"--type", "i8", "--tuple", "65"}, "--tuple"},
      {{"--type", "i8", "--record", "i8"}, "--record"},
      {{"--record", "i8,,i8"}, "--record"},
      {{"--order", "9"}, "--order"},
      {{"--stride", "1"}, "--stride: '1' is neither a number of records, 2 to 4194304, nor auto"},
      {{"--stride", "4194305"}, "--stride"},
      {{"--stride", "12px"}, "--stride"},
      {{"--stride", "18446744073709551615"}, "--stride"},
      {{"--order", "-1"}, "--order"},
      {{"--order", "99999999999999999999"}, "--order"},
      {{"--coder", "brotli"}, "'brotli' is none of raw, pack"},
      {{"--chunk", "32LB"}, "'32LB' is not a size"},
      {{"--chunk", "0"}, "a chunk has 1 to 256M bytes"},
      {{"--chunk", "257M"}, "a chunk has 1 to 256M bytes"},
      {{"--chunk", "99999999999999999999"}, "is not a size"},
      {{"--chunk", "20000000T"}, "does not fit 64 bits"},
      {{"-T", "-1"}, "--threads"},
      {{"--coder", "zstd", "--device-decodable"}, "--device-decodable leaves zstd out"},
      {{"-c", "-o", "b"}, "-o and -c name two outputs"},
      {{"-o", "b", "a"}, "-o names one output, but there are several inputs"},
      {{"--no-such-option"}, "--no-such-option"},
  };
  for (const auto& [options, sentence] : cases) {
    Names arguments = {"compress", "a"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_status, 1) << sentence;
    EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("Try 'gdelta compress --help'"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(names(), (Names{"a"}));
}

TEST_F(CompressCommand, AnUnknownDeviceIsAnError) {
  write_file("a", sensor_bytes(10));
  const Outcome outcome = run({"compress", "--device", "abacus", "a"});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_NE(outcome.err.find("'abacus'"), std::string::npos) << outcome.err;
  EXPECT_EQ(names(), (Names{"a"}));
}

}  // namespace
}  // namespace gdelta::cli_test
