// An instruction of the PTX ISA that CUDA C++ reaches only by way of the leading zeros, and of their number if
// nothing is set.
#pragma once

#include <cstdint>

namespace gdelta::device {

/// The place of the highest bit that is set; -1: none is.
__device__ __forceinline__ int highest_bit(std::uint32_t value) {
  int place;
  asm("bfind.u32 %0, %1;" : "=r"(place) : "r"(value));
  return place;
}
__device__ __forceinline__ int highest_bit(std::uint64_t value) {
  const int high = highest_bit(static_cast<std::uint32_t>(value >> 32));
  return high >= 0 ? 32 + high : highest_bit(static_cast<std::uint32_t>(value));
}

}  // namespace gdelta::device
