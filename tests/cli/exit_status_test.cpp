// The exit status, one cause at a time: 0 all is well, 1 something failed, 2 there was a warning.
#include "command_runner.h"

namespace gdelta::cli_test {
namespace {

class ExitStatus : public CommandTest {
 protected:
  ExitStatus() {
    write_file("good", sensor_bytes(10240));
    run({"compress", "-q", "--type", "i16", "--chunk", "4K", "good"});
    const std::string packed = read_file("good.gdz");
    write_file("short.gdz", packed.substr(0, packed.size() - 1));
    write_file("half.gdz", packed.substr(0, packed.size() / 2));
    std::string flipped = packed;
    flipped[flipped.size() / 3] ^= 1;
    write_file("flipped.gdz", flipped);
    write_file("text.gdz", "this was never compressed");
    write_file("empty.gdz", "");
    std::filesystem::create_directory(path("folder"));
  }
  int status_of(const Names& arguments) { return run(arguments).exit_status; }
};

TEST_F(ExitStatus, IsOneForEveryKindOfBadFileByItself) {
  for (const char* name :
       {"short.gdz", "half.gdz", "flipped.gdz", "text.gdz", "empty.gdz", "folder", "missing"}) {
    EXPECT_EQ(status_of({"test", name}), 1) << name;
    EXPECT_EQ(status_of({"test", "good.gdz", name, "good.gdz"}), 1) << name;
    EXPECT_EQ(status_of({"decompress", "-c", name}), 1) << name;
    EXPECT_EQ(status_of({"decompress", "-f", "-o", "out", name}), 1) << name;
    EXPECT_FALSE(exists("out")) << name;
  }
  for (const char* name : {"text.gdz", "empty.gdz", "folder", "missing"}) {
    EXPECT_EQ(status_of({"list", name}), 1) << name;
    EXPECT_EQ(status_of({"cat", name}), 1) << name;
  }
  EXPECT_EQ(status_of({"cat", "flipped.gdz"}), 1);
  for (const char* name : {"folder", "missing"}) {
    EXPECT_EQ(status_of({"compress", name}), 1) << name;
    EXPECT_EQ(status_of({"bench", "-1", "--device", "cpu", name}), 1) << name;
  }
}

TEST_F(ExitStatus, IsZeroWhereAllIsWell) {
  for (const Names& arguments :
       {Names{"test", "good.gdz"}, Names{"decompress", "-c", "good.gdz"}, Names{"list", "good.gdz"},
        Names{"cat", "good.gdz"}, Names{"compress", "-c", "good"}, Names{"devices"}})
    EXPECT_EQ(status_of(arguments), 0) << arguments[0];
}

TEST_F(ExitStatus, IsTwoForAWarningByItself) {
  EXPECT_EQ(status_of({"compress", "good.gdz"}), 2);
  EXPECT_EQ(status_of({"compress", "-q", "good.gdz"}), 2);
  EXPECT_EQ(status_of({"compress", "-qq", "good.gdz"}), 2);
  EXPECT_EQ(status_of({"compress", "-f", "good", "good.gdz"}), 0) << "-f takes it without";
  EXPECT_EQ(status_of({"decompress", "--salvage", "-c", "half.gdz"}), 2);
}

TEST_F(ExitStatus, OfAnErrorAndAWarningIsOneInEitherOrder) {
  EXPECT_EQ(status_of({"compress", "missing", "good.gdz"}), 1);
  EXPECT_EQ(status_of({"compress", "good.gdz", "missing"}), 1);
  EXPECT_EQ(status_of({"compress", "-qq", "missing", "good.gdz"}), 1);
  EXPECT_EQ(status_of({"decompress", "--salvage", "-c", "half.gdz", "missing"}), 1);
  EXPECT_EQ(status_of({"decompress", "--salvage", "-c", "missing", "half.gdz"}), 1);
}

TEST_F(ExitStatus, StaysWhenSomethingGoodFollows) {
  EXPECT_EQ(status_of({"compress", "-c", "missing", "good"}), 1);
  EXPECT_EQ(status_of({"decompress", "--salvage", "-c", "half.gdz", "good.gdz"}), 2);
  EXPECT_EQ(status_of({"test", "flipped.gdz", "good.gdz"}), 1);
  EXPECT_EQ(status_of({"list", "text.gdz", "good.gdz"}), 1);
}

}  // namespace
}  // namespace gdelta::cli_test
