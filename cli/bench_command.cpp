// gdelta bench: size and speed on one file, in memory, beside zstd.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench_measure.h"
#include "commands.h"
#include "encode_arguments.h"
#include "input_file.h"

namespace gdelta::cli {

namespace {

constexpr std::size_t kReadBytes = std::size_t{4} << 20;
constexpr std::size_t kSlowZstdBytes = std::size_t{64} << 20;

constexpr const char* kExamples = R"(
Speeds are medians of several runs in 10^9 uncompressed bytes a second, without reading or
writing files; every decompressed copy is compared with the input. Levels are -1, -5 and -9 and
devices all there are, unless the options name others (--device may be repeated). zstd runs at
levels 3 and 19 (12 for files beyond 64 MiB).

Examples
  gdelta bench recording.wav
  gdelta bench -1 -2 -3 --device cpu -T 1 a.bin
  gdelta bench --json -5 a.bin
)";

struct BenchJob {
  std::string file;
  EncodeArguments encode;
  std::vector<std::string> devices;
  bool json = false;
  Console console;
};

Result<std::vector<std::byte>> read_all(InputFile& input) {
  std::vector<std::byte> bytes;
  std::size_t size = 0;
  for (;;) {
    bytes.resize(size + std::max<std::size_t>(kReadBytes, input.bytes_left().value_or(0)));
    const auto got = input.read(std::span(bytes).subspan(size));
    if (!got) return tl::unexpected(got.error());
    size += *got;
    if (*got == 0) break;
  }
  bytes.resize(size);
  return bytes;
}

/// "cpu", and "cuda" where there is a GPU.
std::vector<std::string> usable_devices() {
  std::vector<std::string> names;
  for (const DeviceInfo& device : list_devices()) {
    const std::string name = device.name.substr(0, device.name.find(':'));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

void print_row(const Measurement& row) {
  fmt::print("{:<6} {:>5}  {:<10} {:>7} {:>9.3f} {:>12.4g} {:>12.4g}\n", row.codec,
             fmt::format("-{}", row.level), row.device, row.threads, row.ratio, row.encode_gb_s,
             row.decode_gb_s);
  std::fflush(stdout);
}

void print_json(const std::vector<Measurement>& rows) {
  nlohmann::ordered_json json;
  json["results"] = nlohmann::ordered_json::array();
  for (const Measurement& row : rows)
    json["results"].push_back({{"level", row.level},
                               {"device", row.device},
                               {"threads", row.threads},
                               {"ratio", row.ratio},
                               {"encode_gb_s", row.encode_gb_s},
                               {"decode_gb_s", row.decode_gb_s}});
  fmt::print("{}\n", json.dump(2));
}

/// What gdelta takes the input for, found at the level that is measured first.
void print_head(const BenchJob& job, std::span<const std::byte> input) {
  EncodeOptions options = job.encode.options;
  options.level = job.encode.levels.front();
  options.device = "cpu";
  std::string taken_for = "no numbers";
  if (const auto sample = compress(input.first(std::min(input.size(), kReadBytes)), options))
    if (const auto info = inspect(*sample); info && !info->layouts.empty())
      taken_for = to_string(info->layouts.front());
  fmt::print("{}: {} bytes, {}\n", printable(job.file), input.size(), taken_for);
  fmt::print("{:<6} {:>5}  {:<10} {:>7} {:>9} {:>12} {:>12}\n", "codec", "level", "device",
             "threads", "ratio", "encode GB/s", "decode GB/s");
}

Result<void> run_all(BenchJob& job, std::span<const std::byte> input) {
  std::vector<Measurement> rows;
  if (!job.json) print_head(job, input);
  for (const std::string& device : job.devices)
    for (const int level : job.encode.levels) {
      EncodeOptions options = job.encode.options;
      options.level = level;
      options.device = device;
      const auto row = measure_gdelta(input, options);
      if (!row) return tl::unexpected(row.error());
      rows.push_back(*row);
      if (!job.json) print_row(*row);
    }
  if (job.json) {
    print_json(rows);
    return {};
  }
  for (const int level : {3, input.size() <= kSlowZstdBytes ? 19 : 12}) {
    const auto row = measure_zstd(input, level, job.encode.options.threads);
    if (!row) return tl::unexpected(row.error());
    print_row(*row);
  }
  return {};
}

}  // namespace

int bench_command(const Arguments& arguments) {
  BenchJob job;
  Verbosity verbosity;
  EncodeOptions& options = job.encode.options;
  CLI::App app("Measure size and speed on a file, in memory, beside zstd.", "gdelta bench");
  app.add_option("FILE", job.file, "An uncompressed file")->required()->option_text(" ");
  app.add_flag("--json", job.json, "Print JSON, gdelta's results alone");
  app.add_option("--device", job.devices, "cpu, cuda, cuda:N, auto; may be repeated")
      ->option_text("DEVICE")
      ->expected(1)
      ->take_all();
  add_threads(app, options.threads);
  add_encode_arguments(app, job.encode);
  add_verbosity(app, verbosity);
  app.footer(std::string(kEncodeHelp) + kExamples);
  if (const auto status = parse(app, arguments)) return *status;
  if (const auto problem = complete(job.encode)) return refuse(app, *problem);
  job.console.set_verbosity(verbosity.quiet, verbosity.verbose);
  if (job.devices.empty()) job.devices = usable_devices();
  if (job.encode.levels.empty()) job.encode.levels = {1, 5, 9};
  if (options.threads == 0)
    options.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));

  auto input = InputFile::open(job.file);
  if (!input) {
    job.console.error(job.file, input.error());
    return job.console.exit_status();
  }
  const auto bytes = read_all(*input);
  const Result<void> done = bytes ? run_all(job, *bytes) : tl::unexpected(bytes.error());
  if (!done) job.console.error(job.file, done.error());
  if (std::fflush(stdout) != 0) job.console.fail_silently();
  return job.console.exit_status();
}

}  // namespace gdelta::cli
