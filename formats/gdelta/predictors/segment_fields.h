// The fields of deltas inside segments as they stand in a model: one parser, for host and device. Spec:
// predictors/segments.md.
#pragma once

#include "formats/gdelta/bytes.h"
#include "formats/gdelta/model.h"
#include "formats/gdelta/tags.h"

namespace gdelta::format {

/// How many times differences are taken inside segments and along their heads.
struct SegmentOrders {
  std::uint8_t inside[kMaxTuple] = {};  // one for each lane
  std::uint8_t heads = 0;
};

/// Reads an order, or one for each lane.
GDELTA_HD inline HeadError parse_orders(Cursor& cursor, int tuple, std::uint8_t* orders,
                                        bool& by_lane) {
  const Byte all = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  if (all > kMaxOrder && all != kOrdersPerLane) return HeadError::unsupported;
  by_lane = all == kOrdersPerLane;
  for (int lane = 0; lane < tuple; ++lane) {
    orders[lane] = by_lane ? cursor.byte() : all;
    if (cursor.failed) return HeadError::corrupt;
    if (orders[lane] > kMaxOrder) return HeadError::unsupported;
  }
  return HeadError::none;
}

GDELTA_HD inline HeadError parse_segment_fields(Cursor& cursor, int tuple, SegmentOrders& orders) {
  bool by_lane = false;
  const HeadError error = parse_orders(cursor, tuple, orders.inside, by_lane);
  if (error != HeadError::none) return error;
  orders.heads = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  return orders.heads > kMaxOrder ? HeadError::unsupported : HeadError::none;
}

}  // namespace gdelta::format
