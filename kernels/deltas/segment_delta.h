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
#include <vector>

namespace gdelta {

/// States of the deltas before the first residual of each page: of a lane y1, y2, ..., as many as its order inside segments
/// or, where the page begins with a head, as that along heads.
struct SegmentStates {
  std::size_t page_tuples = 0;  // of each page but the last; 0: there are no states
  int of_lane = 0;              // as many as the highest order
  const unsigned char* words =
      nullptr;  // [pages][tuple][of_lane] of value_bytes each, little-endian
};

struct SegmentDelta {
  std::span<const std::uint32_t> lengths;
  int tuple = 1;
  int value_bytes = 1;
  const std::uint8_t* orders = nullptr;  // [tuple]: inside segments, 0 to 8
  int head_order = 0;                    // along the heads, 0 to 8
  SegmentStates states = {};  // taken where sums come to a page, but where a segment begins with it

  std::size_t heads() const;
};

/// Takes the differences.
void split_segments(const SegmentDelta& delta, const unsigned char* values,
                    unsigned char* residuals);

/// The states of pages of so many tuples each, as SegmentStates has them. `of_lane` is at least the highest order.
std::vector<unsigned char> segment_states(const SegmentDelta& delta, const unsigned char* values,
                                          std::size_t page_tuples, int of_lane);

/// Segments that follow each other, and what stands before the first of them.
struct SegmentStretch {
  std::span<const std::uint32_t> lengths;
  std::size_t first_tuple = 0;
  std::size_t first_head = 0;  // segments before it that have a head
  std::size_t all_heads = 0;   // of all segments, not of these alone
};

/// Cuts all segments into at most `most` stretches of about as many tuples each; at least one.
std::vector<SegmentStretch> segment_stretches(const SegmentDelta& delta, std::size_t tuples,
                                              std::size_t most);

/// Undoes it in two steps: sums along all heads, which become values in their place, and then a stretch of
/// segments. Those of different stretches may be joined at once.
void join_heads(const SegmentDelta& delta, unsigned char* residuals);
void join_stretch(const SegmentDelta& delta, const SegmentStretch& stretch,
                  const unsigned char* residuals, unsigned char* values);

}  // namespace gdelta
