// Orders of lanes as they stand in a model: those of deltas, and of deltas inside segments. One parser and one
// writer, for host and device.
#pragma once

#include "formats/gdelta/byte_sinks.h"
#include "formats/gdelta/model.h"
#include "formats/gdelta/tags.h"

namespace gdelta::format {

/// Reads an order for all lanes, or one for each.
GDELTA_HD inline HeadError parse_orders(Cursor& cursor, int tuple, std::uint8_t* orders) {
  const Byte all = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  if (all > kMaxOrder && all != kOrdersPerLane) return HeadError::unsupported;
  GDELTA_ROLLED
  for (int lane = 0; lane < tuple; ++lane) {
    orders[lane] = all == kOrdersPerLane ? cursor.byte() : all;
    if (cursor.failed) return HeadError::corrupt;
    if (orders[lane] > kMaxOrder) return HeadError::unsupported;
  }
  return HeadError::none;
}

GDELTA_HD inline bool orders_alike(int tuple, const std::uint8_t* orders) {
  GDELTA_ROLLED
  for (int lane = 1; lane < tuple; ++lane)
    if (orders[lane] != orders[0]) return false;
  return true;
}

/// Where the orders of lanes stand in the fields that they were read from; null if all are alike.
GDELTA_HD inline const Byte* orders_by_lane(const Byte* fields, int tuple,
                                            const std::uint8_t* orders) {
  return orders_alike(tuple, orders) ? nullptr : fields + 1;
}

/// Writes one order if all lanes have the same.
template <class Sink>
GDELTA_HD void write_orders(Sink& sink, int tuple, const std::uint8_t* orders) {
  const bool alike = orders_alike(tuple, orders);
  if (!alike) sink.le(1, kOrdersPerLane);
  for (int lane = 0; lane < (alike ? 1 : tuple); ++lane) sink.le(1, orders[lane]);
}

}  // namespace gdelta::format
