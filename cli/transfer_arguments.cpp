#include "transfer_arguments.h"

#include <algorithm>

namespace gdelta::cli {

namespace {

void add_decode_arguments(CLI::App& app, DecodeArguments& arguments) {
  auto* salvage = app.add_flag("--salvage", arguments.salvage,
                               "Keep every whole chunk of a damaged file (exit status 2)");
  app.add_flag("--fill", arguments.fill, "With --salvage: zeros in the place of what is missing")
      ->needs(salvage);
  app.add_flag("--no-sparse", arguments.fill_holes,
               "Write long stretches of zeros, instead of leaving holes");
}

/// One option for the offsets that compress reads and decompress writes.
void add_segments(CLI::App& app, TransferArguments& arguments, const std::string& help) {
  app.add_option("--segments", arguments.offsets, help)->option_text("OFFSETS")->check(named());
}

/// One option for the limits of both directions.
void add_memory_limits(CLI::App& app, TransferArguments& arguments, const std::string& help) {
  add_limit(app, "-M,--memory", help, [&arguments](std::uint64_t size) {
    arguments.encode.options.memory_limit = size;
    arguments.decode.options.memory_limit = size;
  });
}

/// What is left out of account goes with anything, and with nothing.
void loosen(CLI::Option& option) {
  for (CLI::Option* other : option.get_needs()) option.remove_needs(other);
  for (CLI::Option* other : option.get_excludes()) option.remove_excludes(other);
}

/// Lets `add` add options that the help page does not show and that are left out of account.
template <class Add>
void add_hidden(CLI::App& app, Add add) {
  const std::size_t shown = app.get_options().size();
  add();
  const auto options = app.get_options();
  for (std::size_t i = shown; i < options.size(); ++i) {
    hide(*options[i]);
    loosen(*options[i]);
  }
}

}  // namespace

void add_transfer_arguments(CLI::App& app, TransferArguments& arguments, Direction direction) {
  if (direction == Direction::compress) {
    add_file_arguments(app, arguments.files, "Files to compress; none or -: stdin");
    add_encode_arguments(app, arguments.encode);
    add_segments(app, arguments, "Values come in segments that begin at the offsets in this file");
    add_memory_limits(app, arguments, "Memory that compressing may hold, such as 64M");
    add_machine_options(app, arguments.encode.options);
    add_hidden(app, [&] {
      add_decode_arguments(app, arguments.decode);
      add_output_limit(app, arguments.decode.options);
    });
  } else {
    add_file_arguments(app, arguments.files, "Files to decompress; none or -: stdin");
    add_decode_arguments(app, arguments.decode);
    add_output_limit(app, arguments.decode.options);
    add_segments(app, arguments, "Write the offsets of segments to this file (not -), too");
    add_memory_limits(app, arguments,
                      "Memory that decoding may hold, such as 512M or 16G (default 4G)");
    add_machine_options(app, arguments.decode.options);
    add_hidden(app, [&] { add_encode_arguments(app, arguments.encode); });
  }
}

std::optional<std::string> check_segments(const TransferArguments& arguments, Direction direction) {
  if (arguments.offsets.empty()) return std::nullopt;
  if (arguments.files.inputs.files.size() != 1)
    return "--segments is about one file: name no more than one";
  const bool decodes = direction == Direction::decompress;
  if (decodes && arguments.decode.salvage) return "--segments does not go with --salvage";
  if (decodes && (arguments.offsets == "-" || arguments.offsets == "/dev/stdout"))
    return "--segments writes the offsets to a file, not to stdout";
  return std::nullopt;
}

void add_idle_arguments(CLI::App& app, TransferArguments& arguments) {
  const auto lacks = [&app](const char* name) { return app.get_option_no_throw(name) == nullptr; };
  add_hidden(app, [&] {
    add_output_arguments(app, arguments.files);
    add_encode_arguments(app, arguments.encode);
    add_decode_arguments(app, arguments.decode);
    add_segments(app, arguments, "");
    if (lacks("--max-output")) add_output_limit(app, arguments.decode.options);
    if (lacks("--threads")) add_machine_options(app, arguments.decode.options);
  });
}

Suffixes suffixes_of(const Arguments& arguments) {
  TransferArguments read;
  CLI::App app;
  add_transfer_arguments(app, read, Direction::compress);
  for (CLI::Option* option : app.get_options()) loosen(*option);
  if (!try_parse(app, arguments)) return Suffixes::none;
  const auto& files = read.files.inputs.files;
  const auto packed = std::count_if(
      files.begin(), files.end(), [](const std::string& path) { return path.ends_with(kSuffix); });
  if (packed == 0) return Suffixes::none;
  return static_cast<std::size_t>(packed) == files.size() ? Suffixes::all : Suffixes::some;
}

}  // namespace gdelta::cli
