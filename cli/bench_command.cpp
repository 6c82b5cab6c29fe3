// gdelta bench: size, speed and memory on files, in memory, beside zstd if that is asked for.
#include <fmt/core.h>
#include <zstd.h>

#include <algorithm>
#include <charconv>
#include <thread>

#include "bench_format.h"
#include "bench_measure.h"
#include "commands.h"
#include "encode_arguments.h"
#include "input_file.h"

namespace gdelta::cli {

namespace {

constexpr std::size_t kBenchedBytes = std::size_t{4} << 20;

constexpr const char* kBenchExamples = R"(
What the columns say
  search   milliseconds that looking for type and tuple takes, - where they are known; the
           same for a long file as for one of 4 MiB, and spared by --type and --record
  encode   10^9 uncompressed bytes a second, without the search; decode the same
  memory   MiB that the first run of either held at most, the uncompressed bytes
           not counted
Times are medians of runs of half a second in all, a hundred at most, or of one longer run;
nothing is read or written meanwhile, and every decompressed copy is compared with the input.
Levels are -1, -3, -5 and -7 and devices all there are, unless the options name others
(--device may be repeated). -9 may take minutes for a large file.

The last line says which level to take: for speed the fastest to compress, the search
included; for balance the fastest of those that are at most 3 % larger than the smallest;
for size the smallest.

Examples
  gdelta bench recording.wav
  gdelta bench -1 -2 -3 --device cpu -T 1 a.bin
  gdelta bench --peers zstd *.bin             beside zstd -3 and -19, and totals
  gdelta bench --json -5 a.bin
)";

struct BenchJob {
  std::vector<std::string> files;
  EncodeArguments encode;
  std::vector<std::string> devices;
  std::vector<int> zstd_levels;
  bool json = false;
  bool csv = false;
  Console console;
  std::vector<Measurement> rows;

  bool table() const { return !json && !csv; }
};

/// "zstd": levels 3 and 19; "zstd-12": that one.
Result<std::vector<int>> parse_peer(std::string_view name) {
  constexpr std::string_view kZstd = "zstd-";
  if (name == "zstd") return std::vector<int>{3, 19};
  int level = 0;
  if (name.starts_with(kZstd)) {
    const std::string_view digits = name.substr(kZstd.size());
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, level);
    if (error == std::errc{} && stop == end && level >= 1 && level <= ZSTD_maxCLevel())
      return std::vector<int>{level};
  }
  return fail(Errc::invalid_argument,
              fmt::format("'{}' is none of zstd, zstd-1 to zstd-{}", name, ZSTD_maxCLevel()));
}

Result<void> parse_peers(std::string_view list, std::vector<int>& levels) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const auto parsed = parse_peer(list.substr(begin, end - begin));
    if (!parsed) return tl::unexpected(parsed.error());
    levels.insert(levels.end(), parsed->begin(), parsed->end());
    begin = end + 1;
  }
  return {};
}

Result<std::vector<std::byte>> read_all(InputFile& input) {
  std::vector<std::byte> bytes;
  std::size_t size = 0;
  for (;;) {
    bytes.resize(size + std::max<std::size_t>(kBenchedBytes, input.bytes_left().value_or(0)));
    const auto got = input.read(std::span(bytes).subspan(size));
    if (!got) return tl::unexpected(got.error());
    size += *got;
    if (*got == 0) break;
  }
  bytes.resize(size);
  bytes.shrink_to_fit();
  return bytes;
}

/// Nothing is measured twice because it is named twice.
template <class Value>
void drop_repeated(std::vector<Value>& values) {
  std::vector<Value> kept;
  for (Value& value : values)
    if (std::find(kept.begin(), kept.end(), value) == kept.end()) kept.push_back(std::move(value));
  values = std::move(kept);
}

/// "cpu", and "cuda" if there is a GPU.
std::vector<std::string> usable_devices() {
  std::vector<std::string> names;
  for (const DeviceInfo& device : list_devices()) {
    const std::string name = device.name.substr(0, device.name.find(':'));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

/// Options and devices that cannot be are refused before anything is printed.
Result<void> try_options(const BenchJob& job) {
  for (const std::string& device : job.devices) {
    EncodeOptions options = job.encode.options;
    options.device = device;
    const std::byte nothing{};
    if (const auto done = compress(std::span(&nothing, 1), options); !done)
      return tl::unexpected(done.error());
  }
  return {};
}

struct LevelSearch {
  int level = 0;
  Search search;
};

/// "i16x2 (found)"; if levels disagree, from which level on it is what.
std::string taken_for(const std::vector<LevelSearch>& searches) {
  std::string text;
  std::string last;
  for (const auto& [level, search] : searches) {
    const FoundLayout& found = search.found;
    const std::string next = fmt::format("{} ({})", to_string(found.layout), found.origin);
    if (next != last) text += (text.empty() ? "" : fmt::format("; at -{} ", level)) + next;
    last = next;
  }
  return text;
}

std::string head(const BenchJob& job, const std::string& file, std::uint64_t bytes,
                 const std::vector<LevelSearch>& searches) {
  const int threads = job.encode.options.threads;
  return fmt::format("{}{}: {} bytes, {}, {} {}\n{}", job.rows.empty() ? "" : "\n", printable(file),
                     bytes, taken_for(searches), threads, threads == 1 ? "thread" : "threads",
                     bench_titles());
}

Result<void> add_row(BenchJob& job, const std::string& file, Result<Measurement> row) {
  if (!row) return tl::unexpected(row.error());
  row->file = file;
  job.rows.push_back(std::move(*row));
  if (job.csv) job.console.out(bench_csv_row(job.rows.back()));
  if (job.table()) job.console.out(bench_row(job.rows.back()));
  return {};
}

Result<void> bench_bytes(BenchJob& job, const std::string& file, std::span<const std::byte> input) {
  const auto notice = [&](std::string coder) -> Notice {
    return [&job, &file, coder = std::move(coder)](std::string_view step) {
      job.console.show_step(file, fmt::format("{}, {} ...", coder, step));
    };
  };
  std::vector<LevelSearch> searches;
  for (const int level : job.encode.levels) {
    EncodeOptions options = job.encode.options;
    options.level = level;
    job.console.show_step(file, "looking for type and tuple ...");
    auto search = measure_search(input, options);
    if (!search) return tl::unexpected(search.error());
    searches.push_back({level, std::move(*search)});
  }
  if (job.table()) job.console.out(head(job, file, input.size(), searches));
  for (const std::string& device : job.devices)
    for (const auto& [level, search] : searches) {
      if (job.console.stdout_failed()) return {};
      EncodeOptions options = job.encode.options;
      options.level = level;
      options.device = device;
      auto row = measure_gdelta(input, options, search,
                                notice(fmt::format("gdelta -{} on {}", level, device)));
      if (auto added = add_row(job, file, std::move(row)); !added) return added;
    }
  for (const int level : job.zstd_levels) {
    if (job.console.stdout_failed()) return {};
    auto row = measure_zstd(input, level, job.encode.options.threads,
                            notice(fmt::format("zstd -{}", level)));
    if (auto added = add_row(job, file, std::move(row)); !added) return added;
  }
  return {};
}

void bench_file(BenchJob& job, const std::string& file) {
  auto input = InputFile::open(file);
  if (!input) {
    job.console.error(file, input.error());
    return;
  }
  const auto bytes = read_all(*input);
  if (!bytes) {
    job.console.error(file, bytes.error());
    return;
  }
  if (bytes->empty()) {
    job.console.warning(file, "is empty: there is nothing to measure");
    return;
  }
  const std::size_t before = job.rows.size();
  if (const auto done = bench_bytes(job, file, *bytes); !done) {
    job.console.error(file, done.error());
    job.rows.resize(before);  // totals are of whole files
  }
}

void print_end(BenchJob& job) {
  if (job.json) job.console.out(bench_json(job.rows));
  if (!job.table() || job.rows.empty()) return;
  const std::vector<BenchTotal> totals = bench_totals(job.rows);
  const BenchTotal& first = totals.front();
  std::string text;
  if (first.files > 1)
    text = fmt::format("\n{} files: {} bytes\n", first.files, first.sum.decoded_bytes) +
           bench_totals_text(totals);
  job.console.out(text + bench_advice_text(totals));
}

}  // namespace

int bench_command(const Arguments& arguments) {
  BenchJob job;
  Verbosity verbosity;
  EncodeOptions& options = job.encode.options;
  CLI::App app("Measure size, speed and memory on files, in memory.", "gdelta bench");
  add_files(app, job.files, true, "Uncompressed files");
  add_parsed_option(app, "--peers", "LIST", "Measure others too: zstd (-3 and -19), zstd-12, ...",
                    [&job](const std::string& text) { return parse_peers(text, job.zstd_levels); });
  auto* json = app.add_flag("--json", job.json, "Print JSON")->option_text(" ");
  app.add_flag("--csv", job.csv, "Print a line of comma-separated values for each row")
      ->option_text(" ")
      ->excludes(json);
  app.add_option("--device", job.devices, "cpu, cuda, cuda:N, auto; may be repeated")
      ->option_text("DEVICE")
      ->allow_extra_args(false);
  add_threads(app, options.threads);
  add_encode_arguments(app, job.encode);
  add_verbosity(app, verbosity);
  app.footer(std::string(kEncodeHelp) + kBenchExamples);
  if (const auto status = parse(app, arguments)) return *status;
  if (const auto problem = complete(job.encode)) return refuse(app, *problem);
  Console& console = job.console;
  console.set_verbosity(verbosity.quiet, verbosity.verbose);
  if (job.devices.empty()) job.devices = usable_devices();
  if (job.encode.levels.empty()) job.encode.levels = {1, 3, 5, 7};
  drop_repeated(job.devices);
  drop_repeated(job.encode.levels);
  drop_repeated(job.zstd_levels);
  if (options.threads == 0)
    options.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));

  if (const auto possible = try_options(job); !possible) {
    console.error(possible.error().to_string());
    return console.exit_status();
  }
  if (job.csv) job.console.out(bench_csv_titles());
  for (const std::string& file : job.files)
    if (!job.console.stdout_failed()) bench_file(job, file);
  print_end(job);
  return console.exit_status();
}

}  // namespace gdelta::cli
