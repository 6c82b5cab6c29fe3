// The head of a chunk block before its models. Shared by host code and CUDA kernels. Spec: spec.md,
// section 3.2.
#pragma once

#include "formats/gdelta/column_head.h"

namespace gdelta::format {

/// How the parts of a chunk are checked, and what bounds its records: 0 is all there is.
inline constexpr Byte kChunkKinds = 0;

/// Reads the fields before the models. `record_bytes` is that of the layout in force.
GDELTA_HD inline HeadError parse_chunk_head(Cursor& cursor, std::uint64_t record_bytes,
                                            std::uint64_t& records, Byte& kinds) {
  records = cursor.varint();
  if (cursor.failed || records == 0 || records > kMaxChunkBytes / record_bytes)
    return HeadError::corrupt;
  kinds = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  return kinds == kChunkKinds ? HeadError::none : HeadError::unsupported;
}

}  // namespace gdelta::format
