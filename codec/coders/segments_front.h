// Deltas inside the segments of a column, on its way to a coder and back. Spec:
// predictors/segments.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/coders/column_bytes.h"
#include "formats/gdelta/predictors/segments_fields.h"

namespace gdelta {

/// What a coder sees of a column whose segments have been predicted, and what the model says of it.
struct SegmentResiduals {
  std::vector<unsigned char> words;  // without gaps, heads first
  std::vector<std::byte> fields;

  /// The words as integers without byte order.
  ColumnBytes column(const ColumnBytes& values) const;
};

/// The front of a column whose segments are predicted.
format::Front segment_front(ValueMap map);

/// `words` are the column's mapped values without gaps.
SegmentResiduals predict_segments(const ColumnBytes& column, std::span<const unsigned char> words,
                                  std::span<const std::uint32_t> lengths,
                                  const format::SegmentOrders& orders);

}  // namespace gdelta
