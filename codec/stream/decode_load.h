// What a batch of chunks holds while it is decoded, so that a memory limit can be kept before anything
// is allocated.
#pragma once

#include <cstdint>
#include <memory>

#include "codec/stream/walk/block_stream.h"

namespace gdelta {

/// More chunks do not make a batch better, however short they are.
inline constexpr std::size_t kMostChunksOfABatch = std::size_t{1} << 14;
/// Nor do what is noted of them and their parsed heads take more: records of very many columns have
/// heads that are larger than their values.
inline constexpr std::uint64_t kMostNotesOfABatch = std::uint64_t{16} << 20;
/// Decoded bytes of the batch that is read before a device is chosen: if the input ends within so
/// many, its length is known by then.
inline constexpr std::uint64_t kFirstBatchBytes = std::uint64_t{8} << 20;
/// A batch that took more than this share of the memory limit gives its memory back.
inline constexpr std::uint64_t kKeptShare = 8;

/// A chunk that alone takes more than the memory limit.
Error chunk_over_limit(std::uint64_t number, std::uint64_t byte, std::uint64_t needed,
                       std::uint64_t limit);

/// An output that would be longer than the limit.
Error output_over_limit(std::uint64_t limit);

class DecodeLoad {
 public:
  /// Assumes that as many chunks are decoded at once as there are threads, each by one of them.
  explicit DecodeLoad(int threads) : threads_(threads) {}

  void add(const ChunkBlock& chunk);
  /// Counts all that is held: blocks, values, what is noted of each chunk, and copies of columns.
  std::uint64_t bytes() const { return block_bytes_ + decoded_bytes_ + work_bytes(); }
  /// Counts the same if blocks and values lie in the caller's memory.
  std::uint64_t work_bytes() const;
  /// What is held beyond that if all threads work inside of chunks.
  std::uint64_t spread_bytes() const {
    return static_cast<std::uint64_t>(threads_) * scratch_.more_bytes;
  }

  /// Whether a batch of about `batch_bytes` decoded bytes is better handed on than given this chunk.
  bool is_full_for(const ChunkBlock& chunk, std::uint64_t batch_bytes) const;

  std::uint64_t chunks() const { return chunks_; }
  std::uint64_t block_bytes() const { return block_bytes_; }
  std::uint64_t decoded_bytes() const { return decoded_bytes_; }

 private:
  int threads_;
  std::uint64_t chunks_ = 0;
  std::uint64_t block_bytes_ = 0;
  std::uint64_t decoded_bytes_ = 0;
  std::uint64_t notes_bytes_ = 0;
  DecodeScratch scratch_;  // of the chunk that needs most
  const Layout* last_layout_ = nullptr;
};

}  // namespace gdelta
