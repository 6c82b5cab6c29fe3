// gdelta list, cat, bench and devices; help, version and wrong usage.
#include <nlohmann/json.hpp>

#include "command_runner.h"

namespace gdelta::cli_test {
namespace {

using Json = nlohmann::json;

class InspectCommands : public CommandTest {
 protected:
  InspectCommands() {
    write_file("a", bytes_);
    write_file("a.gdz", run({"compress", "-qc", "--type", "i16", "--tuple", "2", "--chunk", "4K",
                             "--coder", "pack", "a"})
                            .out);
  }
  std::set<std::string> keys(const Json& object) const {
    std::set<std::string> found;
    for (const auto& item : object.items()) found.insert(item.key());
    return found;
  }
  const std::string bytes_ = sensor_bytes(10240);
};

TEST_F(InspectCommands, ListShowsALineForEachFile) {
  const Outcome outcome = run({"list", "a.gdz", "missing", "a", "a.gdz"});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 4) << outcome.out;
  EXPECT_NE(outcome.out.find("i16x2"), std::string::npos);
  EXPECT_NE(outcome.out.find("pack"), std::string::npos);
  EXPECT_NE(outcome.out.find(" 40960 "), std::string::npos);
  EXPECT_NE(outcome.out.find("2 files"), std::string::npos);
  EXPECT_NE(outcome.err.find("gdelta: missing: "), std::string::npos);
  EXPECT_NE(outcome.err.find("gdelta: a: byte 0: "), std::string::npos);
}

TEST_F(InspectCommands, ListVerboseShowsEveryChunk) {
  const Outcome outcome = run({"list", "-v", "a.gdz"});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 6 + 10) << outcome.out;
}

TEST_F(InspectCommands, ListNeedsAFileThatItCanReadOutOfOrder) {
  EXPECT_EQ(run({"list", "-"}, read_file("a.gdz")).exit_status, 1);
}

TEST_F(InspectCommands, PositionsCountFromWhereStdinStands) {
  const std::string first = run({"compress", "-q"}, random_bytes(3000)).out;
  write_file("joined", first + read_file("a.gdz"));
  const auto behind_the_first = [&](const Names& arguments) {
    return start(arguments,
                 [&] {
                   const int file = open(path("joined").c_str(), O_RDONLY);
                   lseek(file, static_cast<off_t>(first.size()), SEEK_SET);
                   dup2(file, STDIN_FILENO);
                 })
        .finish();
  };
  const Outcome part = behind_the_first({"cat", "--range", "5:5000", "-"});
  EXPECT_EQ(part.exit_status, 0) << part.err;
  EXPECT_TRUE(part.out == bytes_.substr(5, 4995));
  EXPECT_TRUE(behind_the_first({"cat", "--unit", "records", "--range", "9:", "-"}).out ==
              bytes_.substr(36));
  EXPECT_TRUE(behind_the_first({"cat", "-"}).out == bytes_);
  EXPECT_TRUE(behind_the_first({"decompress", "--salvage"}).out == bytes_);
  EXPECT_TRUE(behind_the_first({"compress", "-q", "--type", "u8"}).out ==
              run({"compress", "-q", "--type", "u8"}, read_file("a.gdz")).out);
  for (const char* option : {"-q", "-v", "--why"}) {
    std::string listed = run({"list", option, "a.gdz"}).out;
    listed.replace(listed.find("a.gdz"), 5, "-");
    EXPECT_EQ(behind_the_first({"list", option, "-"}).out, listed) << option;
  }
  EXPECT_EQ(behind_the_first({"cat", "--range", "40961:", "-"}).exit_status, 1);
}

TEST_F(InspectCommands, ListJsonHasItsDocumentedMembers) {
  const Outcome outcome = run({"list", "--json", "a.gdz"});
  ASSERT_EQ(outcome.exit_status, 0);
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(keys(json), (std::set<std::string>{"files"}));
  ASSERT_EQ(json["files"].size(), 1u);
  const Json& file = json["files"][0];
  EXPECT_EQ(keys(file),
            (std::set<std::string>{"file", "streams", "compressed_bytes", "decoded_bytes", "ratio",
                                   "metadata", "layouts", "chunks"}));
  EXPECT_EQ(file["file"], "a.gdz");
  EXPECT_EQ(file["streams"], 1);
  EXPECT_EQ(file["compressed_bytes"], read_file("a.gdz").size());
  EXPECT_EQ(file["decoded_bytes"], bytes_.size());
  EXPECT_EQ(file["layouts"], (Json{"i16x2"}));
  ASSERT_EQ(file["chunks"].size(), 10u);
  const Json& chunk = file["chunks"][3];
  EXPECT_EQ(keys(chunk), (std::set<std::string>{"number", "byte", "block_bytes", "records",
                                                "decoded_at", "decoded_bytes", "opaque", "layout",
                                                "level", "layout_origin", "columns"}));
  EXPECT_EQ(chunk["number"], 3);
  EXPECT_EQ(chunk["records"], 1024);
  EXPECT_EQ(chunk["decoded_at"], 3 * 4096);
  EXPECT_EQ(chunk["opaque"], false);
  EXPECT_EQ(chunk["layout"], 0);
  ASSERT_EQ(chunk["columns"].size(), 1u);
  EXPECT_EQ(keys(chunk["columns"][0]), (std::set<std::string>{"coder", "map", "predictor", "orders",
                                                              "strides", "compressed_bytes"}));
  EXPECT_EQ(chunk["columns"][0]["coder"], "pack");
  EXPECT_EQ(chunk["columns"][0]["orders"].size(), 2u);
}

TEST_F(InspectCommands, ListJsonIsJsonWhateverTheNameIs) {
  const std::string name = "quote\" \xff\n.gdz";
  write_file(name, read_file("a.gdz"));
  const Outcome outcome = run({"list", "--json", name});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(Json::parse(outcome.out)["files"].size(), 1u);
  EXPECT_EQ(run({"list", name + "x"}).err,
            "gdelta: quote\" \xff?.gdzx: No such file or directory\n");
}

TEST_F(InspectCommands, CatWritesTheBytesOfTheRange) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {":", bytes_},
      {"0:0", ""},
      {"5:5", ""},
      {"4095:4097", bytes_.substr(4095, 2)},
      {"4K:8K", bytes_.substr(4096, 4096)},
      {":3", bytes_.substr(0, 3)},
      {"40959:", bytes_.substr(40959)},
      {"40960:", ""},
      {"1:40960", bytes_.substr(1)},
  };
  for (const auto& [range, expected] : cases) {
    const Outcome outcome = run({"cat", "--range", range, "a.gdz"});
    EXPECT_EQ(outcome.exit_status, 0) << range << outcome.err;
    EXPECT_TRUE(outcome.out == expected) << range;
  }
  EXPECT_TRUE(run({"cat", "a.gdz"}).out == bytes_);
}

TEST_F(InspectCommands, CatCountsRecords) {
  const auto records = [&](const std::string& range) {
    return run({"cat", "--unit", "records", "--range", range, "a.gdz"});
  };
  EXPECT_TRUE(records("1000:1030").out == bytes_.substr(4000, 120));
  EXPECT_TRUE(records(":").out == bytes_);
  EXPECT_EQ(records("0:10240").exit_status, 0);
  EXPECT_EQ(records("0:10241").exit_status, 1);

  // Between two streams of different records lie bytes that are none.
  const std::string joined =
      read_file("a.gdz") + run({"compress", "-q", "--type", "u8", "--tuple", "3"}, "abcdefg").out;
  write_file("joined.gdz", joined);
  const Outcome tail = run({"cat", "--unit", "records", "--range", "10239:10242", "joined.gdz"});
  EXPECT_EQ(tail.exit_status, 0) << tail.err;
  EXPECT_TRUE(tail.out == bytes_.substr(40956) + "abcdef");
}

TEST_F(InspectCommands, CatReadsOnlyTheChunksItNeeds) {
  std::string damaged = read_file("a.gdz");
  damaged[200] ^= 1;  // in chunk 0
  write_file("damaged.gdz", damaged);
  const Outcome late = run({"cat", "--range", "20K:30K", "damaged.gdz"});
  EXPECT_EQ(late.exit_status, 0) << late.err;
  EXPECT_TRUE(late.out == bytes_.substr(20480, 10240));
  EXPECT_EQ(run({"cat", "--range", "0:10", "damaged.gdz"}).exit_status, 1);
}

TEST_F(InspectCommands, CatRefusesWhatIsNotThere) {
  for (const char* range :
       {"0:40961", "40961:", "99999999999999:", "3:1", "x:y", "5", "-1:2", ""}) {
    const Outcome outcome = run({"cat", "--range", range, "a.gdz"});
    EXPECT_EQ(outcome.exit_status, 1) << range;
    EXPECT_EQ(outcome.out, "") << range;
    EXPECT_NE(outcome.err, "") << range;
  }
}

TEST_F(InspectCommands, BenchJsonHasItsDocumentedMembers) {
  const Outcome outcome = run({"bench", "--json", "-1", "-5", "--device", "cpu", "-T1", "a"});
  ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(keys(json), (std::set<std::string>{"results", "totals", "advice"}));
  ASSERT_EQ(json["results"].size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const Json& row = json["results"][i];
    EXPECT_EQ(keys(row),
              (std::set<std::string>{"file", "codec", "level", "device", "threads", "layout",
                                     "layout_origin", "decoded_bytes", "compressed_bytes", "ratio",
                                     "search_seconds", "encode_gb_s", "decode_gb_s",
                                     "encode_memory_bytes", "decode_memory_bytes"}));
    EXPECT_EQ(row["level"], i == 0 ? 1 : 5);
    EXPECT_EQ(row["device"], "cpu");
    EXPECT_EQ(row["threads"], 1);
    EXPECT_GT(row["ratio"].get<double>(), 1.5);
    EXPECT_GT(row["encode_gb_s"].get<double>(), 0);
    EXPECT_GT(row["decode_gb_s"].get<double>(), 0);
  }
}

TEST_F(InspectCommands, BenchPrintsATableBesideZstd) {
  const Outcome outcome = run({"bench", "-1", "--device", "cpu", "--peers", "zstd", "-T2", "a"});
  ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
  EXPECT_EQ(outcome.out.rfind("a: 40960 bytes, i16x2 (found), 2 threads\n", 0), 0u) << outcome.out;
  EXPECT_NE(outcome.out.find("\ngdelta -1 cpu "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\nzstd -3   cpu "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\nzstd -19  cpu "), std::string::npos) << outcome.out;
}

TEST_F(InspectCommands, BenchSkipsAnEmptyFileAndRefusesAMissingOne) {
  write_file("empty", "");
  EXPECT_EQ(run({"bench", "-1", "--device", "cpu", "empty"}).exit_status, 2);
  const Outcome outcome = run({"bench", "missing"});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.err, "gdelta: missing: No such file or directory\n");
}

TEST_F(InspectCommands, DevicesNamesTheCpuFirst) {
  const Outcome outcome = run({"devices"});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(outcome.out.rfind("cpu ", 0), 0u) << outcome.out;
}

TEST_F(InspectCommands, HelpAndVersionGoToStdout) {
  EXPECT_EQ(run({"--version"}).out.rfind("gdelta ", 0), 0u);
  EXPECT_EQ(run({"help", "cat"}).out, run({"cat", "--help"}).out);
  for (const char* command :
       {"compress", "decompress", "test", "list", "cat", "bench", "devices"}) {
    const Outcome outcome = run({command, "--help"});
    EXPECT_EQ(outcome.exit_status, 0) << command;
    EXPECT_EQ(outcome.err, "") << command;
    EXPECT_NE(outcome.out.find("Usage: gdelta " + std::string(command)), std::string::npos);
    EXPECT_NE(outcome.out.find("Example"), std::string::npos) << command;
    EXPECT_NE(run({"--help"}).out.find(command), std::string::npos);
  }
}

TEST_F(InspectCommands, WrongUsageIsExplainedOnStderr) {
  for (const Names& arguments :
       {Names{"frobnicate"}, Names{"list"}, Names{"test"}, Names{"cat"}, Names{"bench"},
        Names{"devices", "x"}, Names{"cat", "--unit", "furlongs", "a.gdz"}}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_status, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find("--help"), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace gdelta::cli_test
