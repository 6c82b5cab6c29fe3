// What the command says of words that it cannot use, and which spellings it understands.
#include "command_runner.h"

namespace gdelta::cli_test {
namespace {

class Messages : public CommandTest {
 protected:
  void expect_refusal(const Names& arguments, const std::string& sentence) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_status, 1) << sentence;
    EXPECT_EQ(outcome.out, "") << sentence;
    EXPECT_EQ(outcome.err.rfind("gdelta: " + sentence + "\n", 0), 0u) << outcome.err;
  }
  Outcome run_with(const char* variable, const char* value, const Names& arguments) {
    return start(arguments, [=] { setenv(variable, value, 1); }).finish();
  }
};

TEST_F(Messages, AMisspeltCommandIsGuessed) {
  expect_refusal({"compres", "f"},
                 "there is no command and no file 'compres'; did you mean 'gdelta compress'?");
  expect_refusal({"lsit"}, "there is no command and no file 'lsit'");
  expect_refusal({"help", "tets"}, "there is no command and no file 'tets'");
  expect_refusal({"decompres"},
                 "there is no command and no file 'decompres'; did you mean 'gdelta decompress'?");
  expect_refusal({"frobnicate"}, "there is no command and no file 'frobnicate'");
  expect_refusal({"missing.bin"}, "missing.bin: No such file or directory");
}

TEST_F(Messages, AMisspeltOptionIsGuessed) {
  expect_refusal({"--hlep"}, "there is no option --hlep; did you mean --help?");
  expect_refusal({"compress", "--tpye=i16"}, "there is no option --tpye=i16; did you mean --type?");
  expect_refusal({"--decompres", "x"},
                 "there is no option --decompres; did you mean --decompress?");
  expect_refusal({"list", "--jsno", "x"}, "there is no option --jsno; did you mean --json?");
  expect_refusal({"compress", "--frobnicate"}, "there is no option --frobnicate");
}

TEST_F(Messages, AFileThatLooksLikeAnOptionIsExplained) {
  write_file("-fish.bin", sensor_bytes(10));
  for (const Names& arguments : {Names{"-fish.bin"}, Names{"compress", "-fish.bin"}})
    expect_refusal(arguments,
                   "there is no option -fish.bin; the file of this name is written ./-fish.bin, or "
                   "follows after --");
  write_file("-dash.bin", sensor_bytes(10));
  expect_refusal({"compress", "-dash.bin"},
                 "there is no option -dash.bin; the file of this name is written ./-dash.bin, or "
                 "follows after --");
  EXPECT_EQ(run({"-q", "./-fish.bin", "--", "-dash.bin"}).exit_status, 0);
  EXPECT_EQ(names(), (Names{"-dash.bin", "-dash.bin.gdz", "-fish.bin", "-fish.bin.gdz"}));
}

TEST_F(Messages, ALevelThatDoesNotExistNamesTheSmallest) {
  const std::string sentence = "there is no level -19; levels are -1 to -9, and -9 is the smallest";
  for (const Names& arguments :
       {Names{"-19", "f"}, Names{"compress", "-19", "f"}, Names{"compress", "--level=19", "f"},
        Names{"compress", "--level", "19", "f"}})
    expect_refusal(arguments, sentence);
  expect_refusal({"compress", "--level", "x", "f"},
                 "there is no level -x; levels are -1 to -9, and -9 is the smallest");
}

TEST_F(Messages, AnEmptyNameIsShownAsOne) {
  write_file("a", sensor_bytes(10));
  expect_refusal({"compress", ""}, "'': No such file or directory");
  expect_refusal({"compress", "-o", "", "a"}, "--output: the name is empty");
  expect_refusal({"compress", "--output-dir", "", "a"}, "--output-dir: the name is empty");
  EXPECT_EQ(names(), (Names{"a"}));
}

TEST_F(Messages, WhatIsWrongWithAnOptionIsSaidOfItsName) {
  write_file("a", sensor_bytes(10));
  expect_refusal({"decompress", "--order", "77", "a"}, "--order: '77' is no number from 0 to 8");
  expect_refusal({"compress", "--max-output", "x", "a"},
                 "--max-output: 'x' is not a size such as 4096, 64K or 1M");
  expect_refusal({"compress", "-Tx", "a"}, "--threads: 'x' is no number from 0 to 4096");
  expect_refusal({"compress", "--salvage=x", "a"}, "--salvage takes no value");
  expect_refusal({"compress", "--rm=maybe", "a"}, "--rm takes no value");
  expect_refusal({"compress", "a", "--meta"}, "--meta needs a value: --meta KEY=VALUE");
  expect_refusal({"compress", "a", "-o"}, "--output needs a value: --output FILE");
  expect_refusal({"compress", "--type", "i8", "--type", "i8", "a"},
                 "--type is given 2 times, but takes one value");
  expect_refusal({"cat", "a", "b"}, "'b' is one argument too many");
  expect_refusal({"cat", "--unit", "miles", "a"}, "--unit: 'miles' is neither bytes nor records");
  expect_refusal({"devices", "all"}, "'all' is one argument too many");
}

TEST_F(Messages, HelpIsThereForHelp) {
  const std::string help = run({"--help"}).out;
  for (const char* word : {"help", "--help", "-h"}) {
    const Outcome outcome = run({"help", word});
    EXPECT_EQ(outcome.exit_status, 0) << word;
    EXPECT_EQ(outcome.out, help) << word;
  }
}

TEST_F(Messages, EveryCommandTellsTheVersion) {
  const std::string version = run({"--version"}).out;
  for (const char* command :
       {"compress", "decompress", "test", "list", "cat", "bench", "devices", "-d"})
    for (const char* option : {"-V", "--version"}) {
      const Outcome outcome = run({command, option});
      EXPECT_EQ(outcome.exit_status, 0) << command;
      EXPECT_EQ(outcome.out, version) << command;
    }
  const std::string help = run({"help"}).out;
  EXPECT_EQ(help, run({"--help"}).out);
  for (const char* word : {"(-V)", "\n  help ", "GDELTA_LEVEL", "tar -I gdelta"})
    EXPECT_NE(help.find(word), std::string::npos) << word;
}

TEST_F(Messages, TheEnvironmentSetsTheLevelAndTheThreads) {
  write_file("a", sensor_bytes(20000));
  const std::string smallest = run({"compress", "-qc9", "a"}).out;
  EXPECT_NE(smallest, run({"compress", "-qc", "a"}).out);
  EXPECT_EQ(run_with("GDELTA_LEVEL", "9", {"compress", "-qc", "a"}).out, smallest);
  EXPECT_EQ(run_with("GDELTA_LEVEL", "", {"compress", "-qc", "a"}).out,
            run({"compress", "-qc", "a"}).out);
  EXPECT_EQ(run_with("GDELTA_LEVEL", "1", {"compress", "-qc9", "a"}).out, smallest);
  for (const char* value : {"10", "x", "5x", "-1", "99999999999999999999"})
    EXPECT_EQ(run_with("GDELTA_LEVEL", value, {"compress", "-qc", "a"}).err,
              "gdelta: the environment sets GDELTA_LEVEL to '" + std::string(value) +
                  "'; it takes a number from 1 to 9\nTry 'gdelta compress --help'.\n");
  EXPECT_EQ(run_with("GDELTA_THREADS", "2", {"compress", "-qc9", "a"}).out, smallest);
  EXPECT_EQ(run_with("GDELTA_THREADS", "two", {"test", "a.gdz"}).err,
            "gdelta: the environment sets GDELTA_THREADS to 'two'; it takes a number from 0 to "
            "4096\nTry 'gdelta test --help'.\n");
  EXPECT_EQ(run_with("GDELTA_THREADS", "two", {"compress", "-qc9", "-T1", "a"}).out, smallest);
}

TEST_F(Messages, TypesMayBeSpeltAsOthersSpellThem) {
  write_file("a", sensor_bytes(1000));
  const std::vector<std::pair<const char*, const char*>> spellings = {
      {"int16", "i16"},     {"uint8", "u8"},        {"float32", "f32"},   {"Float64", "f64"},
      {"F32", "f32"},       {"<f4", "f32"},         {">i2", "i16:be"},    {"=u8", "u64"},
      {"|i1", "i8"},        {"s16le", "i16"},       {"S16_BE", "i16:be"}, {"f64be", "f64:be"},
      {"bfloat16", "bf16"}, {"half", "f16"},        {"double", "f64"},    {"FLOAT_LE", "f32"},
      {"s24le", "i24"},     {"int32:be", "i32:be"}, {"u8", "u8"},
  };
  for (const auto& [spelling, name] : spellings) {
    const Outcome outcome = run({"compress", "-vf", "--type", spelling, "a"});
    EXPECT_EQ(outcome.err.rfind("gdelta: a: " + std::string(name) + " (given)", 0), 0u)
        << spelling << ": " << outcome.err;
  }
  EXPECT_EQ(run({"compress", "-vf", "--record", "int16x2,<f4,Double:bex2", "a"})
                .err.rfind("gdelta: a: i16x2,f32,f64:bex2 (given)", 0),
            0u);
  for (const char* wrong : {"int17", "<f3", "s16xe", "le", "flaot32"}) {
    const Outcome outcome = run({"compress", "-f", "--type", wrong, "a"});
    EXPECT_EQ(outcome.exit_status, 1) << wrong;
    EXPECT_NE(outcome.err.find("'" + std::string(wrong) + "'"), std::string::npos) << outcome.err;
  }
}

TEST_F(Messages, SizesTakeSmallLetters) {
  write_file("a.gdz", run({"compress", "-q"}, sensor_bytes(1000)).out);
  const std::string whole = sensor_bytes(1000);
  EXPECT_TRUE(run({"cat", "--range", "1k:2k", "a.gdz"}).out == whole.substr(1024, 1024));
  EXPECT_TRUE(run({"cat", "--range", "1kib:2kb", "a.gdz"}).out == whole.substr(1024, 1024));
  EXPECT_EQ(run({"cat", "--range", "1k:2x", "a.gdz"}).exit_status, 1);
}

}  // namespace
}  // namespace gdelta::cli_test
