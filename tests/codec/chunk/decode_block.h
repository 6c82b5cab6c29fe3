// A chunk block parsed and decoded in one step, as readers do it in two.
#pragma once

#include "codec/chunk/chunk_decode.h"

namespace gdelta::test {

inline std::optional<Error> decode_block(std::span<const std::byte> block, std::uint64_t byte,
                                         const Layout& layout, std::span<std::byte> out,
                                         bool verify, Workers& workers = Workers::alone()) {
  const auto parsed = format::parse_chunk_block(block, byte, layout);
  if (!parsed) return parsed.error();
  return decode_chunk({.parsed = *parsed, .block = block, .byte = byte, .layout = layout}, out,
                      verify, workers);
}

}  // namespace gdelta::test
