// Where segments end, put together from the lengths that chunks say.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/gdelta/chunk_head.h"

namespace gdelta {

class SegmentEnds {
 public:
  /// A chunk that says its segments: `lengths` are all of them.
  void add(std::span<const std::uint32_t> lengths, const format::SegmentsHead& segments) {
    const std::size_t whole = lengths.size() - (segments.goes_on() ? 1 : 0);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      records_ += lengths[i];
      if (i < whole) ends_.push_back(records_);
    }
  }
  /// Those that have become known, in records from the first one on.
  std::span<const std::uint64_t> ends() const { return ends_; }
  void clear() { ends_.clear(); }

 private:
  std::uint64_t records_ = 0;
  std::vector<std::uint64_t> ends_;
};

}  // namespace gdelta
