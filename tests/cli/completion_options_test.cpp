// Each shell completes, for each command, the options that its help page names and no others, and
// values that the command takes. bash is run; the tables of zsh and fish are read, and run as well
// if those shells are installed.
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "command_runner.h"
#include "places.h"

namespace gdelta::cli_test {
namespace {

using Words = std::set<std::string>;
using Options = std::map<std::string, Words>;  // of each command, its long options

std::string completion_text(const std::string& name) {
  std::ifstream file(std::string(test::kBinaryDir) + "/completion/" + name);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

Words words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

template <class Visit>
void for_each_match(const std::string& text, const std::string& pattern, Visit visit) {
  const std::regex regex(pattern);
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
    visit(*match);
}

/// Every $name of `text` replaced by what `values` has for it.
std::string expanded(std::string text, const std::map<std::string, std::string>& values) {
  for (const auto& [name, value] : values)
    text = std::regex_replace(text, std::regex("\\$" + name + "\\b"), value);
  return text;
}

/// `set -l NAME VALUE` of fish, one in terms of the others before it.
std::map<std::string, std::string> fish_variables(const std::string& text) {
  std::map<std::string, std::string> variables;
  for_each_match(text, R"re((?:^|\n)set -l (\w+) "?([^"\n]*)"?)re", [&](const std::smatch& match) {
    variables[match[1]] = expanded(match[2], variables);
  });
  return variables;
}

class CompletionOptions : public CommandTest {
 protected:
  const Names commands_ = {"compress", "decompress", "test", "list", "cat", "bench", "devices"};

  Options options_of_help() {
    Options options;
    for (const std::string& command : commands_)
      for_each_match(run({command, "--help"}).out, "\n  (?:-.,)?(--[a-z0-9-]+)",
                     [&](const std::smatch& match) { options[command].insert(match[1]); });
    return options;
  }

  /// What bash offers for the last word of each line.
  Names bash_completes(const std::vector<std::string>& lines) {
    std::string script = completion_text("gdelta.bash") + R"(
complete_line() {
  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
  _gdelta; echo "${COMPREPLY[*]}"
}
)";
    for (const std::string& line : lines) script += "complete_line " + line + "\n";
    write_file("complete.sh", script);
    const std::string command =
        "cd '" + folder_.string() + "' && bash complete.sh > completed 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << read_file("completed");
    Names offered;
    std::istringstream stream(read_file("completed"));
    for (std::string line; std::getline(stream, line);) offered.push_back(line);
    EXPECT_EQ(offered.size(), lines.size()) << read_file("completed");
    offered.resize(lines.size());
    return offered;
  }

  static Options options_of_fish() {
    const std::string text = completion_text("gdelta.fish");
    const auto variables = fish_variables(text);
    Options options;
    for_each_match(text, "\n\\s*(complete -c gdelta [^\n]*)", [&](const std::smatch& match) {
      // A variable is one word, whatever is in it.
      const std::string quoted =
          std::regex_replace(match[1].str(), std::regex(R"(-n \$(\w+))"), "-n \"$$$1\"");
      const std::string line = expanded(quoted, variables);
      std::smatch name, condition;
      if (!std::regex_search(line, name, std::regex(" -l ([a-z0-9-]+)"))) return;
      const bool limited = std::regex_search(
          line, condition, std::regex("-n \"__fish_seen_subcommand_from ([^\"]*)\""));
      if (!limited && line.find(" -n ") != std::string::npos) return;  // before any command
      const Words commands =
          limited ? words_of(condition[1])
                  : Words{"compress", "decompress", "test", "list", "cat", "bench", "devices"};
      for (const std::string& command : commands)
        if (command != "-d" && command[0] != '-') options[command].insert("--" + name[1].str());
    });
    return options;
  }

  static Options options_of_zsh() {
    const std::string text = completion_text("_gdelta");
    std::map<std::string, std::string> arrays;
    for_each_match(text, R"(\n  (\w+)=\(((?:.|\n)*?)\)(?=\n))",
                   [&](const std::smatch& match) { arrays[match[1]] = match[2]; });
    Options options;
    for_each_match(text, R"(\n        ([a-z| -]+)\)((?:.|\n)*?);;)", [&](const std::smatch& arm) {
      std::string commands = arm[1];
      std::replace(commands.begin(), commands.end(), '|', ' ');
      for (const std::string& command : words_of(commands))
        // The name stands right before its description; exclusion lists have none.
        for_each_match(expanded(arm[2], arrays), R"((--[a-z0-9-]+)\}?'?\[)",
                       [&](const std::smatch& match) { options[command].insert(match[1]); });
    });
    options.erase("-d");
    return options;
  }
};

TEST_F(CompletionOptions, OfBashAreThoseOfTheHelp) {
  const Options expected = options_of_help();
  ASSERT_GE(expected.at("compress").size(), 15u);
  std::vector<std::string> lines;
  for (const std::string& command : commands_) lines.push_back("gdelta " + command + " --");
  const Names offered = bash_completes(lines);
  for (std::size_t i = 0; i < commands_.size(); ++i)
    EXPECT_EQ(words_of(offered[i]), expected.at(commands_[i])) << commands_[i];
  EXPECT_EQ(bash_completes({"gdelta -d --"})[0], offered[1]);
}

TEST_F(CompletionOptions, OfFishAreThoseOfTheHelp) {
  EXPECT_EQ(options_of_fish(), options_of_help());
}

TEST_F(CompletionOptions, OfZshAreThoseOfTheHelp) {
  EXPECT_EQ(options_of_zsh(), options_of_help());
}

TEST_F(CompletionOptions, EveryShellOffersTheCommandsOfTheHelp) {
  Words commands;
  for_each_match(run({"--help"}).out, "\n  ([a-z]+)  +[a-z]",
                 [&](const std::smatch& match) { commands.insert(match[1]); });
  EXPECT_GE(commands.size(), commands_.size());
  for (const std::string& command : commands_) EXPECT_TRUE(commands.contains(command)) << command;
  commands.insert("help");

  Words bash = words_of(bash_completes({"gdelta ''"})[0]);
  std::erase_if(bash, [this](const std::string& word) { return word[0] == '-' || exists(word); });
  EXPECT_EQ(bash, commands);

  Words fish;
  for_each_match(completion_text("gdelta.fish"), R"(-n \$none -a (\w+))",
                 [&](const std::smatch& match) { fish.insert(match[1]); });
  EXPECT_EQ(fish, commands);

  std::smatch list;
  const std::string zsh_text = completion_text("_gdelta");
  ASSERT_TRUE(std::regex_search(zsh_text, list, std::regex(R"(\n  commands=\(([^)]*)\))")));
  Words zsh;
  for_each_match(list[1], R"('(\w+):)", [&](const std::smatch& match) { zsh.insert(match[1]); });
  EXPECT_EQ(zsh, commands);
}

TEST_F(CompletionOptions, ValuesAreTakenAndTheSameInEveryShell) {
  write_file("a", sensor_bytes(1000));
  write_file("a.gdz", run({"compress", "-qc", "a"}).out);
  const std::string fish_text = completion_text("gdelta.fish");
  const std::string zsh_text = completion_text("_gdelta");
  for (const auto& [command, option] : {std::pair<std::string, std::string>{"compress", "--type"},
                                        {"compress", "--coder"},
                                        {"compress", "--order"},
                                        {"compress", "--chunk"},
                                        {"compress", "--device"},
                                        {"cat", "--unit"},
                                        {"test", "--memory"}}) {
    const Words bash = words_of(bash_completes({"gdelta " + command + " " + option + " ''"})[0]);
    EXPECT_GE(bash.size(), 2u) << option;
    std::smatch fish, zsh;
    ASSERT_TRUE(std::regex_search(fish_text, fish,
                                  std::regex(" -l " + option.substr(2) + " -x -a \"([^\"]*)\"")))
        << option;
    EXPECT_EQ(words_of(fish[1]), bash) << option;
    ASSERT_TRUE(
        std::regex_search(zsh_text, zsh, std::regex(option + R"(\}?'?\[[^\]]*\]:\w+:\(([^)]*)\))")))
        << option;
    EXPECT_EQ(words_of(zsh[1]), bash) << option;
    for (const std::string& value : bash) {
      if (value == "cuda") continue;  // if there is one
      const std::string file = command == "compress" ? "a" : "a.gdz";
      const Names output = command == "compress" ? Names{"-qc"} : Names{"-q"};
      Names arguments = {command, output[0], option, value, file};
      EXPECT_EQ(run(arguments).exit_status, 0) << option << ' ' << value;
    }
  }
  std::smatch types;
  const std::string help = run({"compress", "--help"}).out;
  ASSERT_TRUE(std::regex_search(help, types, std::regex("Types: ([a-z0-9 ]+),")));
  EXPECT_EQ(words_of(bash_completes({"gdelta compress --type ''"})[0]), words_of(types[1]));
}

bool is_installed(const std::string& shell) {
  return std::system(("command -v " + shell + " > /dev/null 2>&1").c_str()) == 0;
}

TEST_F(CompletionOptions, FishItselfOffersThem) {
  if (!is_installed("fish")) GTEST_SKIP() << "fish is not installed";
  const Options expected = options_of_help();
  Words all;
  for (const auto& [command, options] : expected) all.insert(options.begin(), options.end());
  std::string script = "source '" + std::string(test::kBinaryDir) + "/completion/gdelta.fish'\n";
  for (const std::string& command : commands_) {
    script += "echo command " + command + "\n";
    for (const std::string& option : all)
      script += "complete -C 'gdelta " + command + " " + option + "'\n";
  }
  write_file("complete.fish", script);
  const std::string line =
      "cd '" + folder_.string() + "' && HOME=. fish --no-config complete.fish > completed 2>&1";
  ASSERT_EQ(std::system(line.c_str()), 0) << read_file("completed");
  Options offered;
  std::string command;
  for_each_match(read_file("completed"), "(?:^|\n)(command |)([a-z0-9-]+)",
                 [&](const std::smatch& match) {
                   if (match[1].length() > 0) command = match[2];
                   if (match[2].str().starts_with("--")) offered[command].insert(match[2]);
                 });
  EXPECT_EQ(offered, expected);
}

TEST_F(CompletionOptions, ZshItselfCanReadThem) {
  if (!is_installed("zsh")) GTEST_SKIP() << "zsh is not installed";
  const std::string line =
      "zsh -n '" + std::string(test::kBinaryDir) + "/completion/_gdelta' > /dev/null";
  EXPECT_EQ(std::system(line.c_str()), 0);
}

}  // namespace
}  // namespace gdelta::cli_test
