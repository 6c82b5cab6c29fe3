// gdelta list: what its tables look like, their legend, and why a chunk was coded as it was.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "codec/faults/fault_table.h"
#include "command_runner.h"
#include "places.h"

namespace gdelta::cli_test {
namespace {

using Json = nlohmann::json;

void append_i32(std::string& bytes, std::int32_t value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// 32-bit sums of sums of noise: order 2 leaves the noise.
std::string integrated_twice(int tuples) {
  std::string bytes;
  std::uint32_t random = 5;
  std::int32_t speed = 0, place = 0;
  for (int i = 0; i < tuples; ++i) {
    speed += static_cast<std::int32_t>(next_random(random) >> 28) - 8;
    append_i32(bytes, place += speed);
  }
  return bytes;
}

/// Rows of 1000 numbers of their own, each row much like the one before.
std::string image(int rows) {
  std::string bytes;
  std::uint32_t random = 6;
  std::vector<std::int32_t> row(1000);
  for (std::int32_t& value : row) value = static_cast<std::int32_t>(next_random(random) >> 12);
  for (int i = 0; i < rows; ++i)
    for (const std::int32_t value : row)
      append_i32(bytes, value + static_cast<std::int32_t>(next_random(random) >> 29));
  return bytes;
}

class ListCommand : public CommandTest {
 protected:
  void make(const std::string& name, const std::string& bytes, Names options) {
    options.insert(options.begin(), {"compress", "-q"});
    write_file(name, run(options, bytes).out);
  }
  std::string list(Names arguments) {
    arguments.insert(arguments.begin(), "list");
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    return outcome.out;
  }
  void expect_narrow(const std::string& text) {
    for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), kMostColumns) << line;
  }
};

TEST_F(ListCommand, TellsLevelOriginAndMetadata) {
  make("given.gdz", integrated_twice(3000),
       {"-7", "--type", "i32", "--meta", "unit=m/s", "--meta", "odd=a=\x1b[1mb", "--meta",
        "empty="});
  const std::string text = list({"-v", "given.gdz"});
  EXPECT_NE(
      text.find("\nmade at level 7; its type was given\nunit = m/s\nodd = a=?[1mb\nempty = ''\n"),
      std::string::npos)
      << text;
  const Json file = Json::parse(list({"--json", "given.gdz"}))["files"][0];
  EXPECT_EQ(file["metadata"], (Json{{"unit", "m/s"}, {"odd", "a=\x1b[1mb"}, {"empty", ""}}));
  EXPECT_EQ(file["chunks"][0]["level"], 7);
  EXPECT_EQ(file["chunks"][0]["layout_origin"], "given");

  make("found.gdz", integrated_twice(30000), {"-2"});
  const std::string found = list({"-v", "found.gdz"});
  EXPECT_NE(found.find("\nmade at level 2; its type was found in a sample\n"), std::string::npos)
      << found;
  EXPECT_EQ(Json::parse(list({"--json", "found.gdz"}))["files"][0]["metadata"], Json::object());
}

TEST_F(ListCommand, MetadataThatCannotBeIsRefused) {
  for (const char* meta : {"unit", "=x", "k=\xff"}) {
    const Outcome outcome = run({"compress", "-c", "--meta", meta}, "numbers");
    EXPECT_EQ(outcome.exit_status, 1) << meta;
    EXPECT_NE(outcome.err.find("--meta"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(ListCommand, EveryTableFitsATerminal) {
  const std::filesystem::path golden =
      std::filesystem::path(test::kSourceDir) / "tests/golden/format0";
  Names all;
  for (const auto& entry : std::filesystem::directory_iterator(golden)) {
    if (entry.path().extension() != ".gdz") continue;
    all.push_back("g" + std::to_string(all.size()) + ".gdz");
    std::filesystem::copy_file(entry.path(), path(all.back()));
  }
  ASSERT_GT(all.size(), 10u);
  make("lanes.gdz", integrated_twice(6400) + random_bytes(5000),
       {"--type", "i16:be", "--tuple", "64"});
  make("record.gdz", sensor_bytes(6000), {"--record", "i16,u8x2,f32:bex3,i24x5,u64,bf16x3,f64,i8"});
  make("rows.gdz", image(40), {"-9", "--type", "i32", "--coder", "pack"});
  all.insert(all.end(), {"lanes.gdz", "record.gdz", "rows.gdz"});
  for (const char* form : {"-q", "-v", "--why"}) {
    Names arguments = all;
    arguments.insert(arguments.begin(), form);
    const std::string text = list(arguments);
    EXPECT_GT(lines_of(text).size(), all.size());
    expect_narrow(text);
  }
}

TEST_F(ListCommand, ShorthandIsExplainedUnderTheTableWhereItIsUsedOnly) {
  make("plain.gdz", integrated_twice(2000), {"--type", "i32", "--order", "2", "--coder", "pack"});
  const std::string plain = list({"plain.gdz"});
  EXPECT_EQ(lines_of(plain).size(), 2u) << plain;
  EXPECT_EQ(list({"-v", "plain.gdz"}).find("differences"), std::string::npos);

  make("rows.gdz", image(20), {"--type", "i32", "--coder", "pack", "--order", "0"});
  const std::string rows = list({"rows.gdz"});
  EXPECT_NE(rows.find(" 0+s1000 "), std::string::npos) << rows;
  EXPECT_NE(rows.find("\n  +s640    then differences over 640 tuples"), std::string::npos) << rows;
  EXPECT_EQ(rows.find("once to 3 times"), std::string::npos) << rows;

  std::string lanes;
  const std::string smooth = integrated_twice(3000);
  std::uint32_t random = 8;
  for (std::size_t i = 0; i < smooth.size(); i += 4) {
    lanes += smooth.substr(i, 4);
    append_i32(lanes, static_cast<std::int32_t>(next_random(random) >> 20));
  }
  make("lanes.gdz", lanes, {"-1", "--type", "i32", "--tuple", "2", "--coder", "pack"});
  const std::string range = list({"lanes.gdz"});
  EXPECT_NE(range.find(" 0-2 "), std::string::npos) << range;
  EXPECT_NE(range.find("\n  1-3      differences are taken once to 3 times"), std::string::npos);
  const std::string verbose = list({"-v", "lanes.gdz"});
  EXPECT_NE(verbose.find(" i32x2 pack 2,0\n"), std::string::npos) << verbose;
  EXPECT_NE(verbose.find("\n  2,1,0    how many times"), std::string::npos) << verbose;
}

TEST_F(ListCommand, TheHelpPageExplainsTheShorthand) {
  const std::string help = list({"--help"});
  for (const char* word : {"1-3:", "+s640", "+s640^2", "2,1,0", "constant +1", "ordered", "--why"})
    EXPECT_NE(help.find(word), std::string::npos) << word;
}

TEST_F(ListCommand, VerboseShowsTheOrderedMapAndBothStrides) {
  const std::filesystem::path golden =
      std::filesystem::path(test::kSourceDir) / "tests/golden/format0";
  std::filesystem::copy_file(golden / "zstd_ordered_strides_big_endian.gdz", path("floats.gdz"));
  const Json column =
      Json::parse(list({"--json", "floats.gdz"}))["files"][0]["chunks"][0]["columns"][0];
  ASSERT_EQ(column["map"], "ordered") << "the file shows no map";
  EXPECT_NE(list({"-v", "floats.gdz"}).find(" ordered"), std::string::npos);
  make("plain.gdz", integrated_twice(500), {"--type", "f32"});
  EXPECT_EQ(list({"-v", "plain.gdz"}).find(" ordered"), std::string::npos);

  std::filesystem::copy_file(golden / "pack_strides.gdz", path("two.gdz"));
  const Json strides =
      Json::parse(list({"--json", "two.gdz"}))["files"][0]["chunks"][0]["columns"][0]["strides"];
  ASSERT_EQ(strides.size(), 2u);
  const std::string rows = list({"-v", "two.gdz"});
  for (const Json& stride : strides) {
    const int order = stride["order"];
    const std::string word = " +s" + std::to_string(stride["stride"].get<int>()) +
                             (order > 1 ? "^" + std::to_string(order) : "");
    EXPECT_NE(rows.find(word), std::string::npos) << word << " in " << rows;
  }
}

TEST_F(ListCommand, VerboseShowsMapsAndLanesThatAreTakenFromOthers) {
  const Layout layout = parse_record("f32x3,u16,i64,u32").value();
  const plain::Choice floats = plain::with_steps(
      plain::with_maps(plain::linked(Coder::pack, layout.columns[0], {1}),
                       {{ValueMap::ordered}, plain::decimal(1), plain::scaled(0.0012207f)}),
      {{2, 1, 0}, {0, 1, 2}});
  const plain::Choice integers =
      plain::with_maps(plain::linked(Coder::pack, layout.columns[1], {1}), {plain::multiple(200)});
  const plain::Choice keys = plain::with_maps(plain::linked(Coder::pack, layout.columns[2], {1}),
                                              {plain::dictionary({0, 5, 9}, {64})});
  const plain::Choice coded = plain::with_maps(plain::linked(Coder::pack, layout.columns[3], {1}),
                                               {plain::dictionary_by_lzma({0, 5, 9, 11})});
  plain::StreamBuilder builder;
  builder.layout(layout).chunk(plain::Bytes(100 * layout.record_bytes()),
                               {floats, integers, keys, coded});
  const plain::Bytes stream = builder.finish();
  write_file("maps.gdz", std::string(reinterpret_cast<const char*>(stream.data()), stream.size()));
  std::string joined;
  const std::string text = list({"-v", "maps.gdz"});
  for (const char c : text)
    if (c > ' ' || !joined.ends_with(' ')) joined += c > ' ' ? c : ' ';
  EXPECT_NE(joined.find("f32x3 pack 1 by lane: ordered, decimal /10, scaled x0.0012207 lanes 2-1 "
                        "0+1/2"),
            std::string::npos)
      << text;
  EXPECT_NE(joined.find("u16 pack 1 multiple 200"), std::string::npos) << text;
  EXPECT_NE(joined.find("i64 pack 1 dictionary of 3 "), std::string::npos) << text;
  EXPECT_NE(joined.find("u32 pack 1 dictionary of 4 by lzma"), std::string::npos) << text;
  for (const char* explained : {"\n  ordered  ", "\n  decimal  ", "\n  scaled   ", "\n  multiple  ",
                                "\n  dictionary  ", "\n  lanes    "})
    EXPECT_NE(text.find(explained), std::string::npos) << explained << text;
  EXPECT_EQ(text.find("by_lane"), std::string::npos) << text;
  expect_narrow(text);
  const Json columns =
      Json::parse(list({"--json", "maps.gdz"}))["files"][0]["chunks"][0]["columns"];
  EXPECT_EQ(columns[0]["map"], "by_lane");
  EXPECT_EQ(columns[0]["map_words"], "by lane: ordered, decimal /10, scaled x0.0012207");
  EXPECT_EQ(columns[0]["lane_map"], "lanes 2-1 0+1/2");
  EXPECT_FALSE(columns[0].contains("exceptions"));
  EXPECT_EQ(columns[1]["map"], "multiple");
  EXPECT_EQ(columns[1]["map_words"], "multiple 200");
  EXPECT_FALSE(columns[1].contains("lane_map"));
}

TEST_F(ListCommand, ALineIsFilledToItsLastColumn) {
  // A lane that counts beside six of noise.
  std::string bytes;
  std::uint32_t random = 9;
  for (int i = 0; i < 14 * 3000; ++i)
    bytes += static_cast<char>(i % 14 == 0   ? i / 14
                               : i % 14 == 7 ? i / 14 + 1
                                             : next_random(random) >> 24);
  make("bytes.gdz", bytes, {"--type", "u8", "--tuple", "7", "--coder", "pack"});
  const std::string fits = lines_of(list({"-v", "bytes.gdz"})).at(6);
  EXPECT_TRUE(fits.ends_with("  u8x7 pack 1,0,0,0,0,0,0")) << fits;
  EXPECT_EQ(fits.size(), kMostColumns);
  make("halves.gdz", bytes, {"--type", "u16", "--tuple", "7", "--coder", "pack"});
  const Names broken = lines_of(list({"-v", "halves.gdz"}));
  EXPECT_TRUE(broken.at(6).ends_with("  u16x7 pack")) << broken.at(6);
}

TEST_F(ListCommand, TheShareOfFramingIsThatOfTheFile) {
  make("noise.gdz", random_bytes(4000), {"--type", "u8", "--coder", "raw"});
  const auto file = static_cast<double>(read_file("noise.gdz").size());
  const std::string text = list({"-v", "noise.gdz"});
  const std::string framing = fmt::format("1 chunk; heads and indexes take {} bytes, {:.1f} %\n",
                                          file - 4000, 100 * (file - 4000) / file);
  EXPECT_NE(text.find(framing), std::string::npos) << framing << text;
}

TEST_F(ListCommand, BitsAreThoseOfAValue) {
  make("noise.gdz", random_bytes(4000), {"--type", "i32", "--coder", "raw"});
  const Names lines = lines_of(list({"-v", "noise.gdz"}));
  EXPECT_NE(lines.back().find(" 32.0  i32 raw"), std::string::npos) << lines.back();
}

TEST_F(ListCommand, WhyNamesTheOrderThatWouldHaveBeenCheapest) {
  make("a.gdz", integrated_twice(4000), {"-2", "--type", "i32", "--order", "0", "--coder", "pack"});
  const std::string text = list({"--why", "a.gdz"});
  std::uint64_t least_packed = UINT64_MAX, least = UINT64_MAX;
  std::string best_packed, best;
  for (const std::string& line : lines_of(text)) {
    if (line.find(" %  ") == std::string::npos) continue;
    const std::uint64_t bytes = std::stoull(line);
    if (bytes < least) best = line;
    least = std::min(least, bytes);
    if (line.find("  pack ") == std::string::npos) continue;
    if (bytes < least_packed) best_packed = line;
    least_packed = std::min(least_packed, bytes);
  }
  EXPECT_NE(best_packed.find(" %  pack 2"), std::string::npos) << text;
  EXPECT_NE(best_packed.find(" -"), std::string::npos) << best_packed;  // less than was stored
  EXPECT_NE(best.find("(the smallest)"), std::string::npos) << text;
  for (const char* way : {"  raw\n", "  pack 0\n", "  pack 8\n", "  zstd 0\n", "  zstd 2"})
    EXPECT_NE(text.find(way), std::string::npos) << way;
  EXPECT_EQ(list({"-v", "a.gdz"}).find("zstd"), std::string::npos);
}

TEST_F(ListCommand, WhyShowsTheBitsOfEachLane) {
  std::string lanes;
  std::uint32_t random = 8;
  for (int i = 0; i < 12800; ++i) {
    append_i32(lanes, static_cast<std::int32_t>(next_random(random) >> 28));
    append_i32(lanes, static_cast<std::int32_t>(next_random(random) >> 20));
  }
  make("a.gdz", lanes, {"--type", "i32", "--tuple", "2", "--order", "0", "--coder", "pack"});
  // Zigzag takes a bit, a descriptor an eighth of one.
  EXPECT_NE(list({"--why", "a.gdz"}).find("bits of each lane: 5.1 13.1\n"), std::string::npos)
      << list({"--why", "a.gdz"});
}

TEST_F(ListCommand, WhyIsInJsonWhereItIsAskedFor) {
  make("a.gdz", sensor_bytes(2000), {"--record", "i16,u16", "--coder", "pack"});
  const auto column = [&](const Names& arguments) {
    return Json::parse(list(arguments))["files"][0]["chunks"][0]["columns"][1];
  };
  EXPECT_FALSE(column({"--json", "a.gdz"}).contains("alternatives"));
  const Json why = column({"--json", "--why", "a.gdz"});
  EXPECT_EQ(why.value("lane_bits", Json()).size(), 1u);
  ASSERT_GE(why["alternatives"].size(), 10u);
  EXPECT_EQ(why["alternatives"][0]["coder"], "raw");
  EXPECT_EQ(why["alternatives"][0]["compressed_bytes"], 4000);
  EXPECT_EQ(why["alternatives"][3]["orders"], Json{2});
}

TEST_F(ListCommand, WhyHoldsNoMoreMemoryThanAllowedAndTellsDamage) {
  make("a.gdz", sensor_bytes(50000), {"--type", "i16"});
  const Outcome refused = run({"list", "--why", "-M", "64K", "a.gdz"});
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_NE(refused.err.find("memory"), std::string::npos) << refused.err;
  std::string damaged = read_file("a.gdz");
  damaged[damaged.size() / 2] ^= 1;
  write_file("damaged.gdz", damaged);
  const Outcome outcome = run({"list", "--why", "damaged.gdz"});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_NE(outcome.err.find("chunk 0, "), std::string::npos) << outcome.err;
}

TEST_F(ListCommand, GoesOnBehindAColumnThatThisVersionDoesNotKnow) {
  faults::StreamFields fields = faults::raw_stream("i16x2", 300);
  const auto as_text = [](const faults::Bytes& bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  write_file("known.gdz", as_text(faults::write(fields).bytes));
  fields.chunks[0].models[0].coder = kNumCoders;
  write_file("later.gdz", as_text(faults::write(fields).bytes));
  const std::string stage = fmt::format("coder {}", kNumCoders);

  const std::string sums = list({"known.gdz", "later.gdz"});
  EXPECT_NE(sums.find(" raw,unknown "), std::string::npos) << sums;
  EXPECT_NE(sums.find("\n  unknown  "), std::string::npos) << sums;
  EXPECT_EQ(list({"known.gdz"}).find("unknown"), std::string::npos);
  for (const std::string form : {"-v", "--why"}) {
    const std::string text = list({form, "later.gdz"});
    std::string words;  // as if the lines were not broken
    for (const std::string& line : lines_of(text))
      words += line.substr(std::min(line.size(), line.find_first_not_of(' '))) + " ";
    EXPECT_NE(words.find(stage + ", unknown to this version"), std::string::npos) << text;
    EXPECT_NE(text.find(" raw\n"), std::string::npos) << text;
    expect_narrow(text);
  }
  const Json chunks = Json::parse(list({"--json", "later.gdz"}))["files"][0]["chunks"];
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_EQ(chunks[0]["columns"][0]["unknown"], stage);
  EXPECT_EQ(chunks[0]["columns"][0]["coder"], "unknown");
  EXPECT_EQ(chunks[1]["columns"][0].count("unknown"), 0u);

  const Outcome all = run({"cat", "later.gdz"});
  EXPECT_EQ(all.exit_status, 1);
  EXPECT_NE(all.err.find("chunk 0, byte"), std::string::npos) << all.err;
  EXPECT_NE(all.err.find("uses " + stage + ","), std::string::npos) << all.err;
  const std::string values = run({"cat", "known.gdz"}).out;
  const std::size_t begin = chunks[1]["decoded_at"];
  const Outcome behind = run({"cat", "--range", fmt::format("{}:", begin), "later.gdz"});
  EXPECT_EQ(behind.exit_status, 0) << behind.err;
  EXPECT_EQ(behind.out, values.substr(begin));
}

}  // namespace
}  // namespace gdelta::cli_test
