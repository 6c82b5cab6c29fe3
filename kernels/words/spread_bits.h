// Where words of few different bits are put so that they seldom meet (Knuth, "The Art of Computer Programming", volume 3, section
// 6.4: multiplicative hashing).
#pragma once

#include <cstdint>

#include "kernels/device/host_device.h"

namespace gdelta {

/// Bits of which the upper ones depend on all of a word.
GDELTA_HD constexpr std::uint64_t spread_bits(std::uint64_t word) {
  return (word ^ word >> 32) * 0x9E3779B97F4A7C15;
}

}  // namespace gdelta
