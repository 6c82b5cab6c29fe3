// How a group of residuals lies in a page of the pack coder, and at which width it costs least. Spec:
// spec.md, section 6. Shared by host code and kernels, so that all encoders write the same bytes.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.h"
#include "kernels/pages/page_limits.h"

namespace gdelta {

/// One group's descriptor.
struct GroupDescriptor {
  std::uint32_t bits;
  GDELTA_HD int width() const { return bits & 0x7f; }
  GDELTA_HD int exceptions() const { return (bits >> 7) & 0x7f; }
  GDELTA_HD int high_bytes() const { return 1 << (bits >> 14); }
  GDELTA_HD int group_bytes() const { return 16 * width(); }
  GDELTA_HD int exception_bytes() const { return exceptions() * (1 + high_bytes()); }
  /// Whether a decoder for values of `value_bits` accepts it.
  GDELTA_HD bool valid(int value_bits) const {
    return width() <= value_bits && (exceptions() > 0 || (bits >> 14) == 0) &&
           (value_bits > 32 || high_bytes() <= 4);
  }
};

/// The largest high of an exception in a group of this width.
template <class Word>
GDELTA_HD inline Word largest_high(int width, int value_bits) {
  const Word all = static_cast<Word>(~Word{0}) >> (8 * static_cast<int>(sizeof(Word)) - value_bits);
  return width == 0 ? all : (all >> 1) >> (width - 1);
}

/// Whether a decoder accepts an exception at `position` behind one at `before` (-1: there is none).
/// `largest` is the largest high of its group. One on padding needs no rule of its own, since it makes the
/// padding differ from zero.
template <class Word>
GDELTA_HD inline bool valid_exception(int before, int position, Word high, Word largest) {
  return (before < position) & (position < kGroupValues) & (static_cast<Word>(high - 1) < largest);
}

inline constexpr int kDescriptorBits = 16;

GDELTA_HD inline GroupDescriptor make_descriptor(int width, int exceptions, int high_bytes) {
  const int log2 = high_bytes == 8 ? 3 : high_bytes == 4 ? 2 : high_bytes == 2 ? 1 : 0;
  return {
      static_cast<std::uint32_t>(width | (exceptions << 7) | ((exceptions > 0 ? log2 : 0) << 14))};
}

/// Bytes of what an exception has above the width.
GDELTA_HD constexpr int high_bytes_of(int high_bits) {
  return high_bits <= 8 ? 1 : high_bits <= 16 ? 2 : high_bits <= 32 ? 4 : 8;
}

/// Bits of the exceptions of a group.
GDELTA_HD constexpr int exception_bits(int exceptions, int high_bytes) {
  return 8 * exceptions * (1 + high_bytes);
}

/// Bits that an encoder takes an exception to cost beyond those that it has: what decoding one takes longer
/// (docs/pages.md, "What an exception costs").
inline constexpr int kExceptionCharge = 8;

struct GroupChoice {
  GroupDescriptor descriptor;
  std::uint32_t bits;  ///< the group takes, descriptor included
};

/// The width that costs a group the fewest bits if each exception costs `charge` of them more than it has, and what
/// comes with it. `counts[b]` is how many of its 128 residuals need exactly b bits (65 entries). Ties go to the lower
/// width, which has the fewest bits.
template <class Count>
GDELTA_HD inline GroupChoice choose_width(const Count* counts, int value_bits,
                                          int charge = kExceptionCharge) {
  int longest = value_bits;
  while (longest > 0 && counts[longest] == 0) --longest;
  int best_width = longest, best_exceptions = 0;
  int best_cost = kGroupValues * longest;
  int exceptions = 0;
  for (int width = longest - 1; width >= 0; --width) {
    exceptions += counts[width + 1];
    // At lower widths there are no fewer, and each takes two bytes or more.
    if (exceptions >= kGroupValues ||
        exception_bits(exceptions, 1) + charge * exceptions > best_cost)
      break;
    const int cost = kGroupValues * width + charge * exceptions +
                     exception_bits(exceptions, high_bytes_of(longest - width));
    if (cost <= best_cost) {
      best_cost = cost;
      best_width = width;
      best_exceptions = exceptions;
    }
  }
  const int best_high_bytes = high_bytes_of(longest - best_width);
  const int bits = best_cost - charge * best_exceptions + kDescriptorBits;
  return {make_descriptor(best_width, best_exceptions, best_high_bytes),
          static_cast<std::uint32_t>(bits)};
}

/// The fewest bits that a group can take, descriptor included: what planners compare, for other coders' sake, too.
template <class Count>
GDELTA_HD inline std::uint32_t fewest_group_bits(const Count* counts, int value_bits) {
  return choose_width(counts, value_bits, 0).bits;
}

}  // namespace gdelta
