// The fields of deltas inside segments as they stand in a model: one parser and one writer, for host
// and device. Spec: predictors/segments.md.
#pragma once

#include "formats/gdelta/predictors/lane_orders.h"

namespace gdelta::format {

/// How many times differences are taken inside segments and along their heads.
struct SegmentOrders {
  static constexpr Byte kSaysStates = 16;  // beside the order of the heads
  std::uint8_t inside[kMaxTuple] = {};     // one for each lane
  std::uint8_t heads = 0;
  bool says_states = false;  // pages begin with the states of the deltas

  GDELTA_HD std::uint8_t highest(int tuple) const {
    std::uint8_t most = heads;
    GDELTA_ROLLED
    for (int lane = 0; lane < tuple; ++lane) most = inside[lane] > most ? inside[lane] : most;
    return most;
  }
};

/// Whether pages may begin with states where so many of the tuples are heads: at most half of them, or all.
GDELTA_HD constexpr bool heads_suit_states(std::uint64_t heads, std::uint64_t records) {
  return heads <= records / 2 || heads == records;
}

GDELTA_HD inline HeadError parse_segment_orders(Cursor& cursor, int tuple, SegmentOrders& orders) {
  const HeadError error = parse_orders(cursor, tuple, orders.inside);
  if (error != HeadError::none) return error;
  const Byte heads = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  orders.says_states = (heads & SegmentOrders::kSaysStates) != 0;
  orders.heads = static_cast<std::uint8_t>(heads & ~SegmentOrders::kSaysStates);
  return orders.heads > kMaxOrder ? HeadError::unsupported : HeadError::none;
}

template <class Sink>
GDELTA_HD void write_segment_orders(Sink& sink, int tuple, const SegmentOrders& orders) {
  write_orders(sink, tuple, orders.inside);
  sink.le(1, orders.heads | (orders.says_states ? SegmentOrders::kSaysStates : 0));
}

/// Reads over the fields. Orders of the front stay zero; it gets the states of pages.
GDELTA_HD inline HeadError parse_segments_fields(Cursor& cursor, const PredictedColumn& column,
                                                 Front& front) {
  if (!column.in_segments) return HeadError::corrupt;
  SegmentOrders orders;
  const HeadError error = parse_segment_orders(cursor, column.tuple, orders);
  if (error != HeadError::none) return error;
  if (!orders.says_states) return HeadError::none;
  if (!column.may_say_states) return HeadError::corrupt;
  front.says_states = true;
  front.page_states = orders.highest(column.tuple);
  return HeadError::none;
}

}  // namespace gdelta::format
