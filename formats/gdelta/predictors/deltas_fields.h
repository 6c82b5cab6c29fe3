// Orders and strides of deltas as they stand in a model: one parser and one writer, for host and device. Spec:
// predictors/deltas.md.
#pragma once

#include "formats/gdelta/predictors/lane_orders.h"

namespace gdelta::format {

/// Leaves them in the front.
GDELTA_HD inline HeadError parse_deltas_fields(Cursor& cursor, const PredictedColumn& column,
                                               Front& front) {
  const HeadError error = parse_orders(cursor, column.tuple, front.orders);
  if (error != HeadError::none) return error;
  const Byte strides = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  if (strides > kMaxStrides) return HeadError::unsupported;
  front.num_strides = strides;
  GDELTA_ROLLED
  for (int link = 0; link < front.num_strides; ++link) {
    const std::uint64_t stride = cursor.varint();
    if (cursor.failed || !is_stride(stride) || 4 * stride > column.records)
      return HeadError::corrupt;
    const Byte order = cursor.byte();
    if (cursor.failed || order < 1) return HeadError::corrupt;
    if (order > kMaxOrder) return HeadError::unsupported;
    front.strides[link] = {static_cast<std::uint32_t>(stride), order};
  }
  return HeadError::none;
}

template <class Sink>
GDELTA_HD void write_links(Sink& sink, const DeltaLinks& links) {
  write_orders(sink, links.tuple, links.orders);
  sink.le(1, static_cast<std::uint64_t>(links.num_strides));
  for (int link = 0; link < links.num_strides; ++link) {
    sink.varint(links.strides[link].stride);
    sink.le(1, links.strides[link].order);
  }
}

}  // namespace gdelta::format
