// Orders of lanes as they are written into a model: those of deltas, and of deltas inside segments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/model.h"

namespace gdelta::format {

/// Appends an order for all lanes, or one for each.
inline void append_orders(std::vector<std::byte>& bytes, std::span<const std::uint8_t> lanes) {
  if (std::all_of(lanes.begin(), lanes.end(), [&](auto order) { return order == lanes[0]; }))
    return append_le(bytes, 1, lanes[0]);
  append_le(bytes, 1, kOrdersPerLane);
  for (const std::uint8_t order : lanes) append_le(bytes, 1, order);
}

}  // namespace gdelta::format
