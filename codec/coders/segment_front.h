// Deltas inside the segments of a column, on its way to a coder and back. Spec:
// predictors/segments.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codec/coders/column_bytes.h"
#include "codec/coders/section_to_decode.h"
#include "formats/gdelta/predictors/segment_fields.h"

namespace gdelta {

/// What a coder sees of a column whose segments have been predicted, and what the model says of it.
struct SegmentResiduals {
  std::vector<unsigned char> words;  // without gaps, heads first
  std::vector<std::byte> fields;

  /// As integers without byte order.
  ColumnBytes column(const ColumnBytes& values) const;
};

/// `words` are the column's mapped values without gaps.
SegmentResiduals predict_segments(const ColumnBytes& column, std::span<const unsigned char> words,
                                  std::span<const std::uint32_t> lengths,
                                  const format::SegmentOrders& orders);

/// The orders that the model of a column says.
format::SegmentOrders read_segment_orders(const unsigned char* fields, std::uint64_t bytes,
                                          int tuple);

/// Replaces the residuals of a column, words without gaps, by the words.
void undo_segment_front(const SectionToDecode& section, std::unique_ptr<unsigned char[]>& words);

}  // namespace gdelta
