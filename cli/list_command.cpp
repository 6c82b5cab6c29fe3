// gdelta list: what files hold; decodes nothing but for --why. Files are read once for their sums and again for
// what is told of each chunk, so that memory does not grow with them.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "command_line.h"
#include "commands.h"
#include "input_file.h"
#include "input_names.h"
#include "list_chunks.h"
#include "list_format.h"
#include "list_json.h"
#include "transfer_arguments.h"

namespace gdelta::cli {

namespace {

constexpr const char* kListExamples = R"(
What the tables say
  type     as --type and --tuple or --record of compress have it: i16x2, or 9 columns
  coder    the most frequent first; constant +1: and one other in some chunks
  order    how many times differences are taken: 2; 1-3: once to 3 times, by lane and chunk;
           2,1,0: in each lane of the tuple
  seg      values come in segments of unequal length, which list -v counts
  segments differences are taken inside segments, and along their first values
  +s640    then differences over 640 tuples; +s640^2: twice; +s: over several distances
  ordered  floats are mapped to integers that keep their order
  decimal  floats are whole numbers over a power of ten: /100
  scaled   floats are whole numbers times a step: x0.5
  multiple integers are a whole number of steps apart: 200 +7, by 200 from 7 on
  dictionary of 90: values are looked up in a table of the 90 there are; by lzma: lzma has made
           the table smaller; by lane: the map of each lane of the tuple
  lanes    1-0: lane 1 less lane 0, the first; 0+1/2: lane 0 and half of lane 1
With -v there is a line for each chunk: at which byte of the file it starts, how many records
and bytes it holds, to how many bytes it is compressed, its bits a value; under a chunk of
several columns there is a line for each. Above stand the level, how the type was known, and
what --meta of compress or the head of a WAV file said. --why decodes the chunks and shows below each column
the bits a value of each lane, where they are packed, and what other ways of coding would have
come to: raw, pack with every lane at order 0, 1, ... 8 and with each lane at its best, with
the other map of floats, without the further strides, zstd (its level 3) of the values and of
the residuals.

Examples
  gdelta list *.gdz
  gdelta list -v recording.wav.gdz           every chunk with its model
  gdelta list --why recording.wav.gdz        and what others would have cost
  gdelta list --json recording.wav.gdz       for programs; the man page says what it holds
)";

enum class Form : std::uint8_t { lines, chunks, json };

// What explaining a chunk holds at most, in multiples of its decoded bytes.
constexpr std::uint64_t kExplainedTimes = 10;

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

/// The layouts of a file, kept from its first reading as long as they are few.
class KeptLayouts {
 public:
  void add(const ChunkInfo& chunk, const Layout& layout) {
    if (chunk.opaque || !complete_ || chunk.layout < layouts_.size()) return;
    columns_ += layout.columns.size();
    complete_ = columns_ <= kMostColumns;
    if (complete_) layouts_.push_back(layout);
  }
  bool complete() const { return complete_; }
  const std::vector<Layout>& all() const { return layouts_; }

 private:
  static constexpr std::size_t kMostColumns = 1 << 16;

  std::vector<Layout> layouts_;
  std::size_t columns_ = 0;  // of all of these
  bool complete_ = true;
};

using Explanation = std::vector<ColumnExplanation>;

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

  Result<std::vector<MetadataEntry>> metadata() const {
    return read_metadata(input_.reader_at(), input_.size(), {.memory_limit = memory_limit_});
  }

  /// Stops if nobody reads what is printed.
  Result<FileTotals> visit(const ChunkVisitor& visit) const {
    return visit_chunks(input_.reader_at(), input_.size(),
                        [&visit](const ChunkInfo& chunk, const Layout& layout) -> Result<void> {
                          if (std::ferror(stdout) != 0)
                            return fail(Errc::io_error, "stdout is closed");
                          return visit(chunk, layout);
                        },
                        {.models = true, .memory_limit = memory_limit_});
  }

  /// Decodes a chunk and says what other ways of coding it would have cost.
  Result<Explanation> explain(const ChunkInfo& chunk, const Layout& layout) {
    if (chunk.decoded_bytes > memory_limit_ / kExplainedTimes)
      return tl::unexpected(Error{.code = Errc::memory_limit,
                                  .message = "explaining the chunk takes more memory than allowed",
                                  .chunk = chunk.number,
                                  .byte = chunk.byte});
    if (!ranges_) {
      auto opened = RangeReader::open(input_.reader_at(), input_.size(),
                                      {.device = "cpu", .memory_limit = memory_limit_});
      if (!opened) return tl::unexpected(opened.error());
      ranges_.emplace(std::move(*opened));
    }
    std::vector<std::byte> values;
    values.reserve(static_cast<std::size_t>(chunk.decoded_bytes));
    const auto read = ranges_->read(chunk.decoded_at, chunk.decoded_at + chunk.decoded_bytes,
                                    [&values](std::span<const std::byte> bytes) -> Result<void> {
                                      values.insert(values.end(), bytes.begin(), bytes.end());
                                      return {};
                                    });
    if (!read) return tl::unexpected(read.error());
    return explain_chunk(values, layout, chunk);
  }

 private:
  ListedFile(InputFile input, std::uint64_t memory_limit)
      : input_(std::move(input)), memory_limit_(memory_limit) {}

  InputFile input_;
  std::uint64_t memory_limit_;
  std::optional<RangeReader> ranges_;
};

class Lister {
 public:
  Lister(Form form, bool why, std::uint64_t memory_limit, Console& console)
      : form_(form), why_(why), memory_limit_(memory_limit), console_(console) {
    if (form_ == Form::json) json_.emplace(stdout);
  }

  void add(const std::string& path) {
    if (is_refused_folder(path, console_)) return;
    const auto done = list(path);
    if (!done && std::ferror(stdout) == 0) console_.error(path, done.error());
  }

  void finish() {
    if (json_) json_->finish();
    if (form_ == Form::lines && files_ > 1) print(summary_sums(files_, sums_));
    print(legend_.text());
    console_.end_stdout();
  }

 private:
  Result<void> list(const std::string& path) {
    auto file = ListedFile::open(path, memory_limit_);
    if (!file) return tl::unexpected(file.error());
    FileSummary summary;
    KeptLayouts layouts;
    const auto totals = file->visit([&](const ChunkInfo& chunk, const Layout& layout) {
      if (json_) layouts.add(chunk, layout);
      if (!json_) summary.add(chunk, layout);
      return Result<void>();
    });
    if (!totals) return tl::unexpected(totals.error());
    ++files_;
    sums_.chunks += totals->chunks;
    sums_.compressed_bytes += totals->compressed_bytes;
    sums_.decoded_bytes += totals->decoded_bytes;
    if (json_) return list_json(path, *file, *totals, layouts);
    if (form_ == Form::chunks && files_ > 1) print("\n");
    if (form_ == Form::chunks || files_ == 1) print(summary_titles());
    print(summary_line(path, *totals, summary));
    legend_.add(summary);
    return form_ == Form::lines ? Result<void>() : list_chunks(*file, *totals, summary);
  }

  Result<void> list_chunks(ListedFile& file, const FileTotals& totals, const FileSummary& summary) {
    print(framing_line(totals, summary.section_bytes()));
    const auto metadata = file.metadata();
    if (!metadata) return tl::unexpected(metadata.error());
    print(note_lines(summary.notes(), *metadata));
    print(chunk_titles());
    return visit_again(file, [&](const ChunkInfo& chunk, const Layout& layout) -> Result<void> {
      for (const ColumnInfo& column : chunk.columns) legend_.add(column);
      print(chunk_lines(chunk, layout));
      const auto why = explain(file, chunk, layout);
      if (!why) return tl::unexpected(why.error());
      print(why_lines(chunk, layout, *why));
      return {};
    });
  }

  /// Empty if nobody asked for it, if the chunk has no records, or if this version cannot decode the chunk.
  Result<Explanation> explain(ListedFile& file, const ChunkInfo& chunk,
                              const Layout& layout) const {
    const auto is_known = [](const ColumnInfo& column) { return column.unknown.empty(); };
    const bool known =
        !chunk.columns.empty() && std::all_of(chunk.columns.begin(), chunk.columns.end(), is_known);
    return why_ && known ? file.explain(chunk, layout) : Explanation();
  }

  /// The whole object, also of a file that has changed since it was read first.
  Result<void> list_json(const std::string& path, ListedFile& file, const FileTotals& totals,
                         const KeptLayouts& layouts) {
    const auto metadata = file.metadata();
    if (!metadata) return tl::unexpected(metadata.error());
    json_->begin_file(path, totals, *metadata);
    Result<void> done;
    if (layouts.complete()) {
      for (const Layout& layout : layouts.all()) json_->add_layout(layout);
    } else {
      done = list_layouts(file);
    }
    json_->begin_chunks();
    if (done)
      done = visit_again(file, [&](const ChunkInfo& chunk, const Layout& layout) -> Result<void> {
        const auto why = explain(file, chunk, layout);
        if (!why) return tl::unexpected(why.error());
        json_->add_chunk(chunk, *why);
        return {};
      });
    json_->end_file();
    return done;
  }

  Result<void> list_layouts(const ListedFile& file) {
    std::size_t listed = 0;
    return visit_again(file, [&](const ChunkInfo& chunk, const Layout& layout) {
      if (chunk.opaque || chunk.layout < listed) return Result<void>();
      json_->add_layout(layout);
      ++listed;
      return Result<void>();
    });
  }

  static Result<void> visit_again(const ListedFile& file, const ChunkVisitor& visit) {
    const auto totals = file.visit(visit);
    if (!totals) return tl::unexpected(totals.error());
    return {};
  }

  Form form_;
  bool why_;
  std::uint64_t memory_limit_;
  Console& console_;
  std::optional<JsonList> json_;
  std::size_t files_ = 0;
  FileTotals sums_;
  Legend legend_;  // of all tables
};

}  // namespace

int list_command(const Arguments& arguments) {
  InputArguments inputs;
  TransferArguments idle;
  Verbosity verbosity;
  DecodeOptions limits;
  bool json = false;
  bool why = false;
  CLI::App app("Show what compressed files hold.", "gdelta list");
  add_input_arguments(app, inputs, true, "Compressed files");
  app.add_flag("--json", json, "Print JSON, all chunks included");
  app.add_flag("--why", why, "Show what other ways of coding each chunk would have cost; slow");
  add_verbosity(app, verbosity);
  add_memory_limit(app, limits, "listing");
  app.footer(kListExamples);
  add_idle_arguments(app, idle);
  if (const auto status = parse(app, arguments)) return *status;
  Console console;
  console.set_verbosity(verbosity.quiet, verbosity.verbose);
  const Form form = json ? Form::json : verbosity.verbose > 0 || why ? Form::chunks : Form::lines;
  Lister lister(form, why, limits.memory_limit, console);
  for (const InputName& name : input_names(inputs, FolderFiles::compressed, console))
    lister.add(name.path);
  lister.finish();
  return console.exit_status();
}

}  // namespace gdelta::cli
