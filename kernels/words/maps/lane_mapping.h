// What a value map that differs from lane to lane needs to know.
#pragma once

#include <cstdint>

namespace gdelta {

struct LaneMapping {
  std::uint8_t map = 0;      ///< its number (value_maps.h)
  std::uint64_t step = 0;    ///< digits of decimal; the bits of an f64 of scaled; of multiple
  std::uint64_t offset = 0;  ///< of multiple
};

}  // namespace gdelta
