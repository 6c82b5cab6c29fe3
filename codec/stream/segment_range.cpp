#include "codec/stream/segment_range.h"

#include <algorithm>

namespace gdelta {

std::vector<std::uint32_t> SegmentRange::lengths() const {
  std::vector<std::uint32_t> all;
  all.reserve(static_cast<std::size_t>(num_lengths()));
  for (std::size_t k = 1; k < offsets.size(); ++k)
    all.push_back(
        static_cast<std::uint32_t>(std::min(offsets[k], end) - std::max(offsets[k - 1], begin)));
  return all;
}

SegmentRange first_range(std::span<const std::uint64_t> offsets, std::uint64_t begin,
                         std::uint64_t most_records, std::uint64_t most_lengths) {
  if (offsets.size() < 2) return {};
  std::uint64_t end = begin;
  std::size_t count = 0;
  while (count + 1 < offsets.size() && count < most_lengths) {
    const std::uint64_t segment_end = offsets[count + 1];
    const std::uint64_t room = most_records - (end - begin);
    if (room == 0 && segment_end > end) break;
    ++count;
    if (segment_end - end > room) {
      end += room;
      break;
    }
    end = segment_end;
  }
  return {.offsets = offsets.first(count + 1), .begin = begin, .end = end};
}

}  // namespace gdelta
