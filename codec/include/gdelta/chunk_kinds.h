// What decoding the chunks of a table on the device takes.
#pragma once

namespace gdelta {

/// What kinds of columns chunks may have; true is always safe. The device launches no kernel for a
/// kind that is denied and refuses chunks that have it all the same (`corrupt`). Chunks with a zstd
/// column, which the host decodes, do not count.
struct ChunkKinds {
  bool placed = true;       ///< raw or constant columns
  bool block_pages = true;  ///< packed tuples of more than 4; pages of more than 32 groups in all
  bool strides = true;
  bool opaque = true;  ///< chunks of bytes that are not numbers
};

inline constexpr ChunkKinds kNoChunkKinds{
    .placed = false, .block_pages = false, .strides = false, .opaque = false};

}  // namespace gdelta
