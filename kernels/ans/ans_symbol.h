// What encoding needs to know of a bin. Shared by host code and kernels.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.h"

namespace gdelta {

/// Packed for vectors. Dividing by a frequency f is multiplying by a reciprocal of 32 bits: for any x below
/// 2^32, x / f is (x + up) × reciprocal >> (32 + shift), where shift is floor(log2 f), and up, 0 or 1, is
/// chosen so that the error stays below 1 / f (Robison, "N-bit unsigned division via N-bit multiply-add").
struct AnsSymbol {
  static constexpr int kStartAt = 11, kShiftAt = 22, kUpAt = 31;
  std::uint32_t reciprocal;
  std::uint32_t fields;  // frequency - 1, start, shift, up

  GDELTA_HD std::uint32_t frequency() const { return (fields & 0x7ff) + 1; }
  GDELTA_HD std::uint32_t start() const { return fields >> kStartAt & 0x7ff; }
  GDELTA_HD std::uint32_t up() const { return fields >> kUpAt; }
  GDELTA_HD int shift() const { return static_cast<int>(fields >> kShiftAt & 0xf); }
  GDELTA_HD std::uint32_t quotient(std::uint32_t x) const {
    const std::uint64_t product = (std::uint64_t{x} + up()) * reciprocal;
    return static_cast<std::uint32_t>(product >> 32 >> shift());
  }
};

/// Precondition: 1 <= frequency <= 2048, start < 2048.
GDELTA_HD inline AnsSymbol make_ans_symbol(std::uint32_t frequency, std::uint32_t start) {
  int shift = 0;
  while (frequency >> shift > 1) ++shift;
  const std::uint64_t power = std::uint64_t{1} << (32 + shift);
  // Rounded down if that errs by 2^shift at most, up if not. A power of two would need 33 bits: 2^32 - 1
  // errs by so much.
  const bool is_power = (frequency & (frequency - 1)) == 0;
  const bool down = is_power || power % frequency <= std::uint64_t{1} << shift;
  const std::uint64_t reciprocal =
      is_power ? ~std::uint32_t{0} : power / frequency + (down ? 0 : 1);
  return {.reciprocal = static_cast<std::uint32_t>(reciprocal),
          .fields = (frequency - 1) | start << AnsSymbol::kStartAt |
                    static_cast<std::uint32_t>(shift) << AnsSymbol::kShiftAt |
                    static_cast<std::uint32_t>(down) << AnsSymbol::kUpAt};
}

}  // namespace gdelta
