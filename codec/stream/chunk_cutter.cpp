#include "codec/stream/chunk_cutter.h"

#include <algorithm>

#include "codec/chunk/chunk_sizes.h"

namespace gdelta {

void ChunkCutter::extend(const InputPart& part) {
  opaque_left_ += std::min(part.head_bytes, InputPart::kToTheEnd - opaque_left_);
  record_bytes_ = part.record_bytes;
  data_left_ = part.data_bytes - part.data_bytes % record_bytes_;
  offsets_left_ = part.offsets;
  range_ = range_at(offsets_left_, 0);
}

SegmentRange ChunkCutter::range_at(std::span<const std::uint64_t> offsets,
                                   std::uint64_t record) const {
  return first_range(offsets, record, records_per_chunk(chunk_bytes_, record_bytes_),
                     lengths_per_chunk(chunk_bytes_));
}

ChunkExtent ChunkCutter::next() const {
  if (opaque_left_ > 0 || (data_left_ == 0 && !has_segments()))
    return {true, std::min(opaque_left_, chunk_bytes_)};
  if (has_segments()) return {false, range_.records() * record_bytes_, range_};
  return {false,
          std::min(data_left_, records_per_chunk(chunk_bytes_, record_bytes_) * record_bytes_)};
}

std::uint64_t ChunkCutter::known_bytes(std::uint64_t limit, std::uint64_t most_chunks) const {
  const ChunkExtent first = next();
  if (has_segments() || first.bytes == 0) return first.bytes;
  const std::uint64_t chunks = std::clamp<std::uint64_t>(limit / first.bytes, 1, most_chunks);
  // Opaque bytes that are no whole chunk may be one with what follows.
  if (first.opaque)
    return std::min(chunks, std::max<std::uint64_t>(opaque_left_ / first.bytes, 1)) * first.bytes;
  return std::min(data_left_, chunks * first.bytes);
}

ChunkExtent ChunkCutter::cut_segments() {
  const ChunkExtent whole = next();
  data_left_ -= whole.bytes;
  const std::uint64_t ended = range_.num_lengths() - (range_.goes_on() ? 1 : 0);
  offsets_left_ = offsets_left_.subspan(static_cast<std::size_t>(ended));
  range_ = range_at(offsets_left_, range_.end);
  return whole;
}

ChunkExtents ChunkCutter::cut(std::uint64_t bytes) {
  if (opaque_left_ > 0) {
    opaque_left_ -= bytes;
    return {{true, bytes}, {}};
  }
  if (has_segments()) return {cut_segments(), {}};
  const std::uint64_t torn = bytes % record_bytes_;
  const std::uint64_t whole = bytes - torn;
  data_left_ -= whole;
  if (torn == 0) return {{false, whole}, {}};
  data_left_ -= record_bytes_;
  opaque_left_ = record_bytes_ - torn;
  if (whole == 0) return {{true, torn}, {}};
  return {{false, whole}, {true, torn}};
}

}  // namespace gdelta
