// gdelta bench: what it measures, what it prints and in which forms, and how it fails.
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "command_runner.h"

namespace gdelta::cli_test {
namespace {

using Json = nlohmann::json;

/// What zstd shrinks and packing does not: levels differ.
std::string repetitive_text() {
  std::string text;
  for (int i = 0; i < 600; ++i)
    text += "a line of words that repeats " + std::to_string(i % 7) + "\n";
  return text;
}

class BenchCommand : public CommandTest {
 protected:
  BenchCommand() {
    write_file("a", sensor_bytes(1000));
    write_file("b", random_bytes(1000));
  }
  /// On the CPU, one thread, without a search for what the numbers are.
  Outcome bench(const Names& arguments) {
    Names all = {"bench", "--device", "cpu", "-T1", "--record", "i16x2"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run(all);
  }
  Json bench_json(Names arguments) {
    arguments.emplace_back("--json");
    const Outcome outcome = bench(arguments);
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    return Json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
  }
  /// Runs with stdout going to `file`.
  Outcome bench_into(const char* file, Names arguments) {
    arguments.insert(arguments.begin(), {"bench", "--device", "cpu", "-T1", "--type", "i16"});
    return start(arguments, [file] { dup2(open(file, O_WRONLY), STDOUT_FILENO); }).finish();
  }
};

TEST_F(BenchCommand, MeasuresFourLevelsAndNoPeerUnlessAskedFor) {
  const Json json = bench_json({"a"});
  ASSERT_EQ(json["results"].size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(json["results"][i]["codec"], "gdelta");
    EXPECT_EQ(json["results"][i]["level"], 1 + 2 * i);
  }
  EXPECT_EQ(bench({"-1", "a"}).out.find("zstd"), std::string::npos);
}

TEST_F(BenchCommand, MeasuresThePeersAskedForInEveryForm) {
  const Names peers = {"-1", "--peers", "zstd-1,zstd-4", "a"};
  const Json json = bench_json(peers);
  ASSERT_EQ(json["results"].size(), 3u);
  EXPECT_EQ(json["results"][1]["codec"], "zstd");
  EXPECT_EQ(json["results"][1]["level"], 1);
  EXPECT_EQ(json["results"][2]["level"], 4);
  EXPECT_TRUE(json["results"][1]["layout"].is_null());
  EXPECT_GT(json["results"][1]["decode_gb_s"].get<double>(), 0);
  EXPECT_NE(bench(peers).out.find("\nzstd -4   cpu "), std::string::npos);
  EXPECT_NE(bench({"-1", "--csv", "--peers", "zstd-2", "a"}).out.find("\na,zstd,2,cpu,1,"),
            std::string::npos);
}

TEST_F(BenchCommand, RefusesPeersThatItDoesNotKnow) {
  for (const char* peers : {"xz", "zstd-0", "zstd-99", "zstd-", "zstd-3x", "zstd,", ""}) {
    const Outcome outcome = bench({"--peers", peers, "a"});
    EXPECT_EQ(outcome.exit_status, 1) << peers;
    EXPECT_EQ(outcome.out, "") << peers;
    EXPECT_NE(outcome.err.find("none of zstd, zstd-1 to zstd-"), std::string::npos) << outcome.err;
  }
}

TEST_F(BenchCommand, SizesAreThoseThatCompressWrites) {
  const Json json = bench_json({"-1", "-3", "a", "b"});
  ASSERT_EQ(json["results"].size(), 4u);
  for (const Json& row : json["results"]) {
    const std::string level = "-" + std::to_string(row["level"].get<int>());
    const Outcome packed = run({"compress", "-qc", "--record", "i16x2", level, row["file"]});
    EXPECT_EQ(row["compressed_bytes"], packed.out.size());
    EXPECT_EQ(row["decoded_bytes"], read_file(row["file"]).size());
    EXPECT_EQ(row["ratio"], row["decoded_bytes"].get<double>() / packed.out.size());
  }
}

TEST_F(BenchCommand, FilesMayFollowADeviceAndDevicesMayBeRepeated) {
  const Outcome files = run({"bench", "--json", "-1", "--device", "cpu", "a", "b"});
  ASSERT_EQ(files.exit_status, 0) << files.err;
  EXPECT_EQ(Json::parse(files.out, nullptr, false)["results"].size(), 2u);
  const Outcome devices =
      run({"bench", "--json", "-1", "--device", "cpu", "--device", "auto", "a"});
  ASSERT_EQ(devices.exit_status, 0) << devices.err;
  EXPECT_EQ(Json::parse(devices.out, nullptr, false)["results"].size(), 2u);
}

TEST_F(BenchCommand, WhatIsRepeatedIsMeasuredOnce) {
  const Json rows =
      bench_json({"-1", "-1", "-3", "-1", "--device", "cpu", "--peers", "zstd-3,zstd-3", "a"});
  std::vector<std::string> measured;
  for (const Json& row : rows["results"])
    measured.push_back(row["codec"].get<std::string>() + std::to_string(row["level"].get<int>()));
  EXPECT_EQ(measured, (Names{"gdelta1", "gdelta3", "zstd3"}));
  for (const Json& total : rows["totals"]) EXPECT_EQ(total["files"], 1);
}

TEST_F(BenchCommand, TheSearchForTypeAndTupleIsTimedWhereItTakesPlace) {
  const Outcome searched = run({"bench", "--json", "--device", "cpu", "-1", "a"});
  const Json found = Json::parse(searched.out, nullptr, false)["results"][0];
  EXPECT_EQ(found["layout"], "i16x2");
  EXPECT_EQ(found["layout_origin"], "found");
  EXPECT_GT(found["search_seconds"].get<double>(), 0);
  const Json given = bench_json({"-1", "a"})["results"][0];
  EXPECT_EQ(given["layout_origin"], "given");
  EXPECT_EQ(given["search_seconds"], 0);
  EXPECT_EQ(given["compressed_bytes"], found["compressed_bytes"]);
  const std::string table = bench({"-1", "a"}).out;
  EXPECT_EQ(table.rfind("a: 4000 bytes, i16x2 (given), 1 thread\n", 0), 0u) << table;
}

TEST_F(BenchCommand, MemoryIsThatOfTheWork) {
  write_file("large", random_bytes(1 << 20));
  const Json row = bench_json({"-1", "large"})["results"][0];
  if (row["encode_memory_bytes"].is_null())
    GTEST_SKIP() << "this system does not tell how much memory a process held";
  // The compressed copy at least; the input and what it is decoded into do not count.
  EXPECT_GT(row["encode_memory_bytes"].get<std::uint64_t>(), std::uint64_t{1} << 20);
  EXPECT_LT(row["decode_memory_bytes"].get<std::uint64_t>(), std::uint64_t{1} << 20);
}

TEST_F(BenchCommand, SeveralFilesHaveATableEachAndTotals) {
  const Json json = bench_json({"-1", "-3", "a", "b"});
  ASSERT_EQ(json["totals"].size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const Json& total = json["totals"][i];
    const Json& first = json["results"][i];
    const Json& second = json["results"][2 + i];
    EXPECT_EQ(total["files"], 2);
    EXPECT_EQ(total["level"], first["level"]);
    EXPECT_EQ(total["decoded_bytes"], 5000);
    EXPECT_EQ(total["compressed_bytes"], first["compressed_bytes"].get<std::uint64_t>() +
                                             second["compressed_bytes"].get<std::uint64_t>());
    EXPECT_NEAR(total["geomean_ratio"].get<double>(),
                std::sqrt(first["ratio"].get<double>() * second["ratio"].get<double>()), 1e-9);
  }
  const std::string text = bench({"-1", "a", "b"}).out;
  EXPECT_NE(text.find("a: 4000 bytes, "), std::string::npos) << text;
  EXPECT_NE(text.find("\nb: 1000 bytes, "), std::string::npos) << text;
  EXPECT_NE(text.find("\n2 files: 5000 bytes\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\ngeometric mean of the ratios\ngdelta -1 "), std::string::npos) << text;
  EXPECT_EQ(bench({"-1", "a"}).out.find("geometric"), std::string::npos);
}

TEST_F(BenchCommand, TheTableFitsATerminal) {
  const std::string text = bench({"-1", "-3", "--peers", "zstd-1", "a", "b"}).out;
  for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), kMostColumns) << line;
  EXPECT_NE(text.find("bytes"), std::string::npos);
  EXPECT_NE(text.find("memory"), std::string::npos);
}

TEST_F(BenchCommand, TheAdviceFollowsFromTheRows) {
  write_file("text", repetitive_text());
  const Json json = bench_json({"-1", "-2", "-3", "-6", "text"});
  std::map<int, double> seconds;
  std::map<int, double> bytes;
  double smallest = 1e300;
  for (const Json& row : json["results"]) {
    const int level = row["level"];
    seconds[level] = row["search_seconds"].get<double>() +
                     row["decoded_bytes"].get<double>() / 1e9 / row["encode_gb_s"].get<double>();
    bytes[level] = row["compressed_bytes"];
    smallest = std::min(smallest, bytes[level]);
  }
  const int speed = json["advice"]["speed"]["level"];
  const int balance = json["advice"]["balance"]["level"];
  const int size = json["advice"]["size"]["level"];
  EXPECT_EQ(bytes[size], smallest);
  EXPECT_LE(bytes[balance], smallest * 1.03);
  for (const auto& [level, time] : seconds) {
    EXPECT_GE(time, seconds[speed] * (1 - 1e-9));
    if (bytes[level] <= smallest * 1.03) {
      EXPECT_GE(time, seconds[balance] * (1 - 1e-9));
    }
  }
}

TEST_F(BenchCommand, TheLastLineGivesAdviceWhereThereIsAChoice) {
  const Names lines = lines_of(bench({"-1", "-6", "a"}).out);
  EXPECT_EQ(lines.back().rfind("Take -", 0), 0u) << lines.back();
  for (const char* purpose : {"speed", "balance", "size"})
    EXPECT_NE(lines.back().find(purpose), std::string::npos) << lines.back();
  EXPECT_EQ(bench({"-1", "a"}).out.find("Take"), std::string::npos);
  EXPECT_TRUE(bench_json({"-1", "a"})["advice"].is_null());
}

TEST_F(BenchCommand, APeerThatIsSmallerIsNamed) {
  write_file("text", repetitive_text());
  const Names lines =
      lines_of(bench({"-1", "-2", "--coder", "pack", "--peers", "zstd-3", "text"}).out);
  EXPECT_EQ(lines.back(), "zstd -3 is smaller than all of these.");
}

TEST_F(BenchCommand, CsvHasATitleAndARowForEachMeasurement) {
  write_file("with \"quotes\", commas", sensor_bytes(100));
  const Names lines = lines_of(run({"bench", "--csv", "--device", "cpu", "-T1", "-1", "-2",
                                    "--record", "i16,i16", "with \"quotes\", commas"})
                                   .out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0],
            "file,codec,level,device,threads,layout,layout_origin,decoded_bytes,compressed_bytes,"
            "ratio,search_seconds,encode_gb_s,decode_gb_s,encode_memory_bytes,decode_memory_bytes");
  EXPECT_EQ(
      lines[1].rfind("\"with \"\"quotes\"\", commas\",gdelta,1,cpu,1,\"i16,i16\",given,400,", 0),
      0u)
      << lines[1];
  EXPECT_EQ(bench({"--csv", "--json", "a"}).exit_status, 1);
}

TEST_F(BenchCommand, WriteErrorsAreToldInEveryForm) {
  for (const char* form : {"--quiet", "--csv", "--json"}) {
    const Outcome outcome = bench_into("/dev/full", {"-1", form, "a"});
    EXPECT_EQ(outcome.exit_status, 1) << form;
    EXPECT_EQ(outcome.err, "gdelta: (stdout): No space left on device\n") << form;
  }
}

TEST_F(BenchCommand, ADeviceThatIsNotThereIsAnErrorAndNoTable) {
  for (const char* form : {"--quiet", "--csv", "--json"}) {
    const Outcome outcome = run({"bench", "--device", "cuda:99", form, "-1", "a", "b"});
    EXPECT_EQ(outcome.exit_status, 1);
    EXPECT_EQ(outcome.out, "") << form;
    EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome.err;
  }
}

TEST_F(BenchCommand, AnEmptyFileIsNamedAndNotMeasured) {
  write_file("empty", "");
  const Outcome outcome = bench({"-1", "empty"});
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "gdelta: empty: warning: is empty: there is nothing to measure\n");
  const Outcome beside = bench({"-1", "--json", "empty", "a"});
  EXPECT_EQ(beside.exit_status, 2);
  EXPECT_EQ(Json::parse(beside.out, nullptr, false)["results"].size(), 1u);
}

TEST_F(BenchCommand, OneBadFileDoesNotStopTheRest) {
  const Outcome outcome = bench({"--csv", "-1", "missing", "a"});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.err, "gdelta: missing: No such file or directory\n");
  EXPECT_EQ(lines_of(outcome.out).size(), 2u) << outcome.out;
}

TEST_F(BenchCommand, ATerminalIsToldWhatRuns) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
    GTEST_SKIP() << "this system has no terminals to try with";
  const std::string name = ptsname(terminal);
  const int kept = open(name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);  // what was shown stays
  const Outcome outcome =
      start({"bench", "--device", "cpu", "-1", "--peers", "zstd-1", "--type", "i16", "a"}, [&name] {
        dup2(open(name.c_str(), O_WRONLY | O_NOCTTY), STDERR_FILENO);
      }).finish();
  std::string shown;
  std::array<char, 4096> buffer;
  fcntl(terminal, F_SETFL, O_NONBLOCK);
  for (ssize_t got = 0; (got = read(terminal, buffer.data(), buffer.size())) > 0;)
    shown.append(buffer.data(), static_cast<std::size_t>(got));
  close(kept);
  close(terminal);
  EXPECT_EQ(outcome.exit_status, 0);
  for (const char* step : {"a: looking for type and tuple", "a: gdelta -1 on cpu, compressing",
                           "a: gdelta -1 on cpu, decompressing", "a: zstd -1, compressing"})
    EXPECT_NE(shown.find(step), std::string::npos) << step << " in " << shown;
  EXPECT_EQ(bench({"-1", "a"}).err, "");
}

}  // namespace
}  // namespace gdelta::cli_test
