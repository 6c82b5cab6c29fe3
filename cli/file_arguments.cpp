#include "file_arguments.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace gdelta::cli {

void add_file_arguments(CLI::App& app, FileArguments& arguments, const std::string& files) {
  add_files(app, arguments.files, false, files);
  app.add_option("-o,--output", arguments.output, "Write to this file; - is stdout")
      ->option_text("FILE");
  app.add_flag("-c,--stdout", arguments.to_stdout, "Write to stdout");
  app.add_flag("-f,--force", arguments.overwrite,
               "Overwrite files, write to a terminal, take files of any kind");
  app.add_flag("--rm", arguments.remove_input, "Remove the input once its output is safe");
  app.add_flag_callback(
      "-k,--keep", [&arguments] { arguments.remove_input = false; }, "Keep the input (default)");
  add_verbosity(app, arguments.verbosity);
}

std::optional<std::string> complete(FileArguments& arguments) {
  if (arguments.files.empty()) arguments.files.push_back("-");
  if (!arguments.output.empty() && arguments.to_stdout && arguments.output != "-")
    return "-o and -c name two outputs; choose one";
  if (arguments.output == "-" || arguments.output == "/dev/stdout") {
    arguments.output.clear();
    arguments.to_stdout = true;
  }
  if (!arguments.output.empty() && arguments.files.size() > 1)
    return "-o names one output, but there are several inputs";
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
  auto input = InputFile::open(path);
  if (!input) {
    console.error(path == "-" ? "(stdin)" : path, input.error());
    return std::nullopt;
  }
  return std::move(*input);
}

void remove_input(const FileArguments& arguments, const InputFile& input, const OutputFile& output,
                  Console& console) {
  if (!arguments.remove_input || input.is_stdin() || output.is_stdout()) return;
  struct stat link = {};
  struct stat written = {};
  const bool removable = input.is_regular() && lstat(input.name().c_str(), &link) == 0 &&
                         S_ISREG(link.st_mode) && link.st_dev == input.status().st_dev &&
                         link.st_ino == input.status().st_ino &&
                         stat(output.name().c_str(), &written) == 0 && S_ISREG(written.st_mode);
  if (!removable) {
    console.warning(input.name(), "kept: --rm removes regular files that became regular files");
    return;
  }
  if (unlink(input.name().c_str()) != 0)
    console.error(input.name(), "cannot be removed: " + fail_errno().value().message);
}

}  // namespace gdelta::cli
