// Streams of the runs coder: what was compressed comes back.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "gdelta/codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gdelta::EncodeOptions options;
  options.coder = gdelta::Coder::runs;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto stream = gdelta::compress(bytes, options);
  if (!stream || !gdelta::decompress(*stream)) std::abort();
  return 0;
}
