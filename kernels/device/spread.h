// An order in which numbers that are neighbours are far apart. Chunks that take long often stand beside each other, or at
// equal distances, and blocks go to multiprocessors in the order of their numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "kernels/device/host_device.h"

namespace gdelta::device {

/// For spread(): it has no divisor in common with `count`, which is 1 or more, so that every number comes once.
inline std::uint32_t spread_step(std::uint32_t count) {
  auto step = std::max(1u, static_cast<std::uint32_t>(count * 0.618));
  while (std::gcd(step, count) != 1) ++step;
  return step;
}

/// Number i, below `count`, of the order.
GDELTA_HD inline std::uint32_t spread(std::uint32_t i, std::uint32_t step, std::uint32_t count) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(i) * step % count);
}

}  // namespace gdelta::device
