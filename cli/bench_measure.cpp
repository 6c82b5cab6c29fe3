#include "bench_measure.h"

#include <fmt/core.h>
#include <zstd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

namespace gdelta::cli {

namespace {

constexpr std::size_t kFewestRuns = 3;
constexpr std::size_t kMostRuns = 31;
constexpr double kEnoughSeconds = 0.5;

/// Runs `once` (which returns a Result) until the median means something; returns it in seconds.
/// `check` runs after each, outside the clock.
template <class Once, class Check>
Result<double> median_seconds(Once once, Check check) {
  std::vector<double> seconds;
  double total = 0;
  while (seconds.size() < kFewestRuns || (total < kEnoughSeconds && seconds.size() < kMostRuns)) {
    const auto start = std::chrono::steady_clock::now();
    const Result<void> done = once();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (!done) return tl::unexpected(done.error());
    if (const Result<void> checked = check(); !checked) return tl::unexpected(checked.error());
    seconds.push_back(elapsed.count());
    total += elapsed.count();
  }
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

Result<void> compare(std::span<const std::byte> input, std::span<const std::byte> decoded) {
  if (input.size() == decoded.size() &&
      (input.empty() || std::memcmp(input.data(), decoded.data(), input.size()) == 0))
    return {};
  return fail(Errc::corrupt, "what was decompressed differs from the input");
}

double gb_s(std::size_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) / 1e9 / seconds : 0.0;
}

double ratio(std::size_t bytes, std::size_t compressed) {
  return compressed > 0 ? static_cast<double>(bytes) / static_cast<double>(compressed) : 0.0;
}

Result<void> zstd_result(std::size_t code) {
  if (!ZSTD_isError(code)) return {};
  return fail(Errc::invalid_argument, fmt::format("zstd: {}", ZSTD_getErrorName(code)));
}

constexpr auto kNoCheck = [] { return Result<void>(); };

}  // namespace

Result<Measurement> measure_gdelta(std::span<const std::byte> input, const EncodeOptions& options) {
  DecodeOptions decode_options;
  decode_options.device = options.device;
  decode_options.threads = options.threads;
  decode_options.memory_limit = UINT64_MAX;

  std::vector<std::byte> compressed;
  const auto encode = median_seconds(
      [&]() -> Result<void> {
        auto done = compress(input, options);
        if (!done) return tl::unexpected(done.error());
        compressed = std::move(*done);
        return {};
      },
      kNoCheck);
  if (!encode) return tl::unexpected(encode.error());

  std::vector<std::byte> decoded(input.size());
  std::uint64_t decoded_bytes = 0;
  const auto decode = median_seconds(
      [&]() -> Result<void> {
        const auto done = decompress_into(compressed, decoded, decode_options);
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
  return Measurement{"gdelta",
                     options.level,
                     options.device,
                     options.threads,
                     ratio(input.size(), compressed.size()),
                     gb_s(input.size(), *encode),
                     gb_s(input.size(), *decode)};
}

Result<Measurement> measure_zstd(std::span<const std::byte> input, int level, int threads) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> encoder(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> decoder(ZSTD_createDCtx(),
                                                                     &ZSTD_freeDCtx);
  if (!encoder || !decoder) return fail(Errc::out_of_memory, "no memory for zstd");
  ZSTD_CCtx_setParameter(encoder.get(), ZSTD_c_compressionLevel, level);
  const bool parallel = threads > 1 && !ZSTD_isError(ZSTD_CCtx_setParameter(
                                           encoder.get(), ZSTD_c_nbWorkers, threads));

  std::vector<std::byte> compressed(ZSTD_compressBound(input.size()));
  std::size_t compressed_bytes = 0;
  const auto encode = median_seconds(
      [&] {
        compressed_bytes = ZSTD_compress2(encoder.get(), compressed.data(), compressed.size(),
                                          input.data(), input.size());
        return zstd_result(compressed_bytes);
      },
      kNoCheck);
  if (!encode) return tl::unexpected(encode.error());

  std::vector<std::byte> decoded(input.size());
  const auto decode = median_seconds(
      [&] {
        return zstd_result(ZSTD_decompressDCtx(decoder.get(), decoded.data(), decoded.size(),
                                               compressed.data(), compressed_bytes));
      },
      [&] { return compare(input, decoded); });
  if (!decode) return tl::unexpected(decode.error());
  return Measurement{"zstd",
                     level,
                     "cpu",
                     parallel ? threads : 1,
                     ratio(input.size(), compressed_bytes),
                     gb_s(input.size(), *encode),
                     gb_s(input.size(), *decode)};
}

}  // namespace gdelta::cli
