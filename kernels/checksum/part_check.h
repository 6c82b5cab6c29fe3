// The check of a part: a polynomial over the 32-bit words of its original bytes, so that threads can
// work on any stretches of it, in any order, in registers. Spec: spec.md, section 7. Cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/host_device.h"

namespace gdelta {

/// The polynomial's argument. It is 5 modulo 8, so its powers have the longest period there is.
inline constexpr std::uint64_t kCheckBase = 0x5851F42D4C957F2D;
inline constexpr std::uint64_t kCheckMix = 0x9E3779B97F4A7C15;

/// base^exponent, modulo 2^64.
GDELTA_HD constexpr std::uint64_t check_power(std::uint64_t exponent) {
  std::uint64_t power = 1, square = kCheckBase;
  for (; exponent > 0; exponent >>= 1, square *= square)
    if ((exponent & 1) != 0) power *= square;
  return power;
}

/// The check of a part of so many tuples from the polynomial over its words, w0 + w1 × base + …
GDELTA_HD constexpr std::uint32_t finish_check(std::uint64_t tuples, std::uint64_t polynomial) {
  const std::uint64_t all = tuples + kCheckBase * polynomial;
  return static_cast<std::uint32_t>(((all ^ (all >> 29)) * kCheckMix) >> 32);
}

/// Takes the bytes of a part in stretches; all but the last a multiple of four bytes long.
/// Complexity  one pass, about the speed of memory
class PartCheck {
 public:
  void add(const unsigned char* bytes, std::size_t num_bytes);
  /// The check of a part of so many tuples.
  std::uint32_t value(std::uint64_t tuples) const { return finish_check(tuples, polynomial_); }

 private:
  std::uint64_t polynomial_ = 0;
  std::uint64_t power_ = 1;  // of the base, for the next word
};

/// Computes the check of a part that lies in one piece.
std::uint32_t part_check(std::uint64_t tuples, const unsigned char* bytes, std::size_t num_bytes);

}  // namespace gdelta
