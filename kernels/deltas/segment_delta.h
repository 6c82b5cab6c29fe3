// Differences inside segments of uneven lengths, and their sums, over packed little-endian tuples. Spec:
// predictors/segments.md. Cannot fail.
//
// values       [num_tuples][tuple] of value_bytes each (1, 2, 3, 4 or 8), any alignment
// residuals    as many: the heads (the first tuple of each segment that has one), then all other tuples
// lengths      they add up to num_tuples; zero is a length
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gdelta {

struct SegmentDelta {
  std::span<const std::uint32_t> lengths;
  int tuple = 1;
  int value_bytes = 1;
  const std::uint8_t* orders = nullptr;  // [tuple]: inside segments, 0 to 8
  int head_order = 0;                    // along the heads, 0 to 8

  std::size_t heads() const;
};

/// Takes the differences.
void split_segments(const SegmentDelta& delta, const unsigned char* values,
                    unsigned char* residuals);

/// Undoes it.
void join_segments(const SegmentDelta& delta, const unsigned char* residuals,
                   unsigned char* values);

}  // namespace gdelta
