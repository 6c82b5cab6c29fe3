#include "codec/stream/segment_cutter.h"

#include <algorithm>
#include <utility>

#include "codec/chunk/chunk_sizes.h"

namespace gdelta {

SegmentCutter::SegmentCutter(std::uint64_t chunk_bytes, std::uint64_t record_bytes)
    : chunk_bytes_(records_per_chunk(chunk_bytes, record_bytes) * record_bytes),
      record_bytes_(record_bytes),
      most_lengths_(lengths_per_chunk(chunk_bytes)) {}

std::size_t SegmentCutter::write(std::span<const std::byte> values) {
  if (!open_here_ && !has_room_for_length()) return 0;
  const std::size_t room = static_cast<std::size_t>(chunk_bytes_) - chunk_.values.size();
  const std::size_t count = std::min(values.size(), room);
  if (count == 0) return 0;
  chunk_.values.insert(chunk_.values.end(), values.begin(), values.begin() + count);
  open_ = open_here_ = true;
  open_records_ += count / record_bytes_;
  return count;
}

SegmentCutter::WholeSegments SegmentCutter::write_whole(std::span<const std::uint64_t> lengths,
                                                        std::span<const std::byte> values) {
  if (open_) return {0, 0};
  const std::uint64_t room =
      std::min<std::uint64_t>(chunk_bytes_ - chunk_.values.size(), values.size()) / record_bytes_;
  const std::size_t most =
      std::min<std::uint64_t>(lengths.size(), most_lengths_ - chunk_.lengths.size());
  std::size_t count = 0;
  std::uint64_t records = 0;
  for (; count < most && lengths[count] <= room - records; ++count) records += lengths[count];
  chunk_.lengths.insert(chunk_.lengths.end(), lengths.begin(),
                        lengths.begin() + static_cast<std::ptrdiff_t>(count));
  const auto taken = values.first(static_cast<std::size_t>(records * record_bytes_));
  chunk_.values.insert(chunk_.values.end(), taken.begin(), taken.end());
  return {count, taken.size()};
}

bool SegmentCutter::end_segment() {
  if (!open_here_ && !has_room_for_length()) return false;
  chunk_.lengths.push_back(static_cast<std::uint32_t>(std::exchange(open_records_, 0)));
  open_ = open_here_ = false;
  return true;
}

SegmentChunk SegmentCutter::take_chunk() {
  const bool goes_on = open_;
  if (goes_on) end_segment();
  chunk_.goes_on = open_ = goes_on;
  SegmentChunk whole = std::exchange(chunk_, {});
  chunk_.continues = goes_on;
  return whole;
}

}  // namespace gdelta
