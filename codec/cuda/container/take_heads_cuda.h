// Chunks whose heads the host has read, as a table says it.
#pragma once

#include "codec/cuda/container/chunk_decode_cuda.h"

namespace gdelta::cuda {

/// A chunk whose head the host has read. Places count from the start of the table.
struct KnownChunk {
  std::uint64_t
      head_at;  // of the block's bytes before its payload, as far from a multiple of 16 as the block is in the stream
  std::uint64_t
      models_at;  // of a format::ColumnHead for its lengths, if it says them, and for each column; a multiple of 16
  std::uint64_t block_at;    // in the stream
  std::uint64_t decoded_at;  // where its content begins in what all chunks decode to
  std::uint64_t block_bytes;
  std::uint64_t lengths;  // of segments
  std::uint32_t head_bytes;
  std::uint32_t fields_at;  // where fields begin in the head
  std::uint32_t records;
  std::uint32_t joins;
};
static_assert(sizeof(KnownChunk) == 64);

/// Does what launch_parse_chunks does, for chunks of which the table has KnownChunks at `heads_at`. A head that is another in
/// the stream is corrupt, whatever it says.
cudaError_t launch_take_heads(const ParseArgs& args, std::uint64_t heads_at, cudaStream_t stream);

}  // namespace gdelta::cuda
