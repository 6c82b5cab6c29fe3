// gdelta list: what files hold; decodes nothing.
#include <fmt/core.h>

#include "command_line.h"
#include "commands.h"
#include "input_file.h"
#include "list_format.h"

namespace gdelta::cli {

namespace {

constexpr const char* kExamples = R"(Examples
  gdelta list *.gdz
  gdelta list -v recording.wav.gdz           every chunk with its model
  gdelta list --json recording.wav.gdz       for programs; the man page says what it holds
)";

Result<ListedFile> inspect_file(const std::string& path) {
  const auto input = InputFile::open(path);
  if (!input) return tl::unexpected(input.error());
  if (!input->is_regular())
    return fail(Errc::io_error, "is no regular file, so it cannot be read out of order");
  auto info = inspect(input->reader_at(), static_cast<std::uint64_t>(input->status().st_size),
                      /*with_models=*/true);
  if (!info) return tl::unexpected(info.error());
  return ListedFile{path, std::move(*info)};
}

}  // namespace

int list_command(const Arguments& arguments) {
  std::vector<std::string> paths;
  Verbosity verbosity;
  bool json = false;
  CLI::App app("Show what compressed files hold.", "gdelta list");
  add_files(app, paths, true, "Compressed files");
  app.add_flag("--json", json, "Print JSON, all chunks included");
  add_verbosity(app, verbosity);
  app.footer(kExamples);
  if (const auto status = parse(app, arguments)) return *status;
  Console console;
  console.set_verbosity(verbosity.quiet, verbosity.verbose);

  std::vector<ListedFile> files;
  for (const std::string& path : paths) {
    auto file = inspect_file(path);
    if (!file) {
      console.error(path, file.error());
      continue;
    }
    files.push_back(std::move(*file));
  }
  std::string text;
  if (json) {
    text = list_json(files);
  } else if (verbosity.verbose > 0) {
    for (const ListedFile& file : files)
      text += (text.empty() ? "" : "\n") + summary_table({file}) + chunk_table(file);
  } else if (!files.empty()) {
    text = summary_table(files);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) != 0) console.fail_silently();
  return console.exit_status();
}

}  // namespace gdelta::cli
