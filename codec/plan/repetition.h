// How much of a sample repeats what stands before it: what dictionary coders live from and coders of
// symbols do not see.
#pragma once

#include <cstdint>
#include <span>

#include "codec/coders/work.h"

namespace gdelta {

inline constexpr std::uint64_t kLongestRepetition = 32;

struct Repetition {
  int skipped_bits;      ///< the lowest of a value, which do not count
  std::uint64_t length;  ///< of a sequence, in values, up to kLongestRepetition
};

/// Whether `fewest` values of `bytes` or more lie in such sequences that have occurred before, about: a table of limited
/// size knows where.
/// Complexity  a few nanoseconds a value, whatever the length; ends when the answer is known
bool repeats(std::span<const unsigned char> bytes, int value_bytes, const Repetition& looked_for,
             std::uint64_t fewest, Work* work = nullptr);

}  // namespace gdelta
