// From bytes in memory to values in memory, with nothing between: what a file asks for is found out first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/backend/steady_backend.h"
#include "codec/stream/decode_batch.h"
#include "codec/stream/segment_ends.h"
#include "codec/stream/walk/block_stream.h"
#include "gdelta/stream.h"

namespace gdelta {

/// What a file asks for, as far as its structure holds.
struct WholeNeed {
  std::uint64_t decoded_bytes = 0;  // at most the largest number there is
  std::uint64_t segments = 0;       // that begin; likewise
  std::uint64_t work_bytes = 0;     // of the chunk that needs most, beside block and values
  // All chunks, so that nobody reads their heads again, if the file is whole and they take little memory or there is but one.
  std::vector<ChunkBlock> chunks = {};

  /// Of values and of where segments begin, one offset more than there are segments; at most the largest number there is.
  std::uint64_t bytes_with_offsets() const;
};

WholeNeed need_of(std::span<const std::byte> bytes, std::uint64_t memory_limit);

/// `held_bytes`: of the result, if the library holds it.
/// Errors      memory_limit, output_too_small (more than options.output_limit)
Result<void> check_limits(const WholeNeed& need, std::uint64_t held_bytes,
                          const DecodeOptions& options);

/// Decodes straight from `bytes` into `out`, which holds what they decode to.
class MemoryDecoder {
 public:
  /// Beside `out`, decoding may hold `memory_left` bytes. `ends` is told where segments end, if it is not null; then chunks
  /// of records that do not say their segments are errors.
  MemoryDecoder(std::span<const std::byte> bytes, std::span<std::byte> out,
                const DecodeOptions& options, std::uint64_t memory_left, const EndSink& ends = {});

  /// `known` are all chunks of the bytes, if anything is known of them.
  /// Errors      as decompress, as decompress_segments if there is `ends`, and what that returns
  Result<void> run(std::vector<ChunkBlock>&& known);

 private:
  Result<void> add(ChunkBlock&& chunk);
  Result<void> decode_batch();
  Result<void> after_batch(Error error);

  std::span<const std::byte> bytes_;
  std::span<std::byte> out_;
  const DecodeOptions& options_;
  std::uint64_t memory_left_;
  const EndSink ends_;
  SegmentEnds segment_ends_;
  SteadyBackend backend_;
  ProgressMeter progress_;
  DecodeBatch batch_;
  std::size_t done_bytes_ = 0;  // of all chunks added
};

}  // namespace gdelta
