// How much of a sample repeats what stands before it: what dictionary coders live from and coders of
// symbols do not see.
#pragma once

#include <cstdint>
#include <span>

#include "codec/coders/work.h"

namespace gdelta {

/// How many values of `bytes` lie in sequences of `length` values that have occurred before, about: a table
/// of limited size knows where. The lowest `skipped_bits` of values do not count.
/// Complexity  a few nanoseconds a value, whatever the length
std::uint64_t repeated_values(std::span<const unsigned char> bytes, int value_bytes,
                              int skipped_bits, std::uint64_t length, Work* work = nullptr);

}  // namespace gdelta
