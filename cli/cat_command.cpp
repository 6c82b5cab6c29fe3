// gdelta cat: a part of a file, decoding only the chunks that hold it.
#include <fmt/core.h>

#include <algorithm>

#include "command_line.h"
#include "commands.h"
#include "gdelta/stream.h"
#include "input_file.h"
#include "output_file.h"
#include "size_text.h"

namespace gdelta::cli {

namespace {

constexpr const char* kHelp = R"(Ranges
  A:B are positions from A up to, not including, B, counted from 0. Either may be left out
  (to the end, from the beginning) and take a unit (64K, 1M). Positions count decoded bytes,
  or with --unit records whole records of numbers: headers and tails of a file format hold
  none and are left out. A range that goes beyond the end is refused.

Examples
  gdelta cat log.gdz                              everything, as decompress -c
  gdelta cat --range 1M:1025K log.gdz             1024 bytes
  gdelta cat --range 1000:2000 --unit records points.gdz
)";

struct CatJob {
  std::string file;
  Range range;
  bool records = false;
  DecodeOptions options;
  Console console;
};

/// A half-open range of decoded bytes.
struct Piece {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

Result<Range> within(Range range, std::uint64_t count, std::string_view unit) {
  if (!range.has_end) range.end = std::max(count, range.begin);
  if (range.end > count || range.begin > count)
    return fail(Errc::invalid_argument,
                fmt::format("there are {} {}; the range goes beyond", count, unit));
  return range;
}

/// The decoded bytes of records [begin, end), neighbours joined.
std::vector<Piece> pieces_of_records(const StreamInfo& info, const Range& range) {
  std::vector<Piece> pieces;
  std::uint64_t first = 0;  // number of the chunk's first record
  for (const ChunkInfo& chunk : info.chunks) {
    if (chunk.opaque || chunk.records == 0) continue;
    const std::uint64_t record_bytes = chunk.decoded_bytes / chunk.records;
    const std::uint64_t begin = std::max(range.begin, first);
    const std::uint64_t end = std::min(range.end, first + chunk.records);
    if (begin < end) {
      const std::uint64_t at = chunk.decoded_at + (begin - first) * record_bytes;
      const std::uint64_t bytes = (end - begin) * record_bytes;
      if (!pieces.empty() && pieces.back().end == at) {
        pieces.back().end += bytes;
      } else {
        pieces.push_back({at, at + bytes});
      }
    }
    first += chunk.records;
  }
  return pieces;
}

Result<std::vector<Piece>> find_pieces(const CatJob& job, const StreamInfo& info) {
  if (!job.records) {
    const auto range = within(job.range, info.decoded_bytes, "bytes");
    if (!range) return tl::unexpected(range.error());
    return std::vector<Piece>{{range->begin, range->end}};
  }
  std::uint64_t records = 0;
  for (const ChunkInfo& chunk : info.chunks)
    if (!chunk.opaque) records += chunk.records;
  const auto range = within(job.range, records, "records");
  if (!range) return tl::unexpected(range.error());
  return pieces_of_records(info, *range);
}

void cat_file(CatJob& job) {
  Console& console = job.console;
  auto input = InputFile::open(job.file);
  if (!input) return console.error(job.file, input.error());
  if (!input->is_regular())
    return console.error(input->name(), "is no regular file; decompress -c reads pipes");
  const auto file_bytes = static_cast<std::uint64_t>(input->status().st_size);
  const ReadAt read_at = input->reader_at();
  const auto info = inspect(read_at, file_bytes, false);
  if (!info) return console.error(input->name(), info.error());
  const auto pieces = find_pieces(job, *info);
  if (!pieces) return console.error(input->name(), pieces.error());

  OutputFile output = OutputFile::standard_output();
  const Sink sink = [&output](std::span<const std::byte> bytes) { return output.write(bytes); };
  for (const Piece& piece : *pieces) {
    if (piece.begin == piece.end) continue;
    const auto done = read_range(read_at, file_bytes, piece.begin, piece.end, sink, job.options);
    if (done) continue;
    if (output.pipe_closed()) return console.fail_silently();
    return console.error(output.failed() ? output.name() : input->name(), done.error());
  }
}

}  // namespace

int cat_command(const Arguments& arguments) {
  CatJob job;
  Verbosity verbosity;
  std::string unit = "bytes";
  CLI::App app("Write a part of a file to stdout, decoding only what it needs.", "gdelta cat");
  app.add_option("FILE", job.file, "A compressed file")->required()->option_text(" ");
  add_parsed_option(app, "--range", "A:B", "Positions to write; without it everything",
                    [&job](const std::string& text) -> Result<void> {
                      const auto range = parse_range(text);
                      if (!range) return tl::unexpected(range.error());
                      job.range = *range;
                      return {};
                    });
  app.add_option("--unit", unit, "What positions count: bytes (default) or records")
      ->option_text("UNIT")
      ->check(CLI::IsMember({"bytes", "records"}));
  add_verbosity(app, verbosity);
  add_memory_limit(app, job.options);
  add_machine_options(app, job.options);
  app.footer(kHelp);
  if (const auto status = parse(app, arguments)) return *status;
  job.records = unit == "records";
  job.console.set_verbosity(verbosity.quiet, verbosity.verbose);
  cat_file(job);
  return job.console.exit_status();
}

}  // namespace gdelta::cli
