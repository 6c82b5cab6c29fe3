// The segments of a chunk's records, as an encoder gets them and a decoder gives them.
#pragma once

#include <cstdint>
#include <span>

#include "formats/gdelta/chunk_head.h"

namespace gdelta {

/// In records. Empty: the chunk does not say its segments.
struct ChunkSegments {
  std::span<const std::uint32_t> lengths;
  bool continues = false;  // the first goes on with the last of the chunk before
  bool goes_on = false;    // so does the first of the next chunk with the last

  bool empty() const { return lengths.empty(); }
  format::SegmentsHead head() const {
    const int joins = (continues ? format::kContinues : 0) | (goes_on ? format::kGoesOn : 0);
    return {.lengths = lengths.size(), .joins = static_cast<format::Byte>(joins)};
  }
};

}  // namespace gdelta
