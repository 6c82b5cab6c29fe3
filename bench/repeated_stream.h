// For benches: a short stream made long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gdelta/codec.h"

namespace gdelta::bench {

/// The chunks of a stream, one behind the other, as often as the values are.
struct RepeatedStream {
  std::vector<std::byte> bytes;
  StreamInfo info;

  RepeatedStream(const std::vector<std::byte>& stream, std::uint64_t count) {
    const StreamInfo once = inspect(stream).value();
    info.layouts = once.layouts;
    for (std::uint64_t i = 0; i < count; ++i)
      for (ChunkInfo chunk : once.chunks) {
        const auto* const block = stream.data() + chunk.byte;
        chunk.byte = bytes.size();
        chunk.decoded_at = info.decoded_bytes;
        bytes.insert(bytes.end(), block, block + chunk.block_bytes);
        info.decoded_bytes += chunk.decoded_bytes;
        info.chunks.push_back(std::move(chunk));
      }
  }
};

}  // namespace gdelta::bench
