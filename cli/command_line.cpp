#include "command_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "size_text.h"

namespace gdelta::cli {

namespace {

/// "-19": nine levels have one digit each, and digits in a row would pass for several of them.
bool is_unknown_level(const std::string& argument) {
  if (argument.size() < 2 || argument[0] != '-') return false;
  const bool digits = std::all_of(argument.begin() + 1, argument.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  return digits && (argument.size() > 2 || argument[1] == '0');
}

/// The parser has a meaning of its own for "[a,b]" and "++", which are file names here.
std::string shielded(const std::string& argument) {
  const bool bracketed = argument.size() > 1 && argument.front() == '[' && argument.back() == ']';
  return bracketed || argument == "++" ? "./" + argument : argument;
}

}  // namespace

int refuse(const CLI::App& app, std::string_view sentence) {
  fmt::print(stderr, "gdelta: {}\nTry '{} --help'.\n", sentence, app.get_name());
  return kExitError;
}

std::optional<int> parse(CLI::App& app, const Arguments& arguments) {
  Arguments reversed;  // the order in which the parser takes them
  bool only_files = false;
  for (const std::string& argument : arguments) {
    only_files = only_files || argument == "--";
    if (!only_files && is_unknown_level(argument))
      return refuse(app, fmt::format("there is no level {}; levels are -1 to -9", argument));
    reversed.push_back(shielded(argument));
  }
  std::reverse(reversed.begin(), reversed.end());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return std::fflush(stdout) == 0 ? kExitOk : kExitError;
  } catch (const CLI::ParseError& error) {
    return refuse(app, error.what());
  }
  return std::nullopt;
}

void add_verbosity(CLI::App& app, Verbosity& verbosity) {
  app.add_flag("-q,--quiet", verbosity.quiet, "Errors alone; twice: nothing at all");
  app.add_flag("-v,--verbose", verbosity.verbose, "Say more");
}

void add_threads(CLI::App& app, int& threads) {
  constexpr int kMostThreads = 4096;
  app.add_option("-T,--threads", threads, "CPU threads; 0: all cores (default)")
      ->option_text("N")
      ->check(CLI::Range(0, kMostThreads));
}

void add_memory_limit(CLI::App& app, DecodeOptions& options) {
  add_parsed_option(app, "-M,--memory", "LIMIT",
                    "Memory that decoding may hold, such as 512M or 16G (default 4G)",
                    [&options](const std::string& text) -> Result<void> {
                      const auto size = parse_size(text);
                      if (!size) return tl::unexpected(size.error());
                      options.memory_limit = *size;
                      return {};
                    });
}

void add_files(CLI::App& app, std::vector<std::string>& files, bool needed,
               const std::string& description) {
  app.add_option("FILE", files, description)->required(needed)->option_text(" ");
}

}  // namespace gdelta::cli
