// Where chunks begin and end. It depends on the input and the options alone, so that every device,
// every number of threads and every slicing of writes gives the same stream.
#pragma once

#include <cstdint>
#include <limits>

#include "gdelta/types.h"

namespace gdelta {

/// Bytes of the input that make one chunk.
struct Piece {
  bool opaque = false;
  std::uint64_t bytes = 0;
};

/// One or two pieces.
struct Pieces {
  Piece first;
  Piece second;  // bytes 0: there is none
};

/// What an input consists of: opaque bytes, records of one layout, opaque bytes.
struct InputPlan {
  Layout layout;
  std::uint64_t head_bytes = 0;
  std::uint64_t data_bytes = std::numeric_limits<std::uint64_t>::max();  // the largest: to the end
};

class ChunkCutter {
 public:
  /// `chunk_bytes` decoded bytes make a chunk, rounded down to whole records, but at least one.
  ChunkCutter(const InputPlan& plan, std::uint64_t chunk_bytes);

  /// The next chunk, if enough bytes follow.
  Piece next() const;
  /// Cuts `bytes` (1 … next().bytes) here: a whole chunk, or what there is where the input pauses
  /// or ends. What is no whole record then becomes an opaque piece of its own, and so will the rest
  /// of that record, so that later chunks begin with a record again.
  Pieces cut(std::uint64_t bytes);

 private:
  std::uint64_t record_bytes_;
  std::uint64_t chunk_bytes_;  // of opaque chunks
  std::uint64_t data_chunk_bytes_;
  std::uint64_t opaque_left_;  // before the next record
  std::uint64_t data_left_;    // whole records
};

}  // namespace gdelta
