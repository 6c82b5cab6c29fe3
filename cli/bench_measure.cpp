#include "bench_measure.h"

#include <fmt/core.h>
#include <zstd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "peak_memory.h"

namespace gdelta::cli {

namespace {

constexpr std::size_t kMostRuns = 100;
constexpr double kEnoughSeconds = 0.5;
constexpr double kEnoughSearchSeconds = 0.1;

struct Runs {
  double median_seconds = 0;
  /// Since `peak` of `measure_runs` was made; nothing if the system does not tell.
  std::optional<std::uint64_t> memory;
};

/// Runs `once` (which returns a Result) again and again until `enough` seconds have passed, so that
/// what is slow runs once. `check` runs after each, outside the clock. The memory is that of the
/// first run: what an allocator keeps of many is not what the work holds.
template <class Once, class Check>
Result<Runs> measure_runs(double enough, const PeakMemory& peak, Once once, Check check) {
  Runs runs;
  std::vector<double> seconds;
  double total = 0;
  while (seconds.empty() || (total < enough && seconds.size() < kMostRuns)) {
    const auto start = std::chrono::steady_clock::now();
    const Result<void> done = once();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (!done) return tl::unexpected(done.error());
    if (seconds.empty()) runs.memory = peak.bytes();
    if (const Result<void> checked = check(); !checked) return tl::unexpected(checked.error());
    seconds.push_back(elapsed.count());
    total += elapsed.count();
  }
  // Two give the shorter one: the first run is the one that finds caches and memory cold.
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>((seconds.size() - 1) / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  runs.median_seconds = *middle;
  return runs;
}

Result<void> compare(std::span<const std::byte> input, std::span<const std::byte> decoded) {
  if (input.size() == decoded.size() &&
      std::memcmp(input.data(), decoded.data(), input.size()) == 0)
    return {};
  return fail(Errc::corrupt, "what was decompressed differs from the input");
}

double gb_s(std::uint64_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) / 1e9 / seconds : 0.0;
}

Result<void> zstd_result(std::size_t code) {
  if (!ZSTD_isError(code)) return {};
  return fail(Errc::invalid_argument, fmt::format("zstd: {}", ZSTD_getErrorName(code)));
}

constexpr std::string_view kSearched = "found";

constexpr auto kNoCheck = [] { return Result<void>(); };

}  // namespace

double Measurement::ratio() const {
  return compressed_bytes > 0
             ? static_cast<double>(decoded_bytes) / static_cast<double>(compressed_bytes)
             : 0.0;
}

double Measurement::encode_gb_s() const { return gb_s(decoded_bytes, encode_seconds); }
double Measurement::decode_gb_s() const { return gb_s(decoded_bytes, decode_seconds); }

Result<Search> measure_search(std::span<const std::byte> input, const EncodeOptions& options) {
  Search search;
  const auto runs = measure_runs(
      kEnoughSearchSeconds, PeakMemory(),
      [&]() -> Result<void> {
        auto found = find_layout(input, options);
        if (!found) return tl::unexpected(found.error());
        search.found = std::move(*found);
        return {};
      },
      kNoCheck);
  if (!runs) return tl::unexpected(runs.error());
  if (search.found.origin == kSearched) search.seconds = runs->median_seconds;
  return search;
}

Result<Measurement> measure_gdelta(std::span<const std::byte> input, const EncodeOptions& options,
                                   const Search& search, const Notice& notice) {
  Measurement row;
  row.codec = "gdelta";
  row.level = options.level;
  row.device = options.device;
  row.threads = options.threads;
  row.decoded_bytes = input.size();

  row.layout = to_string(search.found.layout);
  row.layout_origin = search.found.origin;
  row.search_seconds = search.seconds;
  // Giving what was found leads to the same bytes, and compressing takes its own time alone. Bytes
  // that are given would count as numbers, and finding that they are text takes no time.
  EncodeOptions encode_options = options;
  if (search.found.origin == kSearched && search.found.layout != byte_layout())
    encode_options.layout = search.found.layout;

  notice("compressing");
  const PeakMemory encode_peak;
  const std::uint64_t room = compress_bound(input.size(), encode_options);
  const auto stream = std::make_unique_for_overwrite<std::byte[]>(room);
  const auto encode = measure_runs(
      kEnoughSeconds, encode_peak,
      [&]() -> Result<void> {
        const auto done = compress_into(input, {stream.get(), room}, encode_options);
        if (!done) return tl::unexpected(done.error());
        row.compressed_bytes = *done;
        return {};
      },
      kNoCheck);
  if (!encode) return tl::unexpected(encode.error());
  row.encode_seconds = encode->median_seconds;
  row.encode_memory = encode->memory;

  notice("decompressing");
  DecodeOptions decode_options;
  decode_options.device = options.device;
  decode_options.threads = options.threads;
  decode_options.memory_limit = UINT64_MAX;
  std::vector<std::byte> decoded(input.size());
  std::uint64_t decoded_bytes = 0;
  const PeakMemory decode_peak;
  const auto decode = measure_runs(
      kEnoughSeconds, decode_peak,
      [&]() -> Result<void> {
        const auto done =
            decompress_into({stream.get(), row.compressed_bytes}, decoded, decode_options);
        if (!done) return tl::unexpected(done.error());
        decoded_bytes = *done;
        return {};
      },
      [&]() -> Result<void> {
        auto same = compare(input, std::span<const std::byte>(decoded).first(decoded_bytes));
        std::fill(decoded.begin(), decoded.end(), std::byte{0xA5});
        return same;
      });
  if (!decode) return tl::unexpected(decode.error());
  row.decode_seconds = decode->median_seconds;
  row.decode_memory = decode->memory;
  return row;
}

Result<Measurement> measure_zstd(std::span<const std::byte> input, int level, int threads,
                                 const Notice& notice) {
  Measurement row;
  row.codec = "zstd";
  row.level = level;
  row.device = "cpu";
  row.decoded_bytes = input.size();

  notice("compressing");
  const PeakMemory encode_peak;
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> encoder(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  if (!encoder) return fail(Errc::out_of_memory, "no memory for zstd");
  ZSTD_CCtx_setParameter(encoder.get(), ZSTD_c_compressionLevel, level);
  const bool parallel = threads > 1 && !ZSTD_isError(ZSTD_CCtx_setParameter(
                                           encoder.get(), ZSTD_c_nbWorkers, threads));
  row.threads = parallel ? threads : 1;
  const std::size_t room = ZSTD_compressBound(input.size());
  const auto compressed = std::make_unique_for_overwrite<std::byte[]>(room);
  const auto encode = measure_runs(
      kEnoughSeconds, encode_peak,
      [&] {
        row.compressed_bytes =
            ZSTD_compress2(encoder.get(), compressed.get(), room, input.data(), input.size());
        return zstd_result(row.compressed_bytes);
      },
      kNoCheck);
  if (!encode) return tl::unexpected(encode.error());
  row.encode_seconds = encode->median_seconds;
  row.encode_memory = encode->memory;

  notice("decompressing");
  std::vector<std::byte> decoded(input.size());
  const PeakMemory decode_peak;
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> decoder(ZSTD_createDCtx(),
                                                                     &ZSTD_freeDCtx);
  if (!decoder) return fail(Errc::out_of_memory, "no memory for zstd");
  const auto decode = measure_runs(
      kEnoughSeconds, decode_peak,
      [&] {
        return zstd_result(ZSTD_decompressDCtx(decoder.get(), decoded.data(), decoded.size(),
                                               compressed.get(), row.compressed_bytes));
      },
      [&] { return compare(input, decoded); });
  if (!decode) return tl::unexpected(decode.error());
  row.decode_seconds = decode->median_seconds;
  row.decode_memory = decode->memory;
  return row;
}

}  // namespace gdelta::cli
