// Which segments, or parts of them, a chunk of an array has, if it is known beforehand where all begin.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gdelta {

/// Records [begin, end) of an array, and the segments that they are of.
struct SegmentRange {
  /// Where these segments begin, and the last one ends. Empty: there are no segments.
  std::span<const std::uint64_t> offsets;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  bool empty() const { return offsets.empty(); }
  std::uint64_t records() const { return end - begin; }
  std::uint64_t num_lengths() const { return empty() ? 0 : offsets.size() - 1; }
  bool continues() const { return begin > offsets.front(); }
  bool goes_on() const { return end < offsets.back(); }
  /// How many records of each segment there are.
  std::vector<std::uint32_t> lengths() const;
};

/// The first range of those that begin with record `begin`, of a chunk of at most so many records and
/// lengths. Chunks are those of a SegmentWriter.
/// Shapes      offsets: of all segments that have not ended before `begin`, as check_offsets wants them
SegmentRange first_range(std::span<const std::uint64_t> offsets, std::uint64_t begin,
                         std::uint64_t most_records, std::uint64_t most_lengths);

}  // namespace gdelta
