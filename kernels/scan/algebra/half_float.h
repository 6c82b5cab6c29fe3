// Sixteen-bit floating point on a CPU: to float exactly, from float rounded to the nearest, ties to
// even.
#pragma once

#include <bit>
#include <cstdint>

namespace gdelta::scan {

struct Binary16 {
  static float to_float(std::uint16_t bits) {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
    const std::uint32_t exponent = (bits >> 10) & 0x1f;
    const std::uint32_t fraction = bits & 0x3ff;
    if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | (fraction << 13));
    if (exponent != 0)
      return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }

  static std::uint16_t from_float(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint16_t sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
    const std::uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return 0x7fff;  // NaN, as the device rounds it
    if (magnitude >= 0x477ff000)
      return static_cast<std::uint16_t>(sign | 0x7c00);  // rounds to infinity
    if (magnitude < 0x38800000) {
      // Below the smallest normal: add so that the hardware rounds at the right place.
      const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
      return static_cast<std::uint16_t>(sign |
                                        (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000));
    }
    const std::uint32_t odd = (magnitude >> 13) & 1;
    return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000 + 0xfff + odd) >> 13));
  }
};

struct BFloat16 {
  static float to_float(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }

  static std::uint16_t from_float(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
    return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
  }
};

}  // namespace gdelta::scan
