#include "codec/stream/segment_range.h"

#include <algorithm>

namespace gdelta {

std::vector<std::uint32_t> SegmentRange::lengths() const {
  std::vector<std::uint32_t> all(static_cast<std::size_t>(num_lengths()));
  for (std::size_t k = 0; k < all.size(); ++k)
    all[k] = static_cast<std::uint32_t>(offsets[k + 1] - offsets[k]);
  if (all.empty()) return all;
  // The records may begin and end inside a segment.
  for (const std::size_t k : {std::size_t{0}, all.size() - 1})
    all[k] =
        static_cast<std::uint32_t>(std::min(offsets[k + 1], end) - std::max(offsets[k], begin));
  return all;
}

SegmentRange first_range(std::span<const std::uint64_t> offsets, std::uint64_t begin,
                         std::uint64_t most_records, std::uint64_t most_lengths) {
  if (offsets.size() < 2) return {};
  const auto most =
      static_cast<std::size_t>(std::min<std::uint64_t>(offsets.size() - 1, most_lengths));
  const std::span<const std::uint64_t> ends = offsets.subspan(1, most);
  const std::uint64_t most_end = begin + most_records;
  const auto first_beyond = std::upper_bound(ends.begin(), ends.end(), most_end);
  auto count = static_cast<std::size_t>(first_beyond - ends.begin());
  std::uint64_t end = offsets[count] > begin ? offsets[count] : begin;
  if (count < most && end < most_end) {  // a part of one more
    ++count;
    end = most_end;
  }
  return {.offsets = offsets.first(count + 1), .begin = begin, .end = end};
}

}  // namespace gdelta
