// What every subcommand's command line has in common.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "console.h"
#include "gdelta/codec.h"
#include "size_text.h"

namespace gdelta::cli {

/// The arguments after the subcommand's name.
using Arguments = std::vector<std::string>;

/// Parses `arguments` into what `app` was told to fill. Returns the exit status if nothing is
/// left to do: help was asked for, or the arguments make no sense (said on stderr).
std::optional<int> parse(CLI::App& app, const Arguments& arguments);
/// Parses `arguments` and says nothing. False if they make no sense or ask for help.
bool try_parse(CLI::App& app, const Arguments& arguments);
/// Says what is wrong with the command line and where to read more; returns the exit status.
int refuse(const CLI::App& app, std::string_view sentence);

/// Keeps an option off the help page. Messages name it all the same.
void hide(CLI::Option& option);
bool is_hidden(const CLI::Option& option);

/// "gdelta 0.1.0", as a line.
std::string version_text();

/// -q and -v.
struct Verbosity {
  int quiet = 0;
  int verbose = 0;
};
void add_verbosity(CLI::App& app, Verbosity& verbosity);

/// -T.
void add_threads(CLI::App& app, int& threads);

/// -T and --device, into the options of an encoder or decoder.
template <class Options>
void add_machine_options(CLI::App& app, Options& options) {
  add_threads(app, options.threads);
  app.add_option("--device", options.device, "auto (default), cpu, cuda, cuda:N or cuda:N,M")
      ->option_text("DEVICE");
}

/// -M. `work`: what the memory is for.
void add_memory_limit(CLI::App& app, DecodeOptions& options, std::string_view work = "decoding");
/// --max-output.
void add_output_limit(CLI::App& app, DecodeOptions& options);

/// Refuses the empty name.
CLI::Validator named();
/// Refuses what is no number from `lowest` to `highest`.
CLI::Validator number_in(int lowest, int highest);

/// The files that a subcommand works on. `needed`: at least one.
CLI::Option* add_files(CLI::App& app, std::vector<std::string>& files, bool needed,
                       const std::string& description);

/// An option whose text `read` turns into a Result; its error becomes the parser's.
template <class Read>
CLI::Option* add_parsed_option(CLI::App& app, const std::string& name, const std::string& type_name,
                               const std::string& description, Read read) {
  auto* option = app.add_option_function<std::string>(
      name,
      [name, read](const std::string& text) {
        if (const auto done = read(text); !done)
          throw CLI::ValidationError(name.substr(name.rfind(',') + 1), done.error().message);
      },
      description);
  return option->option_text(type_name);
}

/// An option that bounds something; `take` gets the bytes of a text such as 512M.
template <class Take>
void add_limit(CLI::App& app, const std::string& name, const std::string& description, Take take) {
  add_parsed_option(app, name, "LIMIT", description,
                    [take](const std::string& text) -> Result<void> {
                      const auto size = parse_size(text);
                      if (!size) return tl::unexpected(size.error());
                      take(*size);
                      return {};
                    });
}

}  // namespace gdelta::cli
