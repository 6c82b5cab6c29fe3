// gdelta test: decode everything, keep nothing.
#include <fmt/core.h>

#include "commands.h"
#include "decode_pass.h"
#include "input_names.h"
#include "transfer_arguments.h"

namespace gdelta::cli {

namespace {

constexpr const char* kTestExamples = R"(Silent where all is well; -v names every file.

Examples
  gdelta test *.gdz
  gdelta test -r archive                     every .gdz in and below the folder
  curl https://example.org/log.gdz | gdelta test -
)";

void test_file(const std::string& path, const DecodeOptions& options, Console& console) {
  if (is_refused_folder(path, console)) return;
  auto input = InputFile::open(path);
  if (!input) {
    console.error(path == "-" ? "(stdin)" : path, input.error());
    return;
  }
  std::uint64_t bytes = 0;
  const Sink count = [&bytes](std::span<const std::byte> decoded) -> Result<void> {
    bytes += decoded.size();
    return {};
  };
  const auto done = decode_file(*input, count, options, console);
  if (!done) {
    console.error(input->name(), done.error());
  } else if (console.verbose()) {
    console.note(input->name(), fmt::format("ok, {} bytes", bytes));
  }
}

}  // namespace

int test_command(const Arguments& arguments) {
  InputArguments inputs;
  TransferArguments idle;
  DecodeOptions options;
  Verbosity verbosity;
  CLI::App app("Check that files decode and that every checksum holds.", "gdelta test");
  add_input_arguments(app, inputs, true, "Files to check; - is stdin");
  add_verbosity(app, verbosity);
  add_memory_limit(app, options);
  add_output_limit(app, options);
  add_machine_options(app, options);
  add_idle_arguments(app, idle);
  app.footer(kTestExamples);
  if (const auto status = parse(app, arguments)) return *status;
  Console console;
  console.set_verbosity(verbosity.quiet, verbosity.verbose);
  for (const InputName& name : input_names(inputs, FolderFiles::compressed, console))
    test_file(name.path, options, console);
  return console.exit_status();
}

}  // namespace gdelta::cli
