// gdelta list: what files hold; decodes nothing. Files are read once for their sums and again for
// what is told of each chunk, so that memory does not grow with them.
#include <fmt/core.h>

#include <cstdio>

#include "command_line.h"
#include "commands.h"
#include "input_file.h"
#include "list_format.h"
#include "list_json.h"

namespace gdelta::cli {

namespace {

constexpr const char* kExamples = R"(Examples
  gdelta list *.gdz
  gdelta list -v recording.wav.gdz           every chunk with its model
  gdelta list --json recording.wav.gdz       for programs; the man page says what it holds
)";

enum class Form : std::uint8_t { lines, chunks, json };

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

/// A file that is being listed.
class ListedFile {
 public:
  static Result<ListedFile> open(const std::string& path, std::uint64_t memory_limit) {
    auto input = InputFile::open(path);
    if (!input) return tl::unexpected(input.error());
    if (!input->is_regular())
      return fail(Errc::io_error, "is no regular file, so it cannot be read out of order");
    return ListedFile(std::move(*input), memory_limit);
  }

  /// Stops where nobody reads what is printed.
  Result<FileTotals> visit(const ChunkVisitor& visit) const {
    const auto file_bytes = static_cast<std::uint64_t>(input_.status().st_size);
    return visit_chunks(input_.reader_at(), file_bytes,
                        [&visit](const ChunkInfo& chunk, const Layout& layout) -> Result<void> {
                          if (std::ferror(stdout) != 0)
                            return fail(Errc::io_error, "stdout is closed");
                          return visit(chunk, layout);
                        },
                        {.models = true, .memory_limit = memory_limit_});
  }

 private:
  ListedFile(InputFile input, std::uint64_t memory_limit)
      : input_(std::move(input)), memory_limit_(memory_limit) {}

  InputFile input_;
  std::uint64_t memory_limit_;
};

class Lister {
 public:
  Lister(Form form, std::uint64_t memory_limit, Console& console)
      : form_(form), memory_limit_(memory_limit), console_(console) {
    if (form_ == Form::json) json_.emplace(stdout);
  }

  void add(const std::string& path) {
    const auto done = list(path);
    if (!done && std::ferror(stdout) == 0) console_.error(path, done.error());
  }

  void finish() {
    if (json_) json_->finish();
    if (form_ == Form::lines && files_ > 1) print(summary_sums(files_, sums_));
    console_.end_stdout();
  }

 private:
  Result<void> list(const std::string& path) {
    const auto file = ListedFile::open(path, memory_limit_);
    if (!file) return tl::unexpected(file.error());
    FileSummary summary;
    const auto totals = file->visit([&](const ChunkInfo& chunk, const Layout& layout) {
      summary.add(chunk, layout);
      return Result<void>();
    });
    if (!totals) return tl::unexpected(totals.error());
    ++files_;
    sums_.chunks += totals->chunks;
    sums_.compressed_bytes += totals->compressed_bytes;
    sums_.decoded_bytes += totals->decoded_bytes;
    if (json_) return list_json(path, *file, *totals);
    if (form_ == Form::chunks && files_ > 1) print("\n");
    if (form_ == Form::chunks || files_ == 1) print(summary_titles());
    print(summary_line(path, *totals, summary));
    if (form_ == Form::lines) return {};
    print(chunk_titles());
    return visit_again(*file, [](const ChunkInfo& chunk, const Layout& layout) {
      print(chunk_lines(chunk, layout));
      return Result<void>();
    });
  }

  /// The whole object, also of a file that has changed since it was read first.
  Result<void> list_json(const std::string& path, const ListedFile& file,
                         const FileTotals& totals) {
    json_->begin_file(path, totals);
    std::size_t layouts = 0;
    auto done = visit_again(file, [&](const ChunkInfo& chunk, const Layout& layout) {
      if (!chunk.opaque && chunk.layout == layouts) {
        json_->add_layout(layout);
        ++layouts;
      }
      return Result<void>();
    });
    json_->begin_chunks();
    if (done)
      done = visit_again(file, [&](const ChunkInfo& chunk, const Layout&) {
        json_->add_chunk(chunk);
        return Result<void>();
      });
    json_->end_file();
    return done;
  }

  static Result<void> visit_again(const ListedFile& file, const ChunkVisitor& visit) {
    const auto totals = file.visit(visit);
    if (!totals) return tl::unexpected(totals.error());
    return {};
  }

  Form form_;
  std::uint64_t memory_limit_;
  Console& console_;
  std::optional<JsonList> json_;
  std::size_t files_ = 0;
  FileTotals sums_;
};

}  // namespace

int list_command(const Arguments& arguments) {
  std::vector<std::string> paths;
  Verbosity verbosity;
  DecodeOptions limits;
  bool json = false;
  CLI::App app("Show what compressed files hold.", "gdelta list");
  add_files(app, paths, true, "Compressed files");
  app.add_flag("--json", json, "Print JSON, all chunks included");
  add_verbosity(app, verbosity);
  add_memory_limit(app, limits);
  app.footer(kExamples);
  if (const auto status = parse(app, arguments)) return *status;
  Console console;
  console.set_verbosity(verbosity.quiet, verbosity.verbose);
  const Form form = json ? Form::json : verbosity.verbose > 0 ? Form::chunks : Form::lines;
  Lister lister(form, limits.memory_limit, console);
  for (const std::string& path : paths) lister.add(path);
  lister.finish();
  return console.exit_status();
}

}  // namespace gdelta::cli
