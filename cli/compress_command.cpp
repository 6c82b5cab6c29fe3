// gdelta compress: FILE becomes FILE.gdz.
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <memory>

#include "commands.h"
#include "environment.h"
#include "gdelta/stream.h"
#include "input_names.h"
#include "read_back.h"
#include "segment_pass.h"
#include "summary.h"
#include "transfer_arguments.h"

namespace gdelta::cli {

namespace {

constexpr std::size_t kFedBytes = std::size_t{4} << 20;

constexpr const char* kCompressExamples = R"(
Examples
  gdelta compress recording.wav                 make recording.wav.gdz
  gdelta compress -9 --rm *.npy                 smallest; remove what was compressed
  gdelta compress --type i16 --tuple 2 -o a.gdz a.pcm
  arecord -t raw -f S16_LE | gdelta compress --type i16 > a.gdz
  gdelta compress --device cuda:0,1 huge.bin    on two GPUs
  gdelta compress --segments indptr.npy indices.npy
                                                rows of a sparse matrix, as one object
  gdelta compress matrix.npz                    the same of scipy.sparse.save_npz(...,
                                                compressed=False): rows are found
)";

struct CompressJob {
  TransferArguments arguments;
  Tally tally;
  Console console;
};

/// How gdelta came to know the layout: of `origin`, see Writer::layout_origin.
std::string origin_text(std::string_view origin, const Layout& layout) {
  if (origin == "found" && layout == byte_layout()) return "no numbers found in a sample: for zstd";
  return std::string(origin_sentence(origin));
}

/// "i16x2 (given)"; "f32 (as its NPY header says) and 2 more arrays"; "i32 (given); 10 segments"; empty if
/// there were no numbers.
std::string layout_text(const Writer& writer, std::uint64_t segments) {
  const auto layout = writer.layout();
  if (!layout) return {};
  std::string text = to_string(*layout) + " (" + origin_text(writer.layout_origin(), *layout) + ")";
  if (const std::uint64_t more = writer.num_arrays() - 1; more > 0)
    text += fmt::format(" and {} more {}", more, more == 1 ? "array" : "arrays");
  if (segments > 0) text += fmt::format("; {} segments", segments);
  return text;
}

/// One sentence on a file that is done: all of it with -v, sizes to a terminal; else what gdelta
/// chose itself.
void report(CompressJob& job, const InputFile& input, const OutputFile& output,
            const Writer& writer, std::uint64_t segments, double seconds) {
  Console& console = job.console;
  const Sizes sizes = {writer.bytes_in(), writer.bytes_out()};
  job.tally.add(sizes);
  const std::string layout = layout_text(writer, segments);
  const std::string separator = layout.empty() ? "" : "; ";
  const std::string_view origin = writer.layout_origin();
  if (console.verbose()) {
    console.note(input.name(),
                 fmt::format("{}{}{} to {} bytes, ratio {:.3f}, {} {:.1f} MB/s", layout, separator,
                             sizes.decoded, sizes.compressed, sizes.ratio(), writer.device(),
                             static_cast<double>(sizes.decoded) / 1e6 / seconds));
  } else if (console.is_watched() && !output.is_stdout()) {
    console.note(input.name(), compressed_text(sizes) + separator + layout);
  } else if (!layout.empty() && origin == "found") {
    const Layout found = *writer.layout();
    console.note(input.name(), fmt::format("{} ({}; --type and --tuple override it)",
                                           to_string(found), origin_text(origin, found)));
  } else if (!layout.empty() && origin != "given") {
    console.note(input.name(), layout);
  }
}

/// Feeds the whole input to the writer.
Result<void> pump(CompressJob& job, InputFile& input, Writer& writer) {
  const auto total = input.bytes_left();
  if (total) {
    writer.set_total_bytes(*total);
    const std::uint64_t before = writer.bytes_in();
    auto done = writer.write_file(input.reader_at(), input.position());
    input.pass(writer.bytes_in() - before);
    if (!done) return done;
  }
  // What follows, or all if it is no regular file.
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(kFedBytes);
  for (;;) {
    const auto got = input.read({buffer.get(), kFedBytes});
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) break;
    if (auto done = writer.write({buffer.get(), *got}); !done) return done;
  }
  if (total && input.bytes_read() != *total && !job.arguments.files.remove_input)
    job.console.warning(input.name(), "changed its length while it was read");
  return writer.finish();
}

/// Says what went wrong; whether the next file may follow.
bool tell_failure(Console& console, const InputFile& input, const OutputFile& output,
                  const Error& error) {
  if (output.pipe_closed()) {
    console.closed_pipe();
  } else {
    console.error(output.failed() ? output.name() : input.name(), error);
  }
  // What follows an unfinished stream could not be decoded, and a stdout that fails goes on failing.
  return !output.is_stdout() || (output.bytes_written() == 0 && !output.failed());
}

/// Makes the output appear; whether the input may be removed.
bool place_output(CompressJob& job, InputFile& input, OutputFile& output) {
  const auto placed = output.commit(input, job.arguments.files.remove_input);
  if (!placed) job.console.error(output.name(), placed.error());
  return placed.has_value();
}

/// Those that the user tells of, else what arrays of the file say of each other.
Result<InputSegments> segments_of(CompressJob& job, const InputFile& input) {
  const EncodeOptions& options = job.arguments.encode.options;
  if (!job.arguments.offsets.empty()) return read_segments(input, job.arguments.offsets, options);
  if (options.layout || !input.is_regular() || input.is_stdin()) return InputSegments{};
  job.console.show_step(input.name(), "looking for segments ...");
  auto found = find_segments(input.reader_at(), input.size(), options);
  if (!found) return tl::unexpected(found.error());
  return InputSegments{.arrays = std::move(*found), .form = std::nullopt};
}

/// By the same means as it was made.
DecodeOptions read_back_options(const EncodeOptions& options) {
  DecodeOptions decode;
  decode.device = options.device;
  decode.threads = options.threads;
  decode.memory_limit = options.memory_limit;
  return decode;
}

/// Whether the next file may follow.
bool compress_file(CompressJob& job, const InputName& name) {
  Console& console = job.console;
  FileArguments& files = job.arguments.files;
  const bool to_stdout = writes_to_stdout(files, name.path);
  if (!to_stdout && files.output.empty() && name.path.ends_with(kSuffix) && !files.overwrite) {
    console.warning(name.path, "has the suffix .gdz already; skipped (-f compresses it again)");
    return true;
  }
  auto input = open_input(files, name.path, console);
  if (!input) return true;
  const std::string suffix(kSuffix);
  auto output = open_output(files, *input, name.path + suffix, name.in_folder + suffix, console);
  if (!output) return true;

  if (to_stdout && isatty(STDOUT_FILENO) == 1) console.leave_terminal_to_output();
  const auto start = std::chrono::steady_clock::now();
  auto segments = segments_of(job, *input);
  if (!segments) return tell_failure(console, *input, *output, segments.error());
  EncodeOptions options = job.arguments.encode.options;
  if (segments->form)
    options.metadata.push_back({std::string(kOffsetsKey), segments->form->text()});
  const std::uint64_t num_segments = segments->count();
  Writer writer([&](std::span<const std::byte> bytes) { return output->write(bytes); }, options,
                std::move(segments->arrays));
  console.start_progress(input->name(), input->bytes_left());
  const auto done = pump(job, *input, writer);
  console.end_progress();
  for (const std::string& warning : writer.take_warnings()) console.warning(input->name(), warning);
  if (!done) return tell_failure(console, *input, *output, done.error());
  if (!place_output(job, *input, *output)) return true;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  report(job, *input, *output, writer, num_segments, seconds.count());
  if (!writer.advice().empty()) console.note(input->name(), writer.advice());
  remove_input(files, *input, *output, console, [&] {
    return gives_back(*input, output->name(), read_back_options(options), console);
  });
  return true;
}

}  // namespace

int compress_command(const Arguments& arguments) {
  CompressJob job;
  FileArguments& files = job.arguments.files;
  EncodeArguments& encode = job.arguments.encode;
  CLI::App app("Compress files of numbers; the same bytes come back.", "gdelta compress");
  add_transfer_arguments(app, job.arguments, Direction::compress);
  app.footer(std::string(kEncodeHelp) + kCompressExamples);
  if (const auto status = parse(app, arguments)) return *status;
  if (const auto problem = complete(files)) return refuse(app, *problem);
  if (const auto problem = complete(encode)) return refuse(app, *problem);
  if (const auto problem = check_segments(job.arguments, Direction::compress))
    return refuse(app, *problem);
  files.offsets = job.arguments.offsets;
  if (!encode.levels.empty()) {
    encode.options.level = encode.levels.back();
  } else if (const auto problem = read_environment("GDELTA_LEVEL", 1, 9, encode.options.level)) {
    return refuse(app, *problem);
  }
  Console& console = job.console;
  console.set_verbosity(files.verbosity.quiet, files.verbosity.verbose);
  console.follow(encode.options);

  for (const InputName& name : input_names(files.inputs, FolderFiles::others, console)) {
    if (writes_to_stdout(files, name.path) && isatty(STDOUT_FILENO) == 1 && !files.overwrite) {
      console.error("(stdout)", "compressed bytes do not go to a terminal (-f sends them)");
      break;
    }
    if (!compress_file(job, name)) break;
  }
  if (console.verbose() || (console.is_watched() && !files.to_stdout))
    job.tally.tell_compressed(console);
  return console.exit_status();
}

}  // namespace gdelta::cli
