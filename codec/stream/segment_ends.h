// Where segments end, put together from the lengths that chunks say.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/stream/decode_batch.h"
#include "formats/gdelta/chunk_head.h"
#include "gdelta/stream.h"

namespace gdelta {

class SegmentEnds {
 public:
  /// Tells of those that become known with a chunk that says its segments, in records from the first one
  /// on, a few at a time. `lengths` are all of the chunk.
  Result<void> tell(std::span<const std::uint32_t> lengths, const format::SegmentsHead& segments,
                    const EndSink& ends) {
    const std::size_t whole = lengths.size() - (segments.goes_on() ? 1 : 0);
    for (std::size_t first = 0; first < whole; first += kMostAtOnce) {
      ends_.resize(std::min(kMostAtOnce, whole - first));
      for (std::size_t i = 0; i < ends_.size(); ++i) ends_[i] = records_ += lengths[first + i];
      if (auto told = ends(ends_); !told) return told;
    }
    if (whole < lengths.size()) records_ += lengths[whole];
    return {};
  }

  /// The same of all chunks before the first that failed; opaque ones have no segments.
  /// Errors      invalid_argument for a chunk of records that does not say its segments, and what `ends` returns
  Result<void> tell(const DecodeBatch& batch, const EndSink& ends) {
    for (std::size_t i = 0; i < batch.good_chunks(); ++i) {
      const format::ParsedChunk& chunk = batch.parsed_of(i);
      if (chunk.opaque()) continue;
      if (chunk.segments.lengths == 0)
        return fail_at(Errc::invalid_argument, batch.byte_of(i),
                       "the chunk does not say its segments: read its values alone");
      if (auto told = tell(batch.lengths_of(i), chunk.segments, ends); !told) return told;
    }
    return {};
  }

 private:
  static constexpr std::size_t kMostAtOnce = 1 << 14;

  std::uint64_t records_ = 0;
  std::vector<std::uint64_t> ends_;
};

}  // namespace gdelta
