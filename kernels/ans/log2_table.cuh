// Logarithms in 1/256 bits, as kernels/ans/fixed_log2.h has them, from a table in shared memory.
#pragma once

#include <cstdint>

#include "kernels/ans/fixed_log2.h"
#include "kernels/device/highest_bit.cuh"

namespace gdelta::cuda {

struct Log2Table {
  std::uint8_t fractions[256];

  /// A block of so many threads calls it, and waits.
  __device__ void fill(int threads) {
    for (int m = threadIdx.x; m < 256; m += threads) fractions[m] = log2_fraction(m);
  }
  /// gdelta::fixed_log2.
  __device__ std::uint32_t of(std::uint32_t x) const {
    const int exponent = device::highest_bit(x);
    const std::uint32_t mantissa = x << (31 - exponent) >> 23;
    return static_cast<std::uint32_t>(exponent) << kFixedLog2Bits | fractions[mantissa & 255];
  }
  __device__ std::uint32_t of(std::uint64_t x) const {
    const int exponent = device::highest_bit(x);
    const std::uint64_t mantissa = exponent >= 8 ? x >> (exponent - 8) : x << (8 - exponent);
    return static_cast<std::uint32_t>(exponent) << kFixedLog2Bits | fractions[mantissa & 255];
  }
};

}  // namespace gdelta::cuda
