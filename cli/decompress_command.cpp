// gdelta decompress: FILE.gdz becomes FILE.
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>

#include "commands.h"
#include "decode_pass.h"
#include "input_names.h"
#include "segment_pass.h"
#include "summary.h"
#include "transfer_arguments.h"

namespace gdelta::cli {

namespace {

constexpr const char* kDecompressExamples = R"(Examples
  gdelta decompress recording.wav.gdz        make recording.wav
  gdelta decompress --rm *.gdz               and remove what was decompressed
  gdelta decompress -c log.gdz | head -c 64  into a pipe
  gdelta decompress --segments indptr.npy indices.bin.gdz
                                             the values, and where their segments begin
  gdelta decompress --salvage -o log log.gdz every whole chunk of a damaged file
)";

struct DecompressJob {
  TransferArguments arguments;
  Tally tally;
  Console console;
};

/// Says what went wrong with the input or the output.
void tell_fault(Console& console, const InputFile& input, const OutputFile& output,
                const Error& error) {
  if (output.pipe_closed()) {
    console.closed_pipe();
  } else {
    console.error(output.failed() ? output.name() : input.name(), error);
  }
}

std::string place_of(const SalvageGap& gap) {
  if (!gap.decoded_bytes)
    return fmt::format("from decoded byte {} on, how much is not known", gap.decoded_at);
  return fmt::format("decoded bytes {}:{}", gap.decoded_at, gap.decoded_at + *gap.decoded_bytes);
}

/// Says what is missing, gap by gap, and what was kept.
void tell_gaps(DecompressJob& job, const InputFile& input, const SalvageReport& report,
               const std::vector<SalvageGap>& gaps) {
  for (const SalvageGap& gap : gaps) {
    std::string what = gap.reason.to_string();
    if (gap.chunks > 0)
      what += fmt::format(
          "; missing: {} chunk{}, {}{}", gap.chunks, gap.chunks == 1 ? "" : "s", place_of(gap),
          job.arguments.decode.fill && gap.decoded_bytes ? " (filled with zeros)" : "");
    job.console.warning(input.name(), what);
  }
  if (report.gaps > gaps.size())
    job.console.warning(input.name(), fmt::format("{} gaps more", report.gaps - gaps.size()));
  job.console.warning(input.name(), fmt::format("kept {} of {} chunks, {} bytes", report.chunks,
                                                report.chunks + report.lost_chunks, report.bytes));
}

/// Values, and offsets of their segments to a file of their own.
Result<void> decode_segments(DecompressJob& job, InputFile& input, const OutputFile& output,
                             const Sink& sink) {
  const DecodeOptions& options = job.arguments.decode.options;
  if (!input.is_regular() || input.is_stdin())
    return fail(Errc::invalid_argument, "is no regular file, so its offsets cannot be written");
  const InspectOptions limits{.models = false, .memory_limit = options.memory_limit};
  const auto entries = read_metadata(input.reader_at(), input.size(), limits);
  if (!entries) return tl::unexpected(entries.error());
  const auto totals = visit_chunks(
      input.reader_at(), input.size(),
      [](const ChunkInfo&, const Layout&) { return Result<void>(); }, limits);
  if (!totals) return tl::unexpected(totals.error());
  if (auto checked = check_segmented(totals->segments, *entries); !checked) return checked;
  if (takes_place_of(job.arguments.offsets, output))
    return fail(Errc::io_error, job.arguments.offsets +
                                    ": is where the values go; offsets need a file of their own");
  auto offsets = OffsetsWriter::create(job.arguments.offsets, job.arguments.files.overwrite, input,
                                       *entries, totals->segments);
  if (!offsets) return tl::unexpected(offsets.error());
  if (auto done = decode_file(input, sink, options, job.console, offsets->sink()); !done)
    return done;
  return offsets->commit(input);
}

bool decode_with_segments(DecompressJob& job, InputFile& input, OutputFile& output,
                          const Sink& sink) {
  const auto done = decode_segments(job, input, output, sink);
  if (!done) tell_fault(job.console, input, output, done.error());
  return done.has_value();
}

/// Whether the output is worth keeping; `whole` becomes false if something is missing from it.
bool decode_into(DecompressJob& job, InputFile& input, OutputFile& output, bool& whole) {
  const Sink sink = [&](std::span<const std::byte> bytes) { return output.write(bytes); };
  if (!job.arguments.offsets.empty()) return decode_with_segments(job, input, output, sink);
  if (!job.arguments.decode.salvage) {
    const auto done = decode_file(input, sink, job.arguments.decode.options, job.console);
    if (!done) tell_fault(job.console, input, output, done.error());
    return done.has_value();
  }
  std::vector<SalvageGap> gaps;
  const auto report = salvage_pass(input, sink, job.arguments.decode.options,
                                   job.arguments.decode.fill, gaps, job.console);
  if (!report) {
    tell_fault(job.console, input, output, report.error());
    return false;
  }
  whole = !report->error;
  if (whole) return true;
  if (output.failed() || report->chunks == 0) {
    tell_fault(job.console, input, output, *report->error);
    return false;
  }
  tell_gaps(job, input, *report, gaps);
  return true;
}

/// The name without .gdz; empty if it has no other part.
std::string target_name(const std::string& path) {
  if (!path.ends_with(kSuffix)) return {};
  const std::string target = path.substr(0, path.size() - kSuffix.size());
  return target.empty() || target.back() == '/' ? std::string() : target;
}

/// One sentence on a file that is done: all of it with -v, sizes to a terminal.
void report(DecompressJob& job, const InputFile& input, const OutputFile& output, double seconds) {
  Console& console = job.console;
  const Sizes sizes = {output.bytes_written(), input.bytes_read()};
  job.tally.add(sizes);
  if (console.verbose()) {
    console.note(input.name(),
                 fmt::format("{} to {} bytes, {:.1f} MB/s", sizes.compressed, sizes.decoded,
                             static_cast<double>(sizes.decoded) / 1e6 / seconds));
  } else if (console.is_watched() && !output.is_stdout()) {
    console.note(input.name(), decompressed_text(sizes));
  }
}

/// Whether the next file may follow.
bool decompress_file(DecompressJob& job, const InputName& name) {
  Console& console = job.console;
  FileArguments& files = job.arguments.files;
  const bool to_stdout = writes_to_stdout(files, name.path);
  const std::string beside = target_name(name.path);
  if (!to_stdout && files.output.empty() && beside.empty()) {
    console.error(name.path, "has no suffix .gdz to take off; -o or -c says where to write");
    return true;
  }
  auto input = open_input(files, name.path, console);
  if (!input) return true;
  if (input->is_terminal() && !files.overwrite) {
    console.error(input->name(), "compressed bytes are not read from a terminal");
    return true;
  }
  auto output = open_output(files, *input, beside, target_name(name.in_folder), console);
  if (!output) return true;
  if (!job.arguments.decode.fill_holes) output->make_sparse();

  if (to_stdout && isatty(STDOUT_FILENO) == 1) console.leave_terminal_to_output();
  const auto start = std::chrono::steady_clock::now();
  bool whole = true;
  if (!decode_into(job, *input, *output, whole)) return !to_stdout || !output->failed();
  if (const auto placed = output->commit(*input, files.remove_input); !placed) {
    console.error(output->name(), placed.error());
    return true;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  report(job, *input, *output, seconds.count());
  if (whole) remove_input(files, *input, *output, console);
  return true;
}

}  // namespace

int decompress_command(const Arguments& arguments) {
  DecompressJob job;
  FileArguments& files = job.arguments.files;
  CLI::App app("Decompress .gdz files.", "gdelta decompress");
  add_transfer_arguments(app, job.arguments, Direction::decompress);
  app.footer(kDecompressExamples);
  if (const auto status = parse(app, arguments)) return *status;
  if (const auto problem = complete(files)) return refuse(app, *problem);
  if (const auto problem = check_segments(job.arguments, Direction::decompress))
    return refuse(app, *problem);
  Console& console = job.console;
  console.set_verbosity(files.verbosity.quiet, files.verbosity.verbose);
  for (const InputName& name : input_names(files.inputs, FolderFiles::compressed, console))
    if (!decompress_file(job, name)) break;
  if (console.verbose() || (console.is_watched() && !files.to_stdout))
    job.tally.tell_decompressed(console);
  return console.exit_status();
}

}  // namespace gdelta::cli
