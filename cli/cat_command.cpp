// gdelta cat: a part of a file, decoding only the chunks that hold it.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "command_line.h"
#include "commands.h"
#include "decode_pass.h"
#include "gdelta/stream.h"
#include "input_file.h"
#include "offsets_file.h"
#include "output_file.h"
#include "size_text.h"

namespace gdelta::cli {

namespace {

constexpr const char* kCatHelp = R"(Ranges
  A:B are positions from A up to, not including, B, counted from 0. Either may be left out
  (to the end, from the beginning) and take a unit (64K, 1M). Positions count decoded bytes,
  or with --unit records whole records of numbers: headers and tails of a file format hold
  none and are left out. A range that goes beyond the end is refused. Damage outside the
  chunks that are read stays unseen; test finds it.

Examples
  gdelta cat log.gdz                              everything, as decompress -c
  gdelta cat --range 1M:1025K log.gdz             1024 bytes
  gdelta cat --range 1000:2000 --unit records points.gdz
  gdelta cat --segments 10:20 postings.gdz        the values of ten segments
  gdelta cat --segment 7 postings.gdz             of one
)";

struct CatJob {
  std::string file;
  Range range;
  bool records = false;
  bool segments = false;
  DecodeOptions options;
  Console console;
};

/// To the end, unless it says otherwise.
Range to_end(Range range, std::uint64_t count) {
  if (!range.has_end) range.end = std::max(count, range.begin);
  return range;
}

Result<void> write_range(CatJob& job, const InputFile& input, const Sink& sink) {
  auto reader = RangeReader::open(input.reader_at(), input.size(), job.options);
  if (!reader) return tl::unexpected(std::move(reader.error()));
  const FileTotals& totals = reader->totals();
  if (job.segments && totals.segments == 0) {
    const auto entries =
        read_metadata(input.reader_at(), input.size(), {.memory_limit = job.options.memory_limit});
    if (!entries) return tl::unexpected(entries.error());
    if (auto checked = check_segmented(totals.segments, *entries); !checked) return checked;
  }
  const Range range = to_end(job.range, job.segments  ? totals.segments
                                        : job.records ? totals.records
                                                      : totals.decoded_bytes);
  const EndSink no_ends = [](std::span<const std::uint64_t>) { return Result<void>(); };
  auto done = job.segments  ? reader->read_segments(range.begin, range.end, sink, no_ends)
              : job.records ? reader->read_records(range.begin, range.end, sink)
                            : reader->read(range.begin, range.end, sink);
  for (const std::string& warning : reader->take_warnings())
    job.console.warning(input.name(), warning);
  return done;
}

void cat_file(CatJob& job) {
  Console& console = job.console;
  auto input = InputFile::open(job.file);
  if (!input) return console.error(job.file, input.error());
  // What is asked for whole is read from the front: no index says what there is of it.
  const bool whole = !job.records && !job.segments && job.range.begin == 0 && !job.range.has_end;
  if (!whole && !input->is_regular())
    return console.error(input->name(), "is no regular file, so only all its bytes can be read");

  auto output = OutputFile::standard_output(*input);
  if (!output) return console.error("(stdout)", output.error());
  const Sink sink = [&output](std::span<const std::byte> bytes) { return output->write(bytes); };
  if (isatty(STDOUT_FILENO) == 1) console.leave_terminal_to_output();
  const auto done =
      whole ? decode_file(*input, sink, job.options, console) : write_range(job, *input, sink);
  if (done) return;
  if (output->pipe_closed()) return console.closed_pipe();
  console.error(output->failed() ? output->name() : input->name(), done.error());
}

}  // namespace

int cat_command(const Arguments& arguments) {
  CatJob job;
  Verbosity verbosity;
  std::string unit = "bytes";
  CLI::App app("Write a part of a file to stdout, decoding only what it needs.", "gdelta cat");
  app.add_option("FILE", job.file, "A compressed file")->required()->option_text(" ");
  const auto take_range = [&job](const std::string& text) -> Result<void> {
    const auto range = parse_range(text);
    if (!range) return tl::unexpected(range.error());
    job.range = *range;
    return {};
  };
  auto* range = add_parsed_option(app, "--range", "A:B",
                                  "Positions to write; without it everything", take_range);
  auto* units = app.add_option("--unit", unit, "What positions count: bytes (default) or records")
                    ->option_text("UNIT")
                    ->check(CLI::Validator(
                        [](const std::string& text) {
                          return text == "bytes" || text == "records"
                                     ? ""
                                     : fmt::format("'{}' is neither bytes nor records", text);
                        },
                        ""));
  const auto take_segments = [&job, take_range](const std::string& text) {
    job.segments = true;
    return take_range(text);
  };
  auto* segments = add_parsed_option(app, "--segments", "A:B", "Segments to write", take_segments)
                       ->excludes(range)
                       ->excludes(units);
  add_parsed_option(app, "--segment", "K", "The one segment to write",
                    [&job](const std::string& text) -> Result<void> {
                      const auto number = parse_size(text);
                      if (!number) return tl::unexpected(number.error());
                      job.segments = true;
                      job.range = {.begin = *number, .end = *number + 1, .has_end = true};
                      return {};
                    })
      ->excludes(range)
      ->excludes(units)
      ->excludes(segments);
  add_verbosity(app, verbosity);
  add_memory_limit(app, job.options);
  add_output_limit(app, job.options);
  add_machine_options(app, job.options);
  app.footer(kCatHelp);
  if (const auto status = parse(app, arguments)) return *status;
  job.records = unit == "records";
  job.console.set_verbosity(verbosity.quiet, verbosity.verbose);
  cat_file(job);
  return job.console.exit_status();
}

}  // namespace gdelta::cli
