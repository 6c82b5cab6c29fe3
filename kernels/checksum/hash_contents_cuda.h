// Content checksums of chunks in device memory: XXH3-64 over the XXH3-64s of their 4096-byte pieces.
// Spec: formats/gdelta/spec.md, section 7. Cannot fail; nothing synchronises.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/checksum/content_checksum.h"

namespace gdelta::cuda {

/// One chunk's bytes, at any address.
struct ContentBytes {
  const unsigned char* bytes;
  std::uint64_t num_bytes;
};

struct HashArgs {
  const ContentBytes* chunks;         // [num_chunks]
  const std::uint64_t* piece_starts;  // [num_chunks + 1]: pieces of the chunks before
  std::uint32_t num_chunks;
  std::uint64_t max_pieces;  // bounds the grid
  std::uint64_t* digests;    // [max_pieces]
  std::uint64_t* contents;   // [num_chunks]: the checksums
};

cudaError_t launch_hash_contents(const HashArgs& args, cudaStream_t stream);

}  // namespace gdelta::cuda
