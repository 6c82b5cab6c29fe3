// Chunks of a ragged stream: cut by values and, if segments are short, by their number. Where they
// end depends on the values and the options alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/chunk/chunk_segments.h"

namespace gdelta {

/// A chunk that is collected.
struct SegmentChunk {
  std::vector<std::byte> values;
  std::vector<std::uint32_t> lengths;
  bool continues = false;
  bool goes_on = false;

  ChunkSegments segments() const {
    return {.lengths = lengths, .continues = continues, .goes_on = goes_on};
  }
  std::uint64_t bytes() const { return values.size() + lengths.size() * sizeof lengths[0]; }
};

class SegmentCutter {
 public:
  SegmentCutter(std::uint64_t chunk_bytes, std::uint64_t record_bytes);

  /// Takes as many bytes of whole records as the chunk has room for; returns how many. 0: the chunk is
  /// whole, and `take_chunk` makes room.
  std::size_t write(std::span<const std::byte> values);
  struct WholeSegments {
    std::size_t segments;
    std::size_t bytes;  ///< of their values
  };
  /// Takes segments at the front that the chunk has room for as a whole, if none is open; returns what it took. `values` has all of
  /// them, or else no more are taken than it has.
  WholeSegments write_whole(std::span<const std::uint64_t> lengths,
                            std::span<const std::byte> values);
  /// Gives false if the chunk is whole, as above.
  bool end_segment();
  /// Whether the segment that was written to last has not ended.
  bool is_open() const { return open_; }
  bool has_chunk() const { return open_here_ || !chunk_.lengths.empty(); }
  /// The chunk so far; what is open goes on in the next one.
  SegmentChunk take_chunk();

 private:
  bool has_room_for_length() const { return chunk_.lengths.size() < most_lengths_; }

  std::uint64_t chunk_bytes_;  // of values
  std::uint64_t record_bytes_;
  std::uint64_t most_lengths_;
  SegmentChunk chunk_;
  bool open_ = false;
  bool open_here_ = false;  // and has values in this chunk
  std::uint64_t open_records_ = 0;
};

}  // namespace gdelta
