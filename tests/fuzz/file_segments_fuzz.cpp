// Any bytes as a file whose arrays may tell segments of each other: it comes back, in segments or not. The
// first byte says how short chunks are; lengths and values of a file that holds both are made of the others.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "codec/stream/memory_sinks.h"
#include "codec/stream/walk/byte_input.h"

namespace {

using Bytes = std::vector<std::byte>;

void must_hold(bool condition) {
  if (!condition) std::abort();
}

/// An NPY file of these values, four bytes each.
Bytes npy_of(const Bytes& values) {
  std::string text = "{'descr': '<i4', 'fortran_order': False, 'shape': (" +
                     std::to_string(values.size() / 4) + ",), }\n";
  text = std::string("\x93NUMPY\1\0", 8) + static_cast<char>(text.size()) + '\0' + text;
  const auto* head = reinterpret_cast<const std::byte*>(text.data());
  Bytes file(head, head + text.size());
  file.insert(file.end(), values.begin(), values.end());
  return file;
}

using Segments = std::vector<gdelta::ArraySegments>;

Segments found_in(const Bytes& file, const gdelta::EncodeOptions& options) {
  auto segments = gdelta::find_segments(gdelta::read_from(file), file.size(), options);
  must_hold(segments.has_value());
  return std::move(*segments);
}

void check_file(const Bytes& file, Segments segments, const gdelta::EncodeOptions& options) {
  Bytes stream;
  gdelta::Writer writer(gdelta::append_to(stream), options, std::move(segments));
  must_hold(writer.write(file).has_value());
  must_hold(writer.finish().has_value());
  gdelta::DecodeOptions decoding;
  decoding.device = "cpu";
  decoding.threads = 1;
  must_hold(gdelta::decompress(stream, decoding).value() == file);
}

/// Sums of lengths that `seeds` give, as many as it takes to be an array.
std::vector<std::uint64_t> offsets_of(std::span<const std::byte> seeds) {
  constexpr std::size_t kOffsets = 1200;
  std::vector<std::uint64_t> offsets = {0};
  while (offsets.size() < kOffsets)
    offsets.push_back(offsets.back() +
                      std::to_integer<unsigned>(seeds[offsets.size() % seeds.size()]) % 16);
  return offsets;
}

Bytes as_integers(const std::vector<std::uint64_t>& values) {
  Bytes bytes;
  for (const std::uint64_t value : values)
    for (int b = 0; b < 4; ++b) bytes.push_back(static_cast<std::byte>(value >> 8 * b));
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  gdelta::EncodeOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.level = 1;
  const Bytes any(bytes, bytes + size);
  check_file(any, found_in(any, options), options);
  if (size < 2) return 0;
  options.chunk_bytes = 1000 + 64 * std::uint64_t{data[0]};
  const std::span<const std::byte> seeds(bytes + 1, size - 1);
  const auto offsets = offsets_of(seeds);
  const std::size_t value_bytes = 4 * static_cast<std::size_t>(offsets.back());
  Bytes values;
  while (values.size() < value_bytes) values.insert(values.end(), seeds.begin(), seeds.end());
  values.resize(value_bytes);
  Bytes file = npy_of(values);
  const std::uint64_t begin = file.size() - value_bytes;
  const Bytes behind = npy_of(as_integers(offsets));
  file.insert(file.end(), behind.begin(), behind.end());
  check_file(file, found_in(file, options), options);
  check_file(file, {{begin, offsets}}, options);
  return 0;
}
