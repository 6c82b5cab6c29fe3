// What a value map that differs from lane to lane needs to know.
#pragma once

#include <cstdint>

namespace gdelta {

struct LaneMapping {
  std::uint8_t map = 0;  ///< its number (value_maps.h)
  // Up to two numbers, whose meaning is the map's own.
  std::uint64_t step = 0;
  std::uint64_t offset = 0;
};

}  // namespace gdelta
