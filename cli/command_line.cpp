#include "command_line.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>

#include "environment.h"
#include "similar_word.h"

namespace gdelta::cli {

namespace {

constexpr int kMostThreads = 4096;

/// What the modes and levels are also called, beside the options that the parser knows.
const std::vector<std::string> kOtherSpellings = {"--compress", "--decompress", "--test", "--list",
                                                  "--level",    "--best",       "--fast"};

/// Options of this group are not shown. The parser's own way to hide them takes their names, too.
const std::string kHiddenGroup = "hidden";

/// The help page without what is hidden, and without the empty line that the parser leaves for that.
std::string help_of(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (is_hidden(*option)) option->group("");
  std::string text = app.help();
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

bool takes_levels(const CLI::App& app) { return app.get_option_no_throw("-9") != nullptr; }

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "-19": nine levels have one digit each, and digits in a row would pass for several of them.
bool is_unknown_level(std::string_view argument) {
  return argument.starts_with('-') && is_number(argument.substr(1)) &&
         (argument.size() > 2 || argument[1] == '0');
}

constexpr std::string_view kLevel = "--level=";

/// "-5" for "--level=5", "-9" for "--best", "-1" for "--fast" and "--fast=N"; others stay.
std::string level_spelled(const std::string& argument) {
  constexpr std::string_view kFast = "--fast=";
  if (argument.starts_with(kLevel)) return "-" + argument.substr(kLevel.size());
  if (argument == "--best") return "-9";
  const bool fast = argument == "--fast" ||
                    (argument.starts_with(kFast) && is_number(argument.substr(kFast.size())));
  return fast ? "-1" : argument;
}

/// The parser has a meaning of its own for "[a,b]" and "++", which are file names here.
std::string shielded(const std::string& argument) {
  const bool bracketed = argument.size() > 1 && argument.front() == '[' && argument.back() == ']';
  return bracketed || argument == "++" ? "./" + argument : argument;
}

/// The arguments in the form and the order in which the parser takes them.
/// Errors      invalid_argument: a level that does not exist
Result<Arguments> prepared(const CLI::App& app, const Arguments& arguments) {
  const bool levels = takes_levels(app);
  Arguments prepared;
  bool only_files = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string argument = arguments[i];
    only_files = only_files || argument == "--";
    bool unknown = !only_files && is_unknown_level(argument);
    if (!only_files && levels) {
      if (argument == "--level" && i + 1 < arguments.size()) argument += "=" + arguments[++i];
      const std::string spelled = level_spelled(argument);
      unknown = unknown || is_unknown_level(spelled) ||
                (argument.starts_with(kLevel) && !is_number(spelled.substr(1)));
      argument = spelled;
    }
    if (unknown)
      return fail(Errc::invalid_argument,
                  fmt::format("there is no level {}; levels are -1 to -9, and -9 is the smallest",
                              printable(argument)));
    prepared.push_back(shielded(argument));
  }
  std::reverse(prepared.begin(), prepared.end());
  return prepared;
}

std::vector<std::string> long_options(const CLI::App& app) {
  std::vector<std::string> words;
  if (takes_levels(app)) words = kOtherSpellings;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  return words;
}

/// The argument that the parser has left `extra` of: it takes letters off a cluster one by one.
std::string origin_of(const std::string& extra, const Arguments& arguments) {
  for (const std::string& argument : arguments)
    if (argument.starts_with('-') && argument.ends_with(extra.substr(1))) return argument;
  return extra;
}

/// What to say of arguments that the parser has no use for.
std::string extras_sentence(const CLI::App& app, const Arguments& arguments) {
  for (const std::string& extra : app.remaining()) {
    if (extra.size() < 2 || extra[0] != '-') continue;
    const std::string argument = origin_of(extra, arguments);
    const std::string sentence = fmt::format("there is no option {}", printable(argument));
    struct stat status = {};
    if (lstat(argument.c_str(), &status) == 0)
      return sentence + fmt::format("; the file of this name is written ./{}, or follows after --",
                                    printable(argument));
    const auto meant = similar_word(argument.substr(0, argument.find('=')), long_options(app));
    return meant ? sentence + "; did you mean " + *meant + "?" : sentence;
  }
  const std::vector<std::string> extras = app.remaining();
  return fmt::format("'{}' is one argument too many", extras.empty() ? "" : printable(extras[0]));
}

/// What to say of an option with no value or several, of which the parser says something behind its name.
std::string count_sentence(const CLI::App& app, const std::string& said) {
  const std::string name = said.substr(0, said.find(": "));
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) return said;
  if (option->count() > 1)
    return fmt::format("{} is given {} times, but takes one value", name, option->count());
  return fmt::format("{} needs a value: {} {}", name, name, option->get_option_text());
}

/// What to say of a value that cannot be read: a flag takes none.
std::string value_sentence(const CLI::App& app, const Arguments& arguments,
                           const std::string& said) {
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    if (!argument.starts_with("--") || equals == std::string::npos) continue;
    const std::string name = argument.substr(0, equals);
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option != nullptr && option->get_items_expected_max() == 0)
      return fmt::format("{} takes no value", name);
  }
  return said;
}

/// -T as the environment sets it, if the command line does not.
std::optional<std::string> take_threads_from_environment(CLI::App& app) {
  CLI::Option* option = app.get_option_no_throw("--threads");
  if (option == nullptr || is_hidden(*option) || option->count() > 0) return std::nullopt;
  int threads = -1;
  auto problem = read_environment("GDELTA_THREADS", 0, kMostThreads, threads);
  if (!problem && threads >= 0) {
    option->add_result(std::to_string(threads));
    option->run_callback();
  }
  return problem;
}

}  // namespace

int refuse(const CLI::App& app, std::string_view sentence) {
  print_to_stderr(fmt::format("gdelta: {}\nTry '{} --help'.\n", sentence, app.get_name()));
  return kExitError;
}

void hide(CLI::Option& option) { option.group(kHiddenGroup); }
bool is_hidden(const CLI::Option& option) { return option.get_group() == kHiddenGroup; }

std::string version_text() { return fmt::format("gdelta {}\n", library_version()); }

std::optional<int> parse(CLI::App& app, const Arguments& arguments) {
  app.set_version_flag("-V,--version", version_text(), "Print the version");
  auto ready = prepared(app, arguments);
  if (!ready) return refuse(app, ready.error().message);
  try {
    app.parse(*ready);
  } catch (const CLI::CallForHelp&) {
    return print_to_stdout(help_of(app));
  } catch (const CLI::CallForVersion&) {
    return print_to_stdout(version_text());
  } catch (const CLI::ExtrasError&) {
    return refuse(app, extras_sentence(app, arguments));
  } catch (const CLI::ArgumentMismatch& error) {
    return refuse(app, count_sentence(app, error.what()));
  } catch (const CLI::ConversionError& error) {
    return refuse(app, value_sentence(app, arguments, error.what()));
  } catch (const CLI::ParseError& error) {
    return refuse(app, error.what());
  }
  if (const auto problem = take_threads_from_environment(app)) return refuse(app, *problem);
  return std::nullopt;
}

bool try_parse(CLI::App& app, const Arguments& arguments) {
  auto ready = prepared(app, arguments);
  if (!ready) return false;
  try {
    app.parse(*ready);
  } catch (const CLI::ParseError&) {
    return false;
  }
  return true;
}

void add_verbosity(CLI::App& app, Verbosity& verbosity) {
  app.add_flag("-q,--quiet", verbosity.quiet, "Errors alone; twice: nothing at all");
  app.add_flag("-v,--verbose", verbosity.verbose, "Say more");
}

void add_threads(CLI::App& app, int& threads) {
  app.add_option("-T,--threads", threads, "CPU threads; 0: all cores (default)")
      ->option_text("N")
      ->take_last()
      ->check(number_in(0, kMostThreads));
}

void add_memory_limit(CLI::App& app, DecodeOptions& options, std::string_view work) {
  add_limit(app, "-M,--memory",
            fmt::format("Memory that {} may hold, such as 512M or 16G (default 4G)", work),
            [&options](std::uint64_t size) { options.memory_limit = size; });
}

void add_output_limit(CLI::App& app, DecodeOptions& options) {
  add_limit(app, "--max-output", "Decoded bytes a file may give, such as 16G (default: any number)",
            [&options](std::uint64_t size) { options.output_limit = size; });
}

CLI::Validator named() {
  return {[](const std::string& name) { return name.empty() ? "the name is empty" : ""; }, ""};
}

CLI::Validator number_in(int lowest, int highest) {
  return {[lowest, highest, range = CLI::Range(lowest, highest)](const std::string& text) {
            return range(text).empty() ? ""
                                       : fmt::format("'{}' is no number from {} to {}",
                                                     printable(text), lowest, highest);
          },
          ""};
}

CLI::Option* add_files(CLI::App& app, std::vector<std::string>& files, bool needed,
                       const std::string& description) {
  return app.add_option("FILE", files, description)->required(needed)->option_text(" ");
}

}  // namespace gdelta::cli
