// Where chunks begin and end. It depends on the input and the options alone, so that every device,
// every number of threads and every slicing of writes gives the same stream.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "codec/stream/segment_range.h"
#include "formats/gdelta/model.h"
#include "gdelta/types.h"

namespace gdelta {

/// Bytes of the input that make one chunk.
struct ChunkExtent {
  bool opaque = false;
  std::uint64_t bytes = 0;
  SegmentRange segments = {};  // of its records, if they come in some
};

/// One or two extents.
struct ChunkExtents {
  ChunkExtent first;
  ChunkExtent second;  // bytes 0: there is none
};

/// What an input goes on with: opaque bytes, then records of one layout.
struct InputPart {
  static constexpr std::uint64_t kToTheEnd = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t head_bytes = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t record_bytes = 1;
  /// Where the segments of these records begin, and the last one ends; empty: they have none.
  std::span<const std::uint64_t> offsets = {};
};

class ChunkCutter {
 public:
  explicit ChunkCutter(std::uint64_t chunk_bytes) : chunk_bytes_(chunk_bytes) {}

  /// Whether the next chunk depends on what follows `next().bytes`: there are no such bytes, or they
  /// are opaque and no whole chunk.
  bool is_open() const { return data_left_ == 0 && !has_segments() && opaque_left_ < chunk_bytes_; }
  /// Whether there are segments that were told and not cut.
  bool has_segments() const { return !range_.empty(); }
  /// Tells what follows all that was told before; while it is open.
  void extend(const InputPart& part);

  /// The next chunk as far as it is known, if enough bytes follow.
  ChunkExtent next() const;
  /// Bytes of the next chunk and of those behind it that are known already: `most_chunks` at most (one or more), and no more than `limit`
  /// bytes unless the next one has.
  std::uint64_t known_bytes(std::uint64_t limit, std::uint64_t most_chunks) const;
  /// Cuts `bytes` (1 … next().bytes) here: a whole chunk, or what there is if the input pauses
  /// or ends. What is no whole record then becomes an opaque extent of its own, and so will the rest
  /// of that record, so that later chunks begin with a record again. A chunk of segments may have no bytes,
  /// and is never cut before its end.
  ChunkExtents cut(std::uint64_t bytes);

 private:
  SegmentRange range_at(std::span<const std::uint64_t> offsets, std::uint64_t record) const;
  ChunkExtent cut_segments();

  std::uint64_t chunk_bytes_;
  std::uint64_t record_bytes_ = 1;
  std::uint64_t opaque_left_ = 0;                // before the next record
  std::uint64_t data_left_ = 0;                  // whole records
  std::span<const std::uint64_t> offsets_left_;  // of segments that have not ended
  SegmentRange range_;                           // of the next chunk of these records
};

}  // namespace gdelta
