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

/// What a coder sees of a column whose segments have been predicted.
struct SegmentResiduals {
  std::vector<unsigned char> words;  // without gaps, heads first

  /// The words as integers without byte order.
  ColumnBytes column(const ColumnBytes& values) const;
};

/// The front of a column whose segments are predicted, and what its model says of them.
format::Front segment_front(ValueMap map, const format::SegmentOrders& orders, int tuple);
std::vector<std::byte> segment_fields(const format::SegmentOrders& orders, int tuple);

/// `words` are the column's mapped values without gaps.
SegmentResiduals predict_segments(const ColumnBytes& column, std::span<const unsigned char> words,
                                  std::span<const std::uint32_t> lengths,
                                  const format::SegmentOrders& orders);

/// What the pages of the section begin with if they say states: of each page, lane after lane.
std::vector<unsigned char> predict_states(const ColumnBytes& column,
                                          std::span<const unsigned char> words,
                                          std::span<const std::uint32_t> lengths,
                                          const format::SegmentOrders& orders,
                                          const format::Section& section);

}  // namespace gdelta
