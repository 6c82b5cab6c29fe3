// The man page and the shell completions know every option that the help pages name.
#include <regex>
#include <set>

#include "command_runner.h"
#include "places.h"

namespace gdelta::cli_test {
namespace {

std::string text_of(const std::string& name) {
  std::ifstream file(name);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

class Completion : public CommandTest {
 protected:
  /// "--type", "--tuple", …, as the option lists of the help pages have them.
  std::set<std::string> long_options() {
    std::set<std::string> found;
    for (const char* command :
         {"compress", "decompress", "test", "list", "cat", "bench", "devices"}) {
      const std::string help = run({command, "--help"}).out;
      const std::regex option("\n  (?:-.,)?(--[a-z0-9-]+)");
      for (std::sregex_iterator match(help.begin(), help.end(), option), end; match != end; ++match)
        found.insert((*match)[1]);
    }
    return found;
  }
};

TEST_F(Completion, TheManPageNamesEveryOption) {
  std::string page = text_of(std::string(test::kSourceDir) + "/docs/gdelta.1");
  page = std::regex_replace(page, std::regex(R"(\\-)"), "-");
  const auto options = long_options();
  EXPECT_GE(options.size(), 26u);
  for (const std::string& option : options)
    EXPECT_NE(page.find(option), std::string::npos) << option;
}

TEST_F(Completion, EveryShellKnowsEveryOption) {
  for (const char* name : {"gdelta.bash", "_gdelta", "gdelta.fish"}) {
    const std::string text = text_of(std::string(test::kBinaryDir) + "/completion/" + name);
    for (const std::string& option : long_options()) {
      const std::string fish = "-l " + option.substr(2);
      EXPECT_TRUE(text.find(option) != std::string::npos || text.find(fish) != std::string::npos)
          << option << " in " << name;
    }
  }
}

TEST_F(Completion, BashCompletesCommandsOptionsAndFiles) {
  write_file("a.gdz", "");
  write_file("a.bin", "");
  write_file("complete.sh", text_of(std::string(test::kBinaryDir) + "/completion/gdelta.bash") + R"(
complete_line() {
  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
  _gdelta; echo "${COMPREPLY[*]}"
}
complete_line gdelta dec
complete_line gdelta compress --dev
complete_line gdelta compress --type bf
complete_line gdelta list a
complete_line gdelta compress a
complete_line gdelta compress --type = bf
complete_line gdelta --type =
complete_line gdelta -d a
complete_line ungdelta a
complete_line gdelta be
)");
  const std::string command = "cd '" + folder_.string() + "' && bash complete.sh > completed 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << read_file("completed");
  const std::string types = "i8 u8 i16 u16 i24 u24 i32 u32 i64 u64 f16 bf16 f32 f64\n";
  EXPECT_EQ(read_file("completed"),
            "decompress\n--device --device-decodable\nbf16\na.gdz\na.bin\nbf16\n" + types +
                "a.gdz\na.gdz\nbench\n");
}

}  // namespace
}  // namespace gdelta::cli_test
