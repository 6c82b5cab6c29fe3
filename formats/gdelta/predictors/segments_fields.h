// The fields of deltas inside segments as they stand in a model: one parser and one writer, for host
// and device. Spec: predictors/segments.md.
#pragma once

#include "formats/gdelta/predictors/lane_orders.h"

namespace gdelta::format {

/// How many times differences are taken inside segments and along their heads.
struct SegmentOrders {
  std::uint8_t inside[kMaxTuple] = {};  // one for each lane
  std::uint8_t heads = 0;
};

GDELTA_HD inline HeadError parse_segment_orders(Cursor& cursor, int tuple, SegmentOrders& orders) {
  const HeadError error = parse_orders(cursor, tuple, orders.inside);
  if (error != HeadError::none) return error;
  orders.heads = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  return orders.heads > kMaxOrder ? HeadError::unsupported : HeadError::none;
}

template <class Sink>
GDELTA_HD void write_segment_orders(Sink& sink, int tuple, const SegmentOrders& orders) {
  write_orders(sink, tuple, orders.inside);
  sink.le(1, orders.heads);
}

/// Reads over the fields. Orders of the front stay zero.
GDELTA_HD inline HeadError parse_segments_fields(Cursor& cursor, const PredictedColumn& column,
                                                 Front&) {
  if (!column.in_segments) return HeadError::corrupt;
  SegmentOrders orders;
  return parse_segment_orders(cursor, column.tuple, orders);
}

}  // namespace gdelta::format
