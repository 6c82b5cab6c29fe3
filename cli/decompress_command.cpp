// gdelta decompress: FILE.gdz becomes FILE.
#include <fmt/core.h>

#include <chrono>

#include "commands.h"
#include "decode_pass.h"
#include "file_arguments.h"

namespace gdelta::cli {

namespace {

constexpr const char* kExamples = R"(Examples
  gdelta decompress recording.wav.gdz        make recording.wav
  gdelta decompress --rm *.gdz               and remove what was decompressed
  gdelta decompress -c log.gdz | head -c 64  into a pipe
  gdelta decompress --salvage -o log log.gdz every whole chunk of a damaged file
)";

struct DecompressJob {
  FileArguments files;
  DecodeOptions options;
  bool salvage = false;
  Console console;
};

/// Says what went wrong with the input or the output.
void tell(Console& console, const InputFile& input, const OutputFile& output, const Error& error) {
  if (output.pipe_closed()) {
    console.fail_silently();
  } else {
    console.error(output.failed() ? output.name() : input.name(), error);
  }
}

/// Whether the output is worth keeping; `whole` becomes false where something is missing from it.
bool decode_into(DecompressJob& job, InputFile& input, OutputFile& output, bool& whole) {
  const Sink sink = [&](std::span<const std::byte> bytes) { return output.write(bytes); };
  if (!job.salvage) {
    const auto done = decode_file(input, sink, job.options, job.console);
    if (!done) tell(job.console, input, output, done.error());
    return done.has_value();
  }
  const auto report = salvage_file(input, sink, job.options, job.console);
  if (!report) {
    tell(job.console, input, output, report.error());
    return false;
  }
  whole = !report->error;
  if (whole) return true;
  if (output.failed() || report->chunks == 0) {
    tell(job.console, input, output, *report->error);
    return false;
  }
  job.console.warning(input.name(),
                      fmt::format("{}; saved the {} chunks before it, {} bytes",
                                  report->error->to_string(), report->chunks, report->bytes));
  return true;
}

/// The name without .gdz; empty where it has no other part.
std::string target_name(const std::string& path) {
  if (!path.ends_with(kSuffix)) return {};
  const std::string target = path.substr(0, path.size() - kSuffix.size());
  return target.empty() || target.back() == '/' ? std::string() : target;
}

/// Whether the next file may follow.
bool decompress_file(DecompressJob& job, const std::string& path) {
  Console& console = job.console;
  const bool to_stdout = writes_to_stdout(job.files, path);
  std::string target = job.files.output;
  if (!to_stdout && target.empty()) {
    target = target_name(path);
    if (target.empty()) {
      console.error(path, "has no suffix .gdz to take off; -o or -c says where to write");
      return true;
    }
  }
  auto input = open_input(job.files, path, console);
  if (!input) return true;
  if (input->is_terminal() && !job.files.overwrite) {
    console.error(input->name(), "compressed bytes are not read from a terminal");
    return true;
  }
  auto output = to_stdout ? Result<OutputFile>(OutputFile::standard_output())
                          : OutputFile::create(target, job.files.overwrite, *input);
  if (!output) {
    console.error(target, output.error());
    return true;
  }

  const auto start = std::chrono::steady_clock::now();
  bool whole = true;
  if (!decode_into(job, *input, *output, whole)) return !to_stdout || !output->failed();
  if (const auto placed = output->commit(*input, job.files.remove_input); !placed) {
    console.error(output->name(), placed.error());
    return true;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (console.verbose())
    console.note(
        input->name(),
        fmt::format("{} to {} bytes, {:.1f} MB/s", input->bytes_read(), output->bytes_written(),
                    static_cast<double>(output->bytes_written()) / 1e6 / seconds.count()));
  if (whole) remove_input(job.files, *input, *output, console);
  return true;
}

}  // namespace

int decompress_command(const Arguments& arguments) {
  DecompressJob job;
  CLI::App app("Decompress .gdz files.", "gdelta decompress");
  add_file_arguments(app, job.files, "Files to decompress; none or -: stdin");
  app.add_flag("--salvage", job.salvage,
               "Keep every whole chunk before the first damage (exit status 2)");
  add_memory_limit(app, job.options);
  add_machine_options(app, job.options);
  app.footer(kExamples);
  if (const auto status = parse(app, arguments)) return *status;
  if (const auto problem = complete(job.files)) return refuse(app, *problem);
  job.console.set_verbosity(job.files.verbosity.quiet, job.files.verbosity.verbose);
  for (const std::string& path : job.files.files)
    if (!decompress_file(job, path)) break;
  return job.console.exit_status();
}

}  // namespace gdelta::cli
