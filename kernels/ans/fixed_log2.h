// Logarithms in 1/256 bits, by integers alone, so that costs are the same on every machine.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "kernels/device/host_device.h"

namespace gdelta {

/// 256 × log2(1 + m / 256), cut off, for m = 0 … 255: the fraction's bits come one by one from squaring.
GDELTA_HD constexpr std::uint8_t log2_fraction(std::uint64_t m) {
  std::uint64_t x = (256 + m) << 22;  // 1 … 2, with 30 bits behind the point
  unsigned fraction = 0;
  for (int bit = 7; bit >= 0; --bit) {
    x = x * x >> 30;
    if (x < std::uint64_t{2} << 30) continue;
    x >>= 1;
    fraction |= 1u << bit;
  }
  return static_cast<std::uint8_t>(fraction);
}

namespace detail {

constexpr std::array<std::uint8_t, 256> make_log2_fractions() {
  std::array<std::uint8_t, 256> fractions{};
  for (std::uint64_t m = 0; m < 256; ++m) fractions[m] = log2_fraction(m);
  return fractions;
}
inline constexpr auto kLog2Fractions = make_log2_fractions();

}  // namespace detail

inline constexpr int kFixedLog2Bits = 8;

/// 256 × log2(x), less than 3 too low. Precondition: x > 0.
constexpr std::uint32_t fixed_log2(std::uint64_t x) {
  const int exponent = static_cast<int>(std::bit_width(x)) - 1;
  const std::uint64_t mantissa = exponent >= 8 ? x >> (exponent - 8) : x << (8 - exponent);
  return static_cast<std::uint32_t>(exponent) << kFixedLog2Bits |
         detail::kLog2Fractions[mantissa & 255];
}

}  // namespace gdelta
