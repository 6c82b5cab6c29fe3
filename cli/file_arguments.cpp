#include "file_arguments.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace gdelta::cli {

namespace {

/// "dir/" and above, where an output named `path` lies, made if they are missing.
Result<void> make_folders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return fail(Errc::io_error, error.message());
  return {};
}

/// Whether an output would overwrite the offsets that are read beside the input. An empty `target` is stdout.
bool is_the_offsets(const std::string& target, const FileArguments& arguments) {
  struct stat read = {};
  struct stat there = {};
  const auto look = [](const std::string& path, int standard, struct stat& status) {
    return path.empty() || path == "-" ? fstat(standard, &status) == 0
                                       : stat(path.c_str(), &status) == 0;
  };
  return !arguments.offsets.empty() && look(arguments.offsets, STDIN_FILENO, read) &&
         look(target, STDOUT_FILENO, there) && S_ISREG(read.st_mode) && is_same_file(read, there);
}

/// stdout, or the file `target`.
Result<OutputFile> make_output(const FileArguments& arguments, const InputFile& input,
                               const std::string& target) {
  if (is_the_offsets(target, arguments))
    return fail(Errc::io_error, "is the file of the offsets, which is an input");
  return target.empty() ? OutputFile::standard_output(input)
                        : OutputFile::create(target, arguments.overwrite, input);
}

}  // namespace

void add_file_arguments(CLI::App& app, FileArguments& arguments, const std::string& files) {
  add_input_arguments(app, arguments.inputs, false, files);
  add_output_arguments(app, arguments);
  add_verbosity(app, arguments.verbosity);
}

void add_output_arguments(CLI::App& app, FileArguments& arguments) {
  app.add_option("-o,--output", arguments.output, "Write to this file; - is stdout")
      ->option_text("FILE")
      ->check(named());
  app.add_option("--output-dir", arguments.output_folder, "Write into this folder")
      ->option_text("DIR")
      ->check(named());
  app.add_flag("-c,--stdout", arguments.to_stdout, "Write to stdout");
  app.add_flag("-f,--force", arguments.overwrite,
               "Overwrite files, write to a terminal, take files of any kind");
  app.add_flag("--rm", arguments.remove_input, "Remove the input once its output is safe");
  app.add_flag_callback(
      "-k,--keep", [&arguments] { arguments.remove_input = false; }, "Keep the input (default)");
}

std::optional<std::string> complete(FileArguments& arguments) {
  InputArguments& inputs = arguments.inputs;
  if (inputs.none()) inputs.files.push_back("-");
  if (!arguments.output.empty() && arguments.to_stdout && arguments.output != "-")
    return "-o and -c name two outputs; choose one";
  if (arguments.output == "-" || arguments.output == "/dev/stdout") {
    arguments.output.clear();
    arguments.to_stdout = true;
  }
  if (!arguments.output.empty() && inputs.may_be_several())
    return "-o names one output, but there are several inputs";
  if (!arguments.output_folder.empty() && (arguments.to_stdout || !arguments.output.empty()))
    return "--output-dir names a folder for outputs that -o or -c sends elsewhere";
  if (arguments.remove_input && arguments.to_stdout)
    return "--rm keeps no copy of what goes to stdout; leave one of the two out";
  return std::nullopt;
}

bool writes_to_stdout(const FileArguments& arguments, const std::string& path) {
  return arguments.to_stdout || (path == "-" && arguments.output.empty());
}

std::optional<InputFile> open_input(const FileArguments& arguments, const std::string& path,
                                    Console& console) {
  const bool beside = arguments.output.empty() && !writes_to_stdout(arguments, path);
  struct stat status = {};
  // Looked at before it is opened, for opening a FIFO waits.
  if (beside && !arguments.overwrite && stat(path.c_str(), &status) == 0 &&
      !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
    console.warning(path, "is no regular file; skipped (-c, -o or -f reads it)");
    return std::nullopt;
  }
  if (is_refused_folder(path, console)) return std::nullopt;
  auto input = InputFile::open(path);
  if (!input) {
    console.error(path == "-" ? "(stdin)" : path, input.error());
    return std::nullopt;
  }
  return std::move(*input);
}

std::optional<OutputFile> open_output(FileArguments& arguments, const InputFile& input,
                                      const std::string& beside, const std::string& in_folder,
                                      Console& console) {
  const bool to_stdout = writes_to_stdout(arguments, input.is_stdin() ? "-" : input.name());
  std::string target = to_stdout ? "" : arguments.output.empty() ? beside : arguments.output;
  if (!to_stdout && !arguments.output_folder.empty()) {
    target = arguments.output_folder + "/" + in_folder;
    if (!arguments.outputs.insert(target).second) {
      console.error(input.name(), target + " is the output of another input already");
      return std::nullopt;
    }
    if (const auto made = make_folders(target); !made) {
      console.error(target, made.error());
      return std::nullopt;
    }
  }
  auto output = make_output(arguments, input, target);
  if (!output) {
    console.error(to_stdout ? "(stdout)" : target, output.error());
    return std::nullopt;
  }
  return std::move(*output);
}

namespace {

/// Why the input of this output has to stay, if it has.
std::optional<std::string_view> reason_to_keep(const InputFile& input, const OutputFile& output) {
  struct stat link = {};
  struct stat written = {};
  const bool removable = input.is_regular() && lstat(input.name().c_str(), &link) == 0 &&
                         S_ISREG(link.st_mode) && stat(output.name().c_str(), &written) == 0 &&
                         S_ISREG(written.st_mode);
  if (!removable) return "kept: --rm removes regular files that became regular files";
  if (link.st_dev != input.status().st_dev || link.st_ino != input.status().st_ino)
    return "kept: another file took its name while it was read";
  const bool written_to = input.is_being_written();
  if (input.has_changed()) return "kept: it changed while it was read";
  if (written_to) return "kept: another process has it open for writing";
  return std::nullopt;
}

}  // namespace

void remove_input(const FileArguments& arguments, const InputFile& input, const OutputFile& output,
                  Console& console, const std::function<bool()>& is_safe) {
  if (!arguments.remove_input || input.is_stdin() || output.is_stdout()) return;
  const auto has_to_stay = [&] {
    const auto reason = reason_to_keep(input, output);
    if (reason) console.warning(input.name(), *reason);
    return reason.has_value();
  };
  if (has_to_stay() || (is_safe && (!is_safe() || has_to_stay()))) return;
  if (unlink(input.name().c_str()) != 0)
    console.warning(input.name(), "kept: " + fail_errno().value().message);
}

}  // namespace gdelta::cli
