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

void check_file(const Bytes& file, const gdelta::EncodeOptions& options) {
  auto segments = gdelta::find_segments(gdelta::read_from(file), file.size(), options);
  must_hold(segments.has_value());
  Bytes stream;
  gdelta::Writer writer(gdelta::append_to(stream), options, std::move(*segments));
  must_hold(writer.write(file).has_value());
  must_hold(writer.finish().has_value());
  gdelta::DecodeOptions decoding;
  decoding.device = "cpu";
  decoding.threads = 1;
  must_hold(gdelta::decompress(stream, decoding).value() == file);
}

/// Sums of lengths that `seeds` give, as long as it takes to be an array.
Bytes offsets_of(std::span<const std::byte> seeds) {
  constexpr std::size_t kOffsets = 1200;
  Bytes offsets;
  std::uint32_t offset = 0;
  for (std::size_t k = 0; k < kOffsets; ++k) {
    for (int b = 0; b < 4; ++b) offsets.push_back(static_cast<std::byte>(offset >> 8 * b));
    offset += std::to_integer<std::uint32_t>(seeds[k % seeds.size()]) % 16;
  }
  return offsets;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  gdelta::EncodeOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.level = 1;
  check_file({bytes, bytes + size}, options);
  if (size < 2) return 0;
  options.chunk_bytes = 1000 + 64 * std::uint64_t{data[0]};
  const std::span<const std::byte> seeds(bytes + 1, size - 1);
  const Bytes offsets = offsets_of(seeds);
  std::uint32_t records = 0;
  for (int b = 4; b > 0; --b)
    records = records << 8 | std::to_integer<std::uint32_t>(offsets[offsets.size() - 5 + b]);
  Bytes values;
  while (values.size() < 4 * std::size_t{records})
    values.insert(values.end(), seeds.begin(), seeds.end());
  values.resize(4 * std::size_t{records});
  Bytes file = npy_of(values);
  const Bytes behind = npy_of(offsets);
  file.insert(file.end(), behind.begin(), behind.end());
  check_file(file, options);
  return 0;
}
