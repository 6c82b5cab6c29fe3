// Sinks, sources and options that the tests of streams share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "gdelta/stream.h"

namespace gdelta::test {

using Bytes = std::vector<std::byte>;

inline Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  Bytes bytes(text.size());
  std::copy_n(reinterpret_cast<const std::byte*>(text.data()), text.size(), bytes.begin());
  return bytes;
}

inline EncodeOptions encode_on_cpu(const char* record = nullptr, int threads = 1) {
  EncodeOptions options;
  options.device = "cpu";
  options.threads = threads;
  if (record != nullptr) options.layout = parse_record(record).value();
  return options;
}

inline DecodeOptions decode_on_cpu(int threads = 1) {
  DecodeOptions options;
  options.device = "cpu";
  options.threads = threads;
  return options;
}

inline Sink append_to(Bytes& bytes) {
  return [&bytes](std::span<const std::byte> more) -> Result<void> {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return {};
  };
}

/// Gives `bytes` in portions whose sizes go round in `portions`, however much is asked for.
inline Source source_of(std::span<const std::byte> bytes, std::vector<std::size_t> portions) {
  return [bytes, portions, at = std::size_t{0},
          turn = std::size_t{0}](std::span<std::byte> buffer) mutable -> Result<std::size_t> {
    const std::size_t portion = portions[turn++ % portions.size()];
    const std::size_t count = std::min({portion, buffer.size(), bytes.size() - at});
    if (count > 0) std::memcpy(buffer.data(), bytes.data() + at, count);
    at += count;
    return count;
  };
}

inline Source source_of(std::span<const std::byte> bytes) { return source_of(bytes, {1u << 20}); }

/// Compresses through a Writer, in portions.
inline Result<Bytes> write_stream(std::span<const std::byte> values, const EncodeOptions& options,
                                  const std::vector<std::size_t>& portions) {
  Bytes stream;
  Writer writer(append_to(stream), options);
  std::size_t turn = 0;
  for (std::size_t at = 0; at < values.size();) {
    const std::size_t count = std::min(portions[turn++ % portions.size()], values.size() - at);
    if (auto written = writer.write(values.subspan(at, count)); !written)
      return tl::unexpected(written.error());
    at += count;
  }
  if (auto finished = writer.finish(); !finished) return tl::unexpected(finished.error());
  return stream;
}

/// Reads `bytes` as if they were a file.
inline ReadAt file_of(std::span<const std::byte> bytes) {
  return [bytes](std::uint64_t offset, std::span<std::byte> buffer) -> Result<std::size_t> {
    if (offset >= bytes.size()) return std::size_t{0};
    const auto there = bytes.subspan(static_cast<std::size_t>(offset));
    const std::size_t count = std::min(buffer.size(), there.size());
    std::copy_n(there.begin(), count, buffer.begin());
    return count;
  };
}

/// Compresses a file from byte `begin` on through a Writer. `tells`: it is told how long the input is.
inline Result<Bytes> write_file_stream(std::span<const std::byte> file,
                                       const EncodeOptions& options, std::uint64_t begin = 0,
                                       bool tells = true) {
  Bytes stream;
  Writer writer(append_to(stream), options);
  if (tells) writer.set_total_bytes(file.size() - begin);
  if (auto written = writer.write_file(file_of(file), begin); !written)
    return tl::unexpected(written.error());
  if (auto finished = writer.finish(); !finished) return tl::unexpected(finished.error());
  return stream;
}

/// Decompresses through a Reader.
inline Result<Bytes> read_stream(Source source, const DecodeOptions& options = decode_on_cpu()) {
  Bytes values;
  Reader reader(std::move(source), options);
  if (auto done = reader.run(append_to(values)); !done) return tl::unexpected(done.error());
  return values;
}

struct Salvaged {
  Bytes values;
  SalvageReport report;
};

inline Salvaged salvage_stream(std::span<const std::byte> stream,
                               const DecodeOptions& options = decode_on_cpu()) {
  Salvaged salvaged;
  Reader reader(source_of(stream), options);
  salvaged.report = reader.salvage(append_to(salvaged.values)).value();
  return salvaged;
}

inline bool starts_with(std::span<const std::byte> bytes, std::span<const std::byte> prefix) {
  return prefix.size() <= bytes.size() && std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

/// i32 values of a walk with small steps, as bytes.
inline Bytes walk_bytes(std::size_t bytes, unsigned seed = 1) {
  std::mt19937 random(seed);
  Bytes values(bytes);
  std::uint32_t walk = random();
  for (std::size_t at = 0; at < bytes; at += sizeof walk) {
    walk += random() % 41 - 20;
    std::memcpy(values.data() + at, &walk, std::min(sizeof walk, bytes - at));
  }
  return values;
}

inline Bytes random_bytes(std::size_t bytes, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  Bytes values(bytes);
  for (std::byte& b : values) b = static_cast<std::byte>(random());
  return values;
}

inline Bytes join(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace gdelta::test
