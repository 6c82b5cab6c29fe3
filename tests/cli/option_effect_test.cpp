// What options do, seen in what comes out; that they are taken says nothing.
#include <nlohmann/json.hpp>
#include <set>

#include "command_runner.h"
#include "stages/registry.h"

namespace gdelta::cli_test {
namespace {

using Json = nlohmann::json;

class OptionEffect : public CommandTest {
 protected:
  OptionEffect() {
    write_file("a", bytes_);
    write_file("few", sensor_bytes(100));
    std::string lines;
    for (int i = 0; i < 4000; ++i)
      lines += "2026-01-01 00:00:" + std::to_string(10 + i % 50) + ",state " +
               std::to_string(i * 7919 % 100) + "\n";
    write_file("text", lines);
    std::string steps;
    for (int i = 0; i < 40000; ++i) steps += static_cast<char>(i / 50);
    write_file("steps", steps);
  }
  Outcome compress(Names options, const std::string& name = "a") {
    options.insert(options.begin(), {"compress", "-qc"});
    options.push_back(name);
    Outcome outcome = run(options);
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    return outcome;
  }
  /// What list says about a stream that these options make.
  Json listed(const Names& options, const std::string& name = "a") {
    write_file("listed.gdz", compress(options, name).out);
    return Json::parse(run({"list", "--json", "listed.gdz"}).out)["files"][0];
  }
  static std::set<std::string> coders(const Json& file) {
    std::set<std::string> found;
    for (const Json& chunk : file["chunks"])
      for (const Json& column : chunk["columns"]) found.insert(column["coder"]);
    return found;
  }
  Json bench(Names options, const std::string& name = "a") {
    options.insert(options.begin(), {"bench", "--json"});
    options.push_back(name);
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    return Json::parse(outcome.out)["results"];
  }
  const std::string bytes_ = sensor_bytes(20000);
};

TEST_F(OptionEffect, OfSeveralLevelsTheLastWins) {
  const std::string fast = compress({"-1"}, "text").out;
  const std::string small = compress({"-9"}, "text").out;
  EXPECT_LT(small.size(), fast.size());
  EXPECT_TRUE(compress({"-1", "-9"}, "text").out == small);
  EXPECT_TRUE(compress({"-9", "-5", "-1"}, "text").out == fast);
  EXPECT_TRUE(compress({}, "text").out == compress({"-5"}, "text").out) << "5 is the default";
}

TEST_F(OptionEffect, TypeAndTupleBecomeTheLayout) {
  for (const std::string& type : test::type_names()) {
    EXPECT_EQ(listed({"--type", type, "--tuple", "3"}, "few")["layouts"], Json{type + "x3"});
    if (type == "i8" || type == "u8") continue;
    EXPECT_EQ(listed({"--type", type + ":be"}, "few")["layouts"], Json{type + ":be"});
  }
  EXPECT_EQ(listed({"--type", "u8", "--tuple", "64"})["layouts"], Json{"u8x64"});
}

TEST_F(OptionEffect, ARecordBecomesTheLayoutWithAColumnForEachPart) {
  const Json file = listed({"--record", "i32x3,u16,u8x2,f64:be"});
  EXPECT_EQ(file["layouts"], Json{"i32x3,u16,u8x2,f64:be"});
  EXPECT_EQ(file["chunks"][0]["columns"].size(), 4u);
}

TEST_F(OptionEffect, TheOrderIsThatOfEveryLane) {
  for (int order = 0; order <= 8; ++order) {
    const Json file = listed(
        {"--type", "i16", "--tuple", "2", "--coder", "pack", "--order", std::to_string(order)});
    for (const Json& chunk : file["chunks"])
      EXPECT_EQ(chunk["columns"][0]["orders"], (Json{order, order}));
  }
}

TEST_F(OptionEffect, TheStrideIsTakenWhereItSaves) {
  std::string rows;
  std::uint32_t random = 1;
  const std::string row = random_bytes(100);
  for (int i = 0; i < 40; ++i)
    for (const char byte : row) rows += static_cast<char>(byte + (next_random(random) >> 30));
  write_file("rows", rows);
  const auto strides = [&](const Names& options) {
    return listed(options, "rows")["chunks"][0]["columns"][0]["strides"];
  };
  for (const char* level : {"-1", "-5"}) {
    for (const char* stride : {"100", "auto"})
      EXPECT_EQ(strides({level, "--type", "u8", "--stride", stride, "--coder", "pack"}),
                Json::parse(R"([{"stride": 100, "order": 1}])"))
          << level << " " << stride;
    EXPECT_EQ(strides({level, "--type", "u8", "--stride", "77", "--coder", "pack", "--order", "0"}),
              strides({level, "--type", "u8", "--coder", "pack", "--order", "0"}));
  }
}

TEST_F(OptionEffect, TheCoderIsThatOfEveryColumn) {
  for (const Coder asked : asked_coders()) {
    const std::string coder(coder_name(asked));
    const Names options = {"--type", "u8", "--chunk", "4K", "--order", "1", "--coder", coder};
    EXPECT_EQ(coders(listed(options, "steps")), std::set<std::string>{coder});
  }
}

TEST_F(OptionEffect, AChunkHoldsSoManyBytesInWholeGroups) {
  for (const std::uint64_t size : {4096, 20000, 65536}) {
    const std::uint64_t whole = size / 256 * 256;  // groups of 128 values of 16 bits
    const Json file = listed({"--type", "i16", "--chunk", std::to_string(size)});
    EXPECT_EQ(file["chunks"].size(), (bytes_.size() + whole - 1) / whole);
    for (std::size_t i = 0; i + 1 < file["chunks"].size(); ++i)
      EXPECT_EQ(file["chunks"][i]["decoded_bytes"], whole);
  }
}

TEST_F(OptionEffect, WhatADeviceDecodesHoldsNoZstd) {
  ASSERT_TRUE(coders(listed({"-9"}, "text")).contains("zstd")) << "text is for zstd";
  for (const char* level : {"-1", "-5", "-9"})
    EXPECT_FALSE(coders(listed({level, "--device-decodable"}, "text")).contains("zstd")) << level;
}

TEST_F(OptionEffect, TheDeviceIsNamedWhereAskedFor) {
  for (const Names& arguments : {Names{"compress", "-vc", "--device", "cpu", "a"},
                                 Names{"compress", "-vc", "--device=cpu", "-T2", "a"}})
    EXPECT_NE(run(arguments).err.find(", cpu "), std::string::npos) << run(arguments).err;
  write_file("a.gdz", compress({}).out);
  for (Names arguments :
       {Names{"decompress", "-c", "a.gdz"}, Names{"test", "a.gdz"}, Names{"cat", "a.gdz"}}) {
    arguments.insert(arguments.end(), {"--device", "cpu"});
    EXPECT_EQ(run(arguments).exit_status, 0) << arguments[0];
    arguments.back() = "abacus";
    const Outcome unknown = run(arguments);
    EXPECT_EQ(unknown.exit_status, 1) << arguments[0];
    EXPECT_NE(unknown.err.find("'abacus'"), std::string::npos) << unknown.err;
  }
  EXPECT_EQ(run({"bench", "-1", "--device", "abacus", "a"}).exit_status, 1);
}

TEST_F(OptionEffect, ThreadsDoNotChangeWhatComesBack) {
  write_file("a.gdz", compress({"--chunk", "4K"}).out);
  for (const char* threads : {"-T1", "-T3", "-T0", "--threads=2"}) {
    EXPECT_TRUE(run({"decompress", "-c", threads, "a.gdz"}).out == bytes_) << threads;
    EXPECT_TRUE(run({"cat", threads, "a.gdz"}).out == bytes_) << threads;
    EXPECT_EQ(run({"test", threads, "a.gdz"}).exit_status, 0) << threads;
  }
  for (const char* threads : {"-T4097", "-T-1", "-Tx"})
    for (const char* command : {"decompress", "test", "cat"})
      EXPECT_EQ(run({command, threads, "a.gdz"}).exit_status, 1) << command << threads;
}

TEST_F(OptionEffect, QuietLeavesErrorsAndTwiceNothing) {
  write_file("a.gdz", compress({"--chunk", "4K"}).out);
  write_file("half.gdz", read_file("a.gdz").substr(0, read_file("a.gdz").size() / 2));
  struct Case {
    Names arguments;
    bool is_error;
  };
  const Case cases[] = {
      {{"compress", "-c", "a"}, false}, {{"compress", "a.gdz"}, false},
      {{"compress", "missing"}, true},  {{"decompress", "missing.gdz"}, true},
      {{"test", "half.gdz"}, true},     {{"decompress", "--salvage", "-c", "half.gdz"}, false},
      {{"list", "missing"}, true},      {{"cat", "missing"}, true},
      {{"bench", "missing"}, true},
  };
  for (const auto& [arguments, is_error] : cases) {
    const Outcome loud = run(arguments);
    EXPECT_NE(loud.err, "") << arguments[0];
    for (const std::string option : {"-q", "--quiet", "-qq"}) {
      Names quieter = arguments;
      quieter.insert(quieter.begin() + 1, option);
      const Outcome quiet = run(quieter);
      EXPECT_EQ(quiet.exit_status, loud.exit_status) << arguments[0] << option;
      EXPECT_EQ(quiet.err.empty(), !is_error || option == "-qq") << arguments[0] << quiet.err;
      EXPECT_TRUE(quiet.out == loud.out) << arguments[0];
    }
  }
}

TEST_F(OptionEffect, VerboseSaysSizes) {
  const std::string packed = compress({}).out;
  const std::string sizes =
      std::to_string(bytes_.size()) + " to " + std::to_string(packed.size()) + " bytes";
  EXPECT_NE(run({"compress", "--verbose", "-c", "a"}).err.find(sizes), std::string::npos);
  write_file("a.gdz", packed);
  const Outcome back = run({"decompress", "-v", "-c", "a.gdz"});
  const std::string sizes_back =
      std::to_string(packed.size()) + " to " + std::to_string(bytes_.size()) + " bytes";
  EXPECT_NE(back.err.find(sizes_back), std::string::npos) << back.err;
  EXPECT_EQ(run({"decompress", "-c", "a.gdz"}).err, "");
}

TEST_F(OptionEffect, ShortNamesAreTheLongOnes) {
  EXPECT_EQ(run({"-h"}).out, run({"--help"}).out);
  EXPECT_EQ(run({"help"}).out, run({"--help"}).out);
  EXPECT_EQ(run({"-V"}).out, run({"--version"}).out);
  EXPECT_EQ(run({"-d", "--help"}).out, run({"decompress", "-h"}).out);
  write_file("a.gdz", compress({}).out);
  EXPECT_EQ(run({"compress", "-q", "--stdout", "a"}).out, read_file("a.gdz"));
  EXPECT_EQ(run({"compress", "-q", "--force", "--output=b.gdz", "a"}).exit_status, 0);
  EXPECT_TRUE(read_file("b.gdz") == read_file("a.gdz"));
}

TEST_F(OptionEffect, BenchMeasuresWhatCompressWouldWrite) {
  const Names text_options[] = {
      {"-1"}, {"-9"}, {"-5", "--coder", "raw"}, {"-5", "--type", "u8", "--chunk", "4K"}};
  for (Names options : text_options) {
    const auto size = static_cast<double>(compress(options, "text").out.size());
    const double ratio = static_cast<double>(read_file("text").size()) / size;
    options.insert(options.end(), {"--device", "cpu", "-T1"});
    const Json rows = bench(options, "text");
    ASSERT_EQ(rows.size(), 1u);
    // compress() and the command may cut their bookkeeping differently, not the numbers.
    EXPECT_NEAR(rows[0]["ratio"].get<double>() / ratio, 1, 0.02) << options[0];
  }
}

TEST_F(OptionEffect, BenchHasARowForEachLevelAndDevice) {
  std::multiset<int> levels;
  for (const Json& row : bench({"-3", "-8", "--device", "cpu", "-T2"}, "few")) {
    levels.insert(row["level"].get<int>());
    EXPECT_EQ(row["device"], "cpu");
    EXPECT_EQ(row["threads"], 2);
  }
  EXPECT_EQ(levels, (std::multiset<int>{3, 8}));
  EXPECT_EQ(bench({"-3", "-4", "--device", "cpu", "--device", "auto"}, "few").size(), 4u);
  const Outcome table = run({"bench", "-1", "--device", "cpu", "--record", "u8x3,i16", "few"});
  EXPECT_NE(table.out.find("u8x3,i16"), std::string::npos) << table.out;
}

}  // namespace
}  // namespace gdelta::cli_test
