// Where the chunks of a file lie, from the indexes at the ends of its streams or by walking over its
// blocks.
#pragma once

#include <memory>
#include <vector>

#include "gdelta/stream.h"

namespace gdelta {

struct ChunkPlace {
  std::uint64_t byte = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t records = 0;
  std::uint64_t decoded_at = 0;
  std::uint64_t decoded_bytes = 0;
  std::shared_ptr<const Layout> layout;  // byte_layout() for opaque chunks
  bool opaque = false;
};

struct FileStructure {
  std::uint64_t streams = 0;
  std::uint64_t decoded_bytes = 0;
  std::vector<ChunkPlace> chunks;
};

/// Reads the indexes where every stream of the file has a valid one, else the head of every block.
/// Errors      those of spec.md, section 8, and of `read_at`
Result<FileStructure> read_structure(const ReadAt& read_at, std::uint64_t file_bytes);

}  // namespace gdelta
