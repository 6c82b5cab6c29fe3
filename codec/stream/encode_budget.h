// How many chunks may be encoded at once under a memory limit. It changes speed, never bytes.
#pragma once

#include <cstdint>
#include <string>

#include "gdelta/codec.h"

namespace gdelta {

/// More chunks do not make a batch better, however short they are.
inline constexpr std::size_t kMostChunksToEncode = std::size_t{1} << 14;

struct EncodeBudget {
  std::string device;
  int threads = 0;
  std::uint64_t batch_bytes = ~std::uint64_t{0};  // at most, but for a single chunk
  bool overlap = true;                            // one batch is collected while another is encoded
};

/// Bytes that encoding a chunk of `chunk_bytes` holds on one thread, beside the chunk and its block.
std::uint64_t encode_scratch_bytes(const EncodeOptions& options, std::uint64_t chunk_bytes);

/// `collects`: the input is copied into batches.
/// Errors      memory_limit: not even one chunk at a time fits
Result<EncodeBudget> encode_budget(const EncodeOptions& options, bool collects);

}  // namespace gdelta
