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

  /// Reads the payload of `chunk` from `blocks` and adds it. The batch holds block and values.
  Result<void> add(BlockStream& blocks, ChunkBlock&& chunk);
  /// Adds a chunk whose block and values lie in the caller's memory.
  void add(ChunkBlock&& chunk, std::span<const std::byte> block, std::span<std::byte> out);
  /// Several threads may work inside of one chunk if the batch then holds no more than `bytes`.
  void spread_within(std::uint64_t bytes);
  /// Decodes all of it. Only errors of the machine and cancelled are returned; what is wrong with a
  /// chunk is told by `error_of`.
  Result<void> decode(SteadyBackend& backend, bool verify, ProgressMeter& progress);

  bool empty() const { return jobs_.empty(); }
  std::size_t size() const { return jobs_.size(); }
  bool is_full_for(const ChunkBlock& chunk, std::uint64_t batch_bytes) const {
    return load_.is_full_for(chunk, batch_bytes);
  }
  std::uint64_t decoded_bytes() const { return load_.decoded_bytes(); }
  /// Bytes that the batch holds once it is decoded, with what it keeps from batches before.
  std::uint64_t held_bytes() const { return held_bytes(load_); }
  /// What it would hold with one chunk more.
  std::uint64_t held_bytes_with(const ChunkBlock& chunk) const;
  /// What decoding holds if blocks and values lie in the caller's memory, with one chunk more.
  std::uint64_t work_bytes_with(const ChunkBlock& chunk) const;

  /// After decoding: chunks before the first that failed, their bytes, and why that one did.
  std::size_t good_chunks() const;
  std::span<const std::byte> good_values() const;
  /// After decoding, chunk by chunk; lengths of its segments are none if it does not say them.
  std::span<const std::uint32_t> lengths_of(std::size_t i) const { return jobs_[i].lengths; }
  const format::ParsedChunk& parsed_of(std::size_t i) const { return jobs_[i].parsed; }
  std::uint64_t byte_of(std::size_t i) const { return jobs_[i].byte; }
  const std::optional<Error>& error_of(std::size_t i) const { return jobs_[i].error; }
  std::span<const std::byte> values_of(std::size_t i) const { return jobs_[i].out; }

  /// `keep_memory` for the next batch, or give it back.
  void clear(bool keep_memory);

 private:
  void add_job(ChunkBlock&& chunk);
  std::uint64_t held_bytes(const DecodeLoad& load) const;

  int threads_;
  DecodeLoad load_;
  std::vector<DecodeJob> jobs_;
  std::vector<std::shared_ptr<const Layout>> layouts_;  // those of the jobs
  bool spread_ = false;
  // Of the chunks that it holds itself, in their order.
  ByteBuffer blocks_;
  ByteBuffer values_;
};

}  // namespace gdelta
