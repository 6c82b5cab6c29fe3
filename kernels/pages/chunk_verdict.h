// What becomes of a chunk that kernels decode.
#pragma once

#include <cstdint>

namespace gdelta::cuda {

/// One chunk's verdict; the layout is that of gdelta::ChunkStatus.
struct ChunkVerdict {
  std::int32_t code;       // 0: its bytes are right
  std::uint32_t reserved;  // of chunks that are wrong, unspecified
  std::uint64_t byte;      // offset in the stream if the code is not 0
};

}  // namespace gdelta::cuda
