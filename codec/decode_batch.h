// Chunks collected for one call of a backend, their blocks and their decoded bytes side by side.
#pragma once

#include <memory>
#include <vector>

#include "block_stream.h"
#include "steady_backend.h"

namespace gdelta {

class DecodeBatch {
 public:
  /// Reads the payload of `chunk` from `blocks` and adds it.
  Result<void> add(BlockStream& blocks, const ChunkBlock& chunk);
  /// Decodes all of it. Only errors of the machine are returned; what is wrong with a chunk is told
  /// by `error`.
  Result<void> decode(SteadyBackend& backend, bool verify, ProgressMeter& progress);

  bool empty() const { return chunks_.empty(); }
  std::size_t size() const { return chunks_.size(); }
  /// Bytes that the batch holds once it is decoded: blocks and values.
  std::uint64_t held_bytes() const { return blocks_.size() + decoded_bytes_; }
  std::uint64_t decoded_bytes() const { return decoded_bytes_; }

  /// After decoding: chunks before the first that failed, and their bytes.
  std::size_t good_chunks() const { return good_chunks_; }
  std::span<const std::byte> good_values() const { return values_.all().first(good_bytes_); }
  const std::optional<Error>& error() const { return error_; }

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

  std::vector<Chunk> chunks_;
  ByteBuffer blocks_;
  ByteBuffer values_;
  std::uint64_t decoded_bytes_ = 0;
  std::size_t good_chunks_ = 0;
  std::size_t good_bytes_ = 0;
  std::optional<Error> error_;
};

}  // namespace gdelta
