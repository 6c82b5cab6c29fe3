// Where heads are written to. Whoever writes one is a template over a sink, and what is written into a ByteCount
// first says how long it will be. A sink has four functions: `le` takes a number of so many bytes, `varint` a
// number, `bytes` and `words` what stands in the head as it is. Shared by host code and CUDA kernels.
#pragma once

#include "formats/gdelta/bytes.h"

namespace gdelta::format {

struct ByteStretch {
  const Byte* first = nullptr;
  std::uint64_t count = 0;
};

struct WordStretch {
  const std::uint32_t* first = nullptr;
  std::uint64_t count = 0;
};

/// A sink that counts.
struct ByteCount {
  std::uint64_t total = 0;

  GDELTA_HD void le(int bytes, std::uint64_t) { total += static_cast<std::uint64_t>(bytes); }
  GDELTA_HD void varint(std::uint64_t value) {
    total += static_cast<std::uint64_t>(varint_bytes(value));
  }
  GDELTA_HD void bytes(ByteStretch stretch) { total += stretch.count; }
  GDELTA_HD void words(WordStretch stretch) { total += 4 * stretch.count; }
};

}  // namespace gdelta::format
