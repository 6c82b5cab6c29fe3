// The head of a chunk block before the models of its columns. Shared by host code and CUDA kernels.
// Spec: spec.md, sections 3.2 and 3.5.
#pragma once

#include "formats/gdelta/column_head.h"

namespace gdelta::format {

/// How the parts of a chunk are checked, and what bounds its records: 0 is all there is.
inline constexpr Byte kChunkKinds = 0;
/// The chunk says its own segments.
inline constexpr Byte kSegmentedKinds = 0x10;

/// The lengths of a chunk take no more bytes than its values may.
inline constexpr std::uint64_t kMaxSegmentLengths = kMaxChunkBytes / 4;
/// `joins` is made of these bits.
inline constexpr Byte kContinues = 1, kGoesOn = 2;
/// Lengths are coded as a column of this kind.
inline constexpr Column kLengthColumn{.type = ValueType::u32, .tuple = 1, .big_endian = false};

/// The segments of a chunk as its head says them.
struct SegmentsHead {
  std::uint64_t lengths = 0;  // how many there are; 0: the chunk does not say its segments
  Byte joins = 0;

  GDELTA_HD bool continues() const { return (joins & kContinues) != 0; }
  GDELTA_HD bool goes_on() const { return (joins & kGoesOn) != 0; }
  /// Segments that begin in the chunk.
  GDELTA_HD std::uint64_t begun() const { return lengths - (continues() ? 1 : 0); }
  friend bool operator==(const SegmentsHead&, const SegmentsHead&) = default;
};

/// Whether a chunk may have so many records.
GDELTA_HD constexpr bool records_fit(std::uint64_t records, std::uint64_t record_bytes,
                                     bool in_segments) {
  return records <= kMaxChunkBytes && records * record_bytes <= kMaxChunkBytes &&
         (records > 0 || in_segments);
}

/// Reads how many lengths there are and how they join those of other chunks.
GDELTA_HD inline HeadError parse_joins(Cursor& cursor, SegmentsHead& segments) {
  segments.lengths = cursor.varint();
  if (cursor.failed || segments.lengths == 0 || segments.lengths > kMaxSegmentLengths)
    return HeadError::corrupt;
  segments.joins = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  return segments.joins > (kContinues | kGoesOn) ? HeadError::unsupported : HeadError::none;
}

/// Reads the fields before the models. `record_bytes` is that of the layout in force; only a chunk of
/// records may say its segments.
GDELTA_HD inline HeadError parse_chunk_head(Cursor& cursor, std::uint64_t record_bytes, bool opaque,
                                            std::uint64_t& records, Byte& kinds,
                                            SegmentsHead& segments) {
  segments = {};
  records = cursor.varint();
  if (cursor.failed || !records_fit(records, record_bytes, true)) return HeadError::corrupt;
  kinds = cursor.byte();
  const bool in_segments = kinds == kSegmentedKinds && !opaque;
  if (cursor.failed || !records_fit(records, record_bytes, in_segments)) return HeadError::corrupt;
  if (in_segments) return parse_joins(cursor, segments);
  return kinds == kChunkKinds ? HeadError::none : HeadError::unsupported;
}

}  // namespace gdelta::format
