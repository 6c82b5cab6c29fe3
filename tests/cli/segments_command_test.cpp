// Files whose values come in segments: compress and decompress --segments, cat --segment, list.
#include <nlohmann/json.hpp>

#include "command_runner.h"

namespace gdelta::cli_test {
namespace {

std::string numbers(const std::vector<std::uint64_t>& values, int bytes) {
  std::string text;
  for (const std::uint64_t value : values)
    for (int b = 0; b < bytes; ++b) text += static_cast<char>(value >> 8 * b);
  return text;
}

/// As numpy.save writes it.
std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
  std::string text =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  std::string head("\x93NUMPY\x01\0", 8);
  head += static_cast<char>(text.size() & 0xff);
  head += static_cast<char>(text.size() >> 8);
  return head + text + data;
}

std::string npy(const std::string& descr, std::size_t count, const std::string& data) {
  return npy(descr, std::to_string(count) + ",", data);
}

class SegmentsCommand : public CommandTest {
 protected:
  SegmentsCommand() {
    std::uint32_t random = 3;
    for (int k = 0; k < 500; ++k) {
      std::uint64_t value = next_random(random) % 1000;
      const std::uint64_t length = k % 7 == 0 ? 0 : next_random(random) >> 28;
      for (std::uint64_t i = 0; i < length; ++i)
        values_.push_back(value += next_random(random) >> 27);
      offsets_.push_back(values_.size());
    }
    write_file("values", numbers(values_, 4));
    write_file("offsets", numbers(offsets_, 8));
  }
  Outcome compress(const std::string& offsets, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"compress", "-f",   "--type",     "u32",
                                      "--chunk",  "2000", "--segments", offsets};
    words.insert(words.end(), more.begin(), more.end());
    words.push_back("values");
    return run(words);
  }
  std::string values_of(std::size_t begin, std::size_t end) const {
    return numbers({values_.begin() + static_cast<std::ptrdiff_t>(offsets_[begin]),
                    values_.begin() + static_cast<std::ptrdiff_t>(offsets_[end])},
                   4);
  }

  std::vector<std::uint64_t> values_;
  std::vector<std::uint64_t> offsets_ = {0};
};

TEST_F(SegmentsCommand, OffsetsOfEveryFormComeBackAsTheyWere) {
  write_file("u64", numbers(offsets_, 8));
  write_file("u32", numbers(offsets_, 4));
  write_file("i64.npy", npy("<i8", offsets_.size(), numbers(offsets_, 8)));
  write_file("i32.npy", npy("<i4", offsets_.size(), numbers(offsets_, 4)));
  for (const std::string name : {"u64", "u32", "i64.npy", "i32.npy"}) {
    const Outcome outcome = compress(name);
    EXPECT_EQ(outcome.exit_status, 0) << name << outcome.err;
    const Outcome back =
        run({"decompress", "-f", "-o", "back", "--segments", "offsets_back", "values.gdz"});
    EXPECT_EQ(back.exit_status, 0) << back.err;
    EXPECT_EQ(read_file("back"), read_file("values")) << name;
    EXPECT_EQ(read_file("offsets_back"), read_file(name)) << name;
  }
}

TEST_F(SegmentsCommand, ValuesAloneComeBackWithoutTheOption) {
  ASSERT_EQ(compress("offsets").exit_status, 0);
  EXPECT_EQ(run({"test", "values.gdz"}).exit_status, 0);
  EXPECT_EQ(run({"decompress", "-c", "values.gdz"}).out, read_file("values"));
  EXPECT_EQ(run({"cat", "--range", "40:80", "values.gdz"}).out, read_file("values").substr(40, 40));
}

TEST_F(SegmentsCommand, CatWritesSegments) {
  ASSERT_EQ(compress("offsets").exit_status, 0);
  EXPECT_EQ(run({"cat", "--segment", "123", "values.gdz"}).out, values_of(123, 124));
  EXPECT_EQ(run({"cat", "--segments", "100:400", "values.gdz"}).out, values_of(100, 400));
  EXPECT_EQ(run({"cat", "--segments", "490:", "values.gdz"}).out, values_of(490, 500));
  const Outcome beyond = run({"cat", "--segment", "500", "values.gdz"});
  EXPECT_EQ(beyond.exit_status, 1);
  EXPECT_NE(beyond.err.find("there are 500 segments"), std::string::npos) << beyond.err;
  EXPECT_EQ(run({"cat", "--segment", "1", "--range", "0:1", "values.gdz"}).exit_status, 1);
}

TEST_F(SegmentsCommand, ListTellsOfThem) {
  ASSERT_EQ(compress("offsets").exit_status, 0);
  const Outcome lines = run({"list", "-v", "values.gdz"});
  EXPECT_NE(lines.out.find("; 500 segments;"), std::string::npos) << lines.out;
  EXPECT_NE(lines.out.find("segments, the last goes on"), std::string::npos) << lines.out;
  const auto json = nlohmann::json::parse(run({"list", "--json", "values.gdz"}).out);
  std::uint64_t begun = 0;
  for (const auto& chunk : json["files"][0]["chunks"])
    begun += chunk["segments"].get<std::uint64_t>() - (chunk["continues"].get<bool>() ? 1 : 0);
  EXPECT_EQ(begun, 500u);
}

TEST_F(SegmentsCommand, ListWithoutOptionsMarksThem) {
  ASSERT_EQ(compress("offsets").exit_status, 0);
  ASSERT_EQ(run({"compress", "-o", "plain.gdz", "--type", "u32", "values"}).exit_status, 0);
  const Outcome marked = run({"list", "values.gdz"});
  EXPECT_NE(marked.out.find(" seg     values.gdz\n"), std::string::npos) << marked.out;
  EXPECT_NE(marked.out.find("\n  seg      values come in segments"), std::string::npos);
  EXPECT_EQ(run({"list", "plain.gdz"}).out.find(" seg"), std::string::npos);
}

TEST_F(SegmentsCommand, ValuesBehindAHeadComeBackWithIt) {
  write_file("values.npy", npy("<u4", values_.size(), read_file("values")));
  for (const std::string name : {"u64", "u32", "i64.npy", "i32.npy"}) {
    const bool is_wide = name.find("64") != std::string::npos, is_npy = name.ends_with("npy");
    const std::string data = numbers(offsets_, is_wide ? 8 : 4);
    write_file(name, is_npy ? npy(is_wide ? "<i8" : "<i4", offsets_.size(), data) : data);
    const Outcome done =
        run({"compress", "-f", "--chunk", "2000", "--segments", name, "values.npy"});
    EXPECT_EQ(done.exit_status, 0) << done.err;
    EXPECT_NE(done.err.find("u32 (as its NPY header says); 500 segments"), std::string::npos)
        << done.err;
    EXPECT_EQ(run({"cat", "--segments", "100:400", "values.npy.gdz"}).out, values_of(100, 400));
    const Outcome back =
        run({"decompress", "-f", "-o", "back", "--segments", "offsets_back", "values.npy.gdz"});
    EXPECT_EQ(back.exit_status, 0) << back.err;
    EXPECT_EQ(read_file("back"), read_file("values.npy")) << name;
    EXPECT_EQ(read_file("offsets_back"), read_file(name)) << name;
  }
}

TEST_F(SegmentsCommand, RowsOfAMatrixAreFoundBesideTheirPointers) {
  std::vector<std::uint64_t> columns, pointers = {0};
  std::uint32_t random = 3;
  for (int row = 0; row < 3000; ++row) {
    const std::uint64_t first = next_random(random) % 100000;
    for (std::uint64_t i = 0; i < 16; ++i) columns.push_back(first + i);
    pointers.push_back(columns.size());
  }
  write_file("matrix", npy("<i4", columns.size(), numbers(columns, 4)) +
                           npy("<i4", pointers.size(), numbers(pointers, 4)));
  const Outcome done = run({"compress", "matrix"});
  EXPECT_EQ(done.exit_status, 0);
  EXPECT_NE(done.err.find("and 1 more array; 3000 segments"), std::string::npos) << done.err;
  EXPECT_EQ(run({"cat", "--segment", "2000", "matrix.gdz"}).out,
            numbers({columns.begin() + 32000, columns.begin() + 32016}, 4));
  EXPECT_EQ(run({"cat", "matrix.gdz"}).out, read_file("matrix"));
  EXPECT_EQ(run({"compress", "-c", "matrix"}).out.size(), read_file("matrix.gdz").size());
  EXPECT_GT(run({"compress", "-c"}, read_file("matrix")).out.size(),
            read_file("matrix.gdz").size());
}

TEST_F(SegmentsCommand, OffsetsBeyondTheMemoryLimitAreRefused) {
  std::vector<std::uint64_t> offsets(1 << 20);
  write_file("values", "");
  write_file("many", numbers(offsets, 8));
  const Outcome refused = compress("many", {"-M", "20M"});
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_NE(refused.err.find("many: reading these offsets takes 3 times"), std::string::npos)
      << refused.err;
  EXPECT_EQ(compress("many", {"-M", "40M"}).exit_status, 0);
  EXPECT_EQ(run({"decompress", "-f", "-M", "8M", "--segments", "back", "values.gdz"}).exit_status,
            0);
  EXPECT_EQ(read_file("back"), read_file("many"));
}

TEST_F(SegmentsCommand, WhatDoesNotFitIsRefused) {
  const auto expect_refused = [&](const Outcome& outcome, const std::string& why) {
    EXPECT_EQ(outcome.exit_status, 1) << why;
    EXPECT_NE(outcome.err.find(why), std::string::npos) << outcome.err;
    EXPECT_FALSE(exists("values.gdz")) << why;
  };
  offsets_.back() -= 1;
  write_file("short", numbers(offsets_, 8));
  expect_refused(compress("short"), "short: the last offset is");
  offsets_[7] = offsets_[8] + 1;
  write_file("falling", numbers(offsets_, 8));
  expect_refused(compress("falling"), "falling: offset 8 is");
  write_file("odd", "abc");
  expect_refused(compress("odd"), "odd: holds no whole number of offsets");
  expect_refused(compress("missing"), "missing: ");
  expect_refused(run({"compress", "--type", "u32", "--segments", "offsets", "-c"}, "1234"),
                 "no regular file");
  expect_refused(run({"compress", "--segments", "offsets", "values", "values"}), "about one file");
  write_file("torn", read_file("values") + "x");
  expect_refused(run({"compress", "--type", "u32", "--segments", "offsets", "torn"}),
                 "no whole number of u32");
}

TEST_F(SegmentsCommand, OffsetsAndValuesDoNotTakeEachOthersPlace) {
  ASSERT_EQ(compress("offsets").exit_status, 0);
  std::filesystem::create_directory_symlink(".", path("here"));
  for (const Names& outputs : {Names{"b", "b"}, Names{"b", "./b"}, Names{"here/b", "b"}}) {
    const Outcome outcome =
        run({"decompress", "-f", "--segments", outputs[0], "-o", outputs[1], "values.gdz"});
    EXPECT_EQ(outcome.exit_status, 1);
    EXPECT_EQ(outcome.err, "gdelta: values.gdz: " + outputs[0] +
                               ": is where the values go; offsets need a file of their own\n");
    EXPECT_FALSE(exists("b"));
  }
  write_file("b", "");
  const auto to_b = [this] { dup2(open(path("b").c_str(), O_WRONLY), STDOUT_FILENO); };
  EXPECT_EQ(
      start({"decompress", "-fc", "--segments", "b", "values.gdz"}, to_b).finish().exit_status, 1);
  for (const std::string name : {"-", "/dev/stdout"}) {
    const Outcome outcome = run({"decompress", "-f", "--segments", name, "values.gdz"});
    EXPECT_EQ(outcome.exit_status, 1);
    EXPECT_NE(outcome.err.find("not to stdout"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(names(), (Names{"b", "here", "offsets", "values", "values.gdz"}));
  EXPECT_EQ(run({"decompress", "-f", "-o", "/dev/null", "--segments", "/dev/null", "values.gdz"})
                .exit_status,
            0);
}

TEST_F(SegmentsCommand, OffsetsThatAreReadAreNotOverwritten) {
  const std::string before = read_file("offsets");
  const Outcome named = compress("offsets", {"-o", "offsets"});
  EXPECT_EQ(named.exit_status, 1);
  EXPECT_EQ(named.err, "gdelta: offsets: is the file of the offsets, which is an input\n");
  const auto append = [this] {
    dup2(open(path("offsets").c_str(), O_WRONLY | O_APPEND), STDOUT_FILENO);
  };
  EXPECT_EQ(start({"compress", "-c", "--type", "u32", "--segments", "offsets", "values"}, append)
                .finish()
                .exit_status,
            1);
  EXPECT_EQ(read_file("offsets"), before);
}

TEST_F(SegmentsCommand, OffsetsAreAListOfIntegers) {
  const std::string data = numbers(offsets_, 8);
  for (const char* shape : {"501, 1", "1, 501", "3, 167"}) {
    write_file("array.npy", npy("<i8", shape, data));
    const Outcome outcome = compress("array.npy");
    EXPECT_EQ(outcome.exit_status, 1) << shape;
    EXPECT_NE(outcome.err.find("array.npy: holds something other than one list of integers"),
              std::string::npos)
        << outcome.err;
  }
  write_file("array.npy", npy("<f8", "501,", data));
  EXPECT_EQ(compress("array.npy").exit_status, 1);
}

TEST_F(SegmentsCommand, ATypeThatHidesTheHeadOfTheValuesIsNamed) {
  write_file("values.npy", npy("<u4", values_.size(), read_file("values")));
  const std::string advice =
      "; values.npy begins with a head that tells its type: leave --type and --record out\n";
  for (const char* type : {"u32", "i24"}) {
    const Outcome outcome =
        run({"compress", "--type", type, "--segments", "offsets", "values.npy"});
    EXPECT_EQ(outcome.exit_status, 1) << type;
    EXPECT_TRUE(outcome.err.ends_with(advice)) << outcome.err;
  }
}

TEST_F(SegmentsCommand, AFileWithoutSegmentsHasNoOffsets) {
  ASSERT_EQ(run({"compress", "--type", "u32", "values"}).exit_status, 0);
  const Outcome outcome =
      run({"decompress", "-o", "back", "--segments", "offsets_back", "values.gdz"});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_FALSE(exists("offsets_back"));
  EXPECT_FALSE(exists("back"));
  const std::string sentence =
      "gdelta: values.gdz: has no segments: it was not made with --segments\n";
  EXPECT_EQ(outcome.err, sentence);
  EXPECT_EQ(run({"cat", "--segment", "0", "values.gdz"}).err, sentence);
  EXPECT_EQ(run({"cat", "--segments", ":", "values.gdz"}).err, sentence);
  write_file("values", "");
  write_file("none", numbers({0}, 8));
  ASSERT_EQ(compress("none").exit_status, 0);
  EXPECT_EQ(run({"decompress", "-f", "--segments", "back", "values.gdz"}).exit_status, 0);
  EXPECT_EQ(read_file("back"), read_file("none"));
  EXPECT_EQ(run({"cat", "--segments", ":", "values.gdz"}).exit_status, 0);
}

}  // namespace
}  // namespace gdelta::cli_test
