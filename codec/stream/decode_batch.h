// Chunks collected for one call of a backend, their blocks and their decoded bytes side by side.
#pragma once

#include <memory>
#include <vector>

#include "codec/backend/steady_backend.h"
#include "codec/stream/decode_load.h"
#include "codec/stream/walk/block_stream.h"

namespace gdelta {

class DecodeBatch {
 public:
  /// `threads` are those that will decode it.
  explicit DecodeBatch(int threads) : threads_(threads), load_(threads) {}

  /// Reads the payload of `chunk` from `blocks` and adds it.
  Result<void> add(BlockStream& blocks, const ChunkBlock& chunk);
  /// Decodes all of it. Only errors of the machine and cancelled are returned; what is wrong with a
  /// chunk is told by `error_of`.
  Result<void> decode(SteadyBackend& backend, bool verify, ProgressMeter& progress);

  bool empty() const { return chunks_.empty(); }
  std::size_t size() const { return chunks_.size(); }
  std::uint64_t decoded_bytes() const { return load_.decoded_bytes(); }
  /// Bytes that the batch holds once it is decoded, with what it keeps from batches before.
  std::uint64_t held_bytes() const { return held_bytes(load_); }
  /// What it would hold with one chunk more.
  std::uint64_t held_bytes_with(const ChunkBlock& chunk) const;

  /// After decoding: chunks before the first that failed, their bytes, and why that one did.
  std::size_t good_chunks() const;
  std::span<const std::byte> good_values() const;
  /// After decoding, chunk by chunk.
  const std::optional<Error>& error_of(std::size_t i) const { return jobs_[i].error; }
  std::span<const std::byte> values_of(std::size_t i) const { return jobs_[i].out; }

  /// `keep_memory` for the next batch, or give it back.
  void clear(bool keep_memory);

 private:
  struct Chunk {
    std::uint64_t number;
    std::uint64_t byte;
    std::size_t block_at;
    std::size_t block_bytes;
    std::uint64_t decoded_bytes;
    std::shared_ptr<const Layout> layout;
  };

  std::uint64_t held_bytes(const DecodeLoad& load) const;

  int threads_;
  DecodeLoad load_;
  std::vector<Chunk> chunks_;
  std::vector<DecodeJob> jobs_;
  ByteBuffer blocks_;
  ByteBuffer values_;
};

}  // namespace gdelta
