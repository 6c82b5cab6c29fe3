// gdelta compress: FILE becomes FILE.gdz.
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>

#include "commands.h"
#include "encode_arguments.h"
#include "file_arguments.h"
#include "gdelta/stream.h"

namespace gdelta::cli {

namespace {

constexpr std::size_t kReadBytes = std::size_t{4} << 20;

constexpr const char* kExamples = R"(
Examples
  gdelta compress recording.wav                 make recording.wav.gdz
  gdelta compress -9 --rm *.npy                 smallest; remove what was compressed
  gdelta compress --type i16 --tuple 2 -o a.gdz a.pcm
  arecord -t raw -f S16_LE | gdelta compress --type i16 > a.gdz
  gdelta compress --device cuda:0,1 huge.bin    on two GPUs
)";

struct CompressJob {
  FileArguments files;
  EncodeArguments encode;
  Console console;
};

bool has_suffix(const std::string& path) { return path.ends_with(kSuffix); }

std::string origin_sentence(std::string_view origin) {
  if (origin == "found") return "found in a sample; --type and --tuple override it";
  if (origin == "wav") return "as its WAV header says";
  if (origin == "npy") return "as its NPY header says";
  return std::string(origin);
}

void report(CompressJob& job, const InputFile& input, const Writer& writer, double seconds) {
  const auto layout = writer.layout();
  const std::string_view origin = writer.layout_origin();
  const bool chosen = layout && origin != "given";
  if (!chosen && !job.console.verbose()) return;
  std::string sentence;
  if (layout) sentence = to_string(*layout) + " (" + origin_sentence(origin) + ")";
  if (job.console.verbose()) {
    const auto in = static_cast<double>(writer.bytes_in());
    const auto out = static_cast<double>(writer.bytes_out());
    sentence += fmt::format("{}{} to {} bytes, ratio {:.3f}, {} {:.1f} MB/s",
                            sentence.empty() ? "" : "; ", writer.bytes_in(), writer.bytes_out(),
                            out > 0 ? in / out : 0.0, writer.device(), in / 1e6 / seconds);
  }
  job.console.note(input.name(), sentence);
}

/// Feeds the whole input to the writer.
Result<void> pump(CompressJob& job, InputFile& input, Writer& writer) {
  const auto total = input.bytes_left();
  if (total) writer.set_total_bytes(*total);
  std::vector<std::byte> buffer(kReadBytes);
  for (;;) {
    const auto got = input.read(buffer);
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) break;
    if (auto done = writer.write(std::span(buffer).first(*got)); !done) return done;
    job.console.progress(input.name(), input.bytes_read(), total);
  }
  if (total && input.bytes_read() != *total)
    job.console.warning(input.name(), "changed its length while it was read");
  return writer.finish();
}

/// Whether the next file may follow.
bool compress_file(CompressJob& job, const std::string& path) {
  Console& console = job.console;
  const bool to_stdout = writes_to_stdout(job.files, path);
  const bool beside = !to_stdout && job.files.output.empty();
  if (beside && has_suffix(path) && !job.files.overwrite) {
    console.warning(path, "has the suffix .gdz already; skipped (-f compresses it again)");
    return true;
  }
  auto input = open_input(job.files, path, console);
  if (!input) return true;
  const std::string target = beside ? path + std::string(kSuffix) : job.files.output;
  auto output = to_stdout ? Result<OutputFile>(OutputFile::standard_output())
                          : OutputFile::create(target, job.files.overwrite, *input);
  if (!output) {
    console.error(target, output.error());
    return true;
  }

  const auto start = std::chrono::steady_clock::now();
  Writer writer([&](std::span<const std::byte> bytes) { return output->write(bytes); },
                job.encode.options);
  const auto done = pump(job, *input, writer);
  for (const std::string& warning : writer.take_warnings()) console.warning(input->name(), warning);
  if (!done) {
    if (output->pipe_closed()) {
      console.fail_silently();
    } else if (output->failed()) {
      console.error(output->name(), done.error());
    } else {
      console.error(input->name(), done.error());
    }
    // What follows an unfinished stream could not be decoded, and a stdout that fails goes on failing.
    return !to_stdout || (output->bytes_written() == 0 && !output->failed());
  }
  if (const auto placed = output->commit(*input, job.files.remove_input); !placed) {
    console.error(output->name(), placed.error());
    return true;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  report(job, *input, writer, seconds.count());
  remove_input(job.files, *input, *output, console);
  console.clear_progress();
  return true;
}

}  // namespace

int compress_command(const Arguments& arguments) {
  CompressJob job;
  CLI::App app("Compress files of numbers; the same bytes come back.", "gdelta compress");
  add_file_arguments(app, job.files, "Files to compress; none or -: stdin");
  add_encode_arguments(app, job.encode);
  add_machine_options(app, job.encode.options);
  app.footer(std::string(kEncodeHelp) + kExamples);
  if (const auto status = parse(app, arguments)) return *status;
  if (const auto problem = complete(job.files)) return refuse(app, *problem);
  if (const auto problem = complete(job.encode)) return refuse(app, *problem);
  if (!job.encode.levels.empty()) job.encode.options.level = job.encode.levels.back();
  job.console.set_verbosity(job.files.verbosity.quiet, job.files.verbosity.verbose);

  for (const std::string& path : job.files.files) {
    if (writes_to_stdout(job.files, path) && isatty(STDOUT_FILENO) && !job.files.overwrite) {
      job.console.error("(stdout)", "compressed bytes do not go to a terminal (-f sends them)");
      break;
    }
    if (!compress_file(job, path)) break;
  }
  return job.console.exit_status();
}

}  // namespace gdelta::cli
