// Streams of the lzma coder: any bytes as a stream of any length, and what was compressed comes back.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "codec/coders/lzma_section.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  std::vector<unsigned char> out(data[0] | data[1] << 8);
  const std::vector<unsigned char> bytes(data + 2, data + size);
  gdelta::decode_lzma_stream(bytes, out);
  // Behind the control byte of a first chunk.
  std::vector<unsigned char> begun{0xe0};
  begun.insert(begun.end(), bytes.begin(), bytes.end());
  gdelta::decode_lzma_stream(begun, out);

  std::vector<std::byte> stream;
  const auto effort = data[0] % 4 == 0 ? gdelta::LzmaEffort::most : gdelta::LzmaEffort::quick;
  gdelta::encode_lzma_stream(bytes, {.width = 1 << data[1] % 4, .tuple = 1 + data[2] % 4}, effort,
                             stream);
  std::vector<unsigned char> back(bytes.size());
  const std::span<const unsigned char> coded(reinterpret_cast<const unsigned char*>(stream.data()),
                                             stream.size());
  if (!gdelta::decode_lzma_stream(coded, back) || back != bytes) std::abort();
  if (gdelta::decode_lzma_stream(coded.first(coded.size() - 1), back)) std::abort();
  return 0;
}
