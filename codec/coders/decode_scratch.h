// What decoding a column holds beside the block and the values.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gdelta {

/// Copies of a column, words of a page, zstd's own memory; at most.
struct DecodeScratch {
  std::uint64_t bytes = 0;       // with one thread
  std::uint64_t more_bytes = 0;  // with each further one

  /// Makes it enough for both at once.
  void add(const DecodeScratch& other) {
    bytes += other.bytes;
    more_bytes += other.more_bytes;
  }
  /// Makes it enough for another column or chunk too.
  void cover(const DecodeScratch& other) {
    bytes = std::max(bytes, other.bytes);
    more_bytes = std::max(more_bytes, other.more_bytes);
  }
};

}  // namespace gdelta
