// The container: whatever the bytes are, decoding ends with the values or an error, by the whole
// buffer, through a Reader, by a range and by inspection, and they agree. Every input is tried as it
// is, and again with the checks of its blocks repaired and that of its content left out.
#include <algorithm>
#include <cstdlib>

#include "codec/faults/repair_checks.h"
#include "gdelta/stream.h"

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kMemoryLimit = 8 << 20;

void require(bool holds) {
  if (!holds) std::abort();
}

/// What a Reader gives, or nothing if it fails or goes on beyond the memory limit.
std::optional<Bytes> read_all(const Bytes& stream, const gdelta::DecodeOptions& options) {
  Bytes values;
  std::size_t at = 0;
  const gdelta::Source source = [&](std::span<std::byte> buffer) -> gdelta::Result<std::size_t> {
    const std::size_t count = std::min(buffer.size(), stream.size() - at);
    std::copy_n(stream.begin() + static_cast<std::ptrdiff_t>(at), count, buffer.begin());
    at += count;
    return count;
  };
  const gdelta::Sink sink = [&](std::span<const std::byte> more) -> gdelta::Result<void> {
    if (values.size() + more.size() > kMemoryLimit)
      return gdelta::fail(gdelta::Errc::cancelled, "long enough");
    values.insert(values.end(), more.begin(), more.end());
    return {};
  };
  if (!gdelta::Reader(source, options).run(sink)) return std::nullopt;
  return values;
}

void try_all_ways(const Bytes& stream, bool verify) {
  gdelta::DecodeOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.memory_limit = kMemoryLimit;
  options.verify = verify;
  const auto whole = gdelta::decompress(stream, options);
  const auto read = read_all(stream, options);
  const auto info = gdelta::inspect(stream);
  if (!whole) return;
  require(read == *whole);
  require(!info || info->decoded_bytes == whole->size());
  const std::size_t begin = whole->size() / 3;
  const std::size_t end = begin + whole->size() / 2;
  const auto range = gdelta::decompress_range(stream, begin, end, options);
  require(!range || std::ranges::equal(*range, std::span(*whole).subspan(begin, end - begin)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  Bytes stream(input.begin(), input.end());
  try_all_ways(stream, true);
  gdelta::test::repair_checks(stream);
  try_all_ways(stream, false);
  return 0;
}
