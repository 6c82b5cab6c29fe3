// Streams of the runs coder: what was compressed comes back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "gdelta/codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gdelta::EncodeOptions options;
  options.coder = gdelta::Coder::runs;
  // Each byte four times, so that runs are shorter.
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < 4 * size; ++i) bytes.push_back(static_cast<std::byte>(data[i / 4]));
  const auto stream = gdelta::compress(bytes, options);
  if (!stream) std::abort();
  const auto back = gdelta::decompress(*stream);
  if (!back || *back != bytes) std::abort();
  return 0;
}
