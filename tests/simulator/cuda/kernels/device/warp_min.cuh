// Stands in for kernels/device/warp_min.cuh.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/device/warp.cuh"

namespace gdelta::device {

inline std::uint32_t warp_min(std::uint32_t value) {
  for (int distance = 16; distance > 0; distance /= 2)
    value = std::min(value, __shfl_xor_sync(kWholeWarp, value, distance));
  return value;
}

}  // namespace gdelta::device
