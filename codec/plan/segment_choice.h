// Which orders suit the segments of a column.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "codec/coders/coder.h"
#include "formats/gdelta/predictors/segments_fields.h"
#include "kernels/deltas/segment_delta.h"

namespace gdelta {

struct ChosenSegmentOrders {
  format::SegmentOrders orders;
  std::uint64_t bits;       ///< of the residuals, by the cost that was asked for
  std::uint64_t head_bits;  ///< of these, those of heads
};

/// Those whose residuals cost least, each lane by itself, and of nearly as good ones the lower; `asked`, if there is one, inside segments. The
/// orders of `shape` do not matter; `words` are the column's mapped values.
ChosenSegmentOrders choose_segment_orders(const SegmentDelta& shape,
                                          std::span<const unsigned char> words,
                                          std::optional<int> asked, int highest, OrderCost cost);

}  // namespace gdelta
