// One chunk decoded and checked on the CPU. Spec: spec.md, sections 5 to 8.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/coders/decode_scratch.h"
#include "codec/coders/workers.h"
#include "formats/gdelta/chunk_block.h"
#include "gdelta/error.h"
#include "gdelta/types.h"

namespace gdelta {

/// A chunk block whose head has been parsed.
struct ChunkToDecode {
  const format::ParsedChunk& parsed;
  std::span<const std::byte> block;  // parsed.block_bytes of it
  std::uint64_t byte;                // where the block starts in the file, for errors
  const Layout& layout;              // byte_layout() for opaque chunks
};

/// Decodes a chunk into `out`, exactly its decoded bytes. `lengths`, if asked for, become those of its
/// segments; none if it does not say them.
/// Errors      the first check of spec.md, section 8 that fails, from the sixth on;
///             output_too_small if `out` is not as long as the chunk's records; on error `out` is
///             unspecified
/// Complexity  one pass; scratch as decode_scratch says
/// Threads     any number of calls at once, and those of `workers` in each
std::optional<Error> decode_chunk(const ChunkToDecode& chunk, std::span<std::byte> out, bool verify,
                                  Workers& workers, std::vector<std::uint32_t>* lengths = nullptr,
                                  Work* work = nullptr);

/// What decode_chunk holds, at most.
DecodeScratch decode_scratch(const Layout& layout, const format::ParsedChunk& chunk);

/// Bytes of the lengths that it gives.
std::uint64_t lengths_bytes(const format::ParsedChunk& chunk);

/// What a parsed head holds.
std::uint64_t parsed_chunk_bytes(const Layout& layout);

}  // namespace gdelta
