// Delta encoding of any order in one pass: out[i] = sum over m of (-1)^m C(q, m) in[i - m * tuple],
// with zeros before the start and arithmetic mod 2^w. The inverse of a scan of the same order and
// tuple.
#pragma once

#include <cstdint>

#include "kernels/delta/lane_delta.h"

namespace gdelta {

/// (-1)^m C(order, m) for m = 0 ... order, mod 2^64; narrower types use the low bits.
struct DeltaCoefficients {
  std::uint64_t c[kMaxDeltaOrder + 1];
};

constexpr DeltaCoefficients delta_coefficients(int order) {
  DeltaCoefficients coefficients{};
  std::uint64_t binomial = 1;
  for (int m = 0; m <= order; ++m) {
    coefficients.c[m] = m % 2 == 0 ? binomial : std::uint64_t{0} - binomial;
    binomial = binomial * static_cast<std::uint64_t>(order - m) / static_cast<std::uint64_t>(m + 1);
  }
  return coefficients;
}

/// Shapes      in, out [count] of unsigned or signed integers of `value_bytes` (1, 2, 4 or 8),
///             disjoint
/// Requires    order 0 ... kMaxDeltaOrder, tuple 1 or more; cannot fail
/// Complexity  one read and one write of the data, order + 1 multiply-adds a value
void delta_encode(int value_bytes, int order, std::uint64_t tuple, std::uint64_t count,
                  const void* in, void* out);

}  // namespace gdelta
