#include "codec/stream/chunk_cutter.h"

#include <algorithm>

namespace gdelta {

void ChunkCutter::extend(const InputPart& part) {
  opaque_left_ += std::min(part.head_bytes, InputPart::kToTheEnd - opaque_left_);
  record_bytes_ = part.record_bytes;
  data_left_ = part.data_bytes - part.data_bytes % record_bytes_;
}

ChunkExtent ChunkCutter::next() const {
  if (opaque_left_ > 0 || data_left_ == 0) return {true, std::min(opaque_left_, chunk_bytes_)};
  return {false,
          std::min(data_left_, records_per_chunk(chunk_bytes_, record_bytes_) * record_bytes_)};
}

ChunkExtents ChunkCutter::cut(std::uint64_t bytes) {
  if (opaque_left_ > 0) {
    opaque_left_ -= bytes;
    return {{true, bytes}, {}};
  }
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
