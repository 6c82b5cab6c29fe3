// One column of one chunk, as kernels see it once the chunk's head has been parsed and checked.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.h"

namespace gdelta::cuda {

/// How the section of a column is decoded.
enum class ColumnPath : std::uint8_t {
  none = 0,                 // nothing to do: another layout's column, or the chunk has failed
  copy = 1,                 // raw
  fill = 2,                 // constant
  page_warp = 3,            // by warps (fits_warp_path), of coders that have such kernels
  page_block = 4,           // a block a page: everything else
  page_warp_verified = 5,   // as page_warp, and the page is held against its check
  page_segments = 6,        // by warps that join segments, too (kernels/deltas/segment_pages.h)
  page_block_verified = 7,  // as page_block, and the page is held against its check
  // By blocks, each a column, that sum along strides, too (kernels/bitpack/stride_pages_cuda.h):
  page_strides = 8,
  page_strides_verified = 9,  // and hold pages against their checks
};

/// Kernels of this coder hold those of narrow tuples against their checks (page_kernels.h).
inline constexpr int kCheckedPages = 4;

// A warp takes a page of narrow tuples, all lanes at once, or a slab of one of wide tuples: as many
// neighbouring lanes as 32 bytes, a sector of memory, hold.
inline constexpr int kWarpPathGroups = 32;  // of a page of narrow tuples, all lanes together
inline constexpr int kWarpPathTuple = 4;
inline constexpr int kWidePathGroups = 8;  // of each lane of a page of wide tuples
GDELTA_HD constexpr bool is_wide(int tuple) { return tuple > kWarpPathTuple; }
/// Whether a warp takes a page with all its lanes at once.
GDELTA_HD constexpr bool is_page_of_a_warp(std::uint64_t page_groups, int tuple) {
  return !is_wide(tuple) && page_groups <= kWarpPathGroups &&
         page_groups * tuple <= kWarpPathGroups;
}
GDELTA_HD constexpr bool fits_warp_path(std::uint64_t page_groups, int tuple) {
  return is_page_of_a_warp(page_groups, tuple) ||
         (is_wide(tuple) && page_groups <= kWidePathGroups);
}
GDELTA_HD constexpr int slab_lanes(int value_bytes) {
  return value_bytes == 3 ? 8 : 32 / value_bytes;
}
/// Whether warps see whole words of what the checks of pages are made of: slabs begin and end with one, or
/// there is but one slab, and nothing beside it in the record.
GDELTA_HD constexpr bool has_whole_words(int value_bytes, int tuple, std::uint64_t record_bytes) {
  const auto tuple_bytes = static_cast<std::uint32_t>(value_bytes * tuple);
  return !is_wide(tuple) || tuple_bytes % 4 == 0 ||
         (tuple <= slab_lanes(value_bytes) && record_bytes == tuple_bytes);
}

struct TaskStride {
  std::uint32_t stride;  // in tuples
  std::uint32_t order;
};

/// This number of stride links says that the column is predicted linearly and has none.
inline constexpr std::uint8_t kLinearLinks = 255;
/// This one says that differences of the column were taken inside segments.
inline constexpr std::uint8_t kSegmentLinks = 254;

/// A column of segments has this, too. Unless it is of ColumnPath::page_segments, `ColumnTask::out` and `residuals` have
/// changed places until its segments are joined: pages leave residuals, one tuple behind the other.
struct TaskSegments {
  const unsigned char* orders;  // in the head
  unsigned char*
      residuals;  // a place for all; of ColumnPath::page_segments the heads, which are summed
};

struct ColumnTask {
  const unsigned char* section;    // readable down and up to the next multiple of 16
  const unsigned char* directory;  // u32 page ends (pack), then u32 checks of parts; any alignment
  const unsigned char* fields;     // the coder's own in the head; any alignment
  const unsigned char* orders;     // one byte a lane; null: every lane has `order`
  unsigned char* out;              // the column's first byte in the first record
  std::uint64_t section_at;        // offset of the section in the stream, for errors
  std::uint32_t records;
  std::uint32_t record_bytes;
  std::uint32_t page_groups;  // of every part; 0: one part has all (not pack)
  std::uint32_t num_pages;    // pack
  std::uint32_t state_bytes;  // at the start of every page
  std::uint32_t chunk;
  union {
    TaskStride strides[2];
    const unsigned char* linear;  // fields of linear prediction in the head
    TaskSegments segments;
  };
  std::uint8_t num_strides;
  std::uint8_t value_bytes;
  std::uint8_t tuple;
  std::uint8_t order;
  std::uint8_t map;    // value_maps.h
  std::uint8_t coder;  // its number in the format (page_kernels.h)
  bool big_endian;
  ColumnPath path;

  GDELTA_HD const unsigned char* part_checks() const { return directory + 4 * num_pages; }
  /// Whether pages leave plain words, for passes behind them.
  GDELTA_HD bool is_finished_later() const { return num_strides > 0; }
  GDELTA_HD bool is_linear() const { return num_strides == kLinearLinks; }
  GDELTA_HD bool is_segmented() const { return num_strides == kSegmentLinks; }
  /// Whether stride and maps are undone where pages are decoded.
  GDELTA_HD bool is_summed_by_block() const {
    return path == ColumnPath::page_strides || path == ColumnPath::page_strides_verified;
  }
  GDELTA_HD bool has_link(int link) const {
    return num_strides < kSegmentLinks && link < num_strides;
  }
  /// Bytes between neighbouring tuples of the column would be these if it were alone.
  GDELTA_HD std::uint32_t tuple_bytes() const {
    return static_cast<std::uint32_t>(value_bytes) * tuple;
  }
};

// Warps keep three of them: kernels are tuned to the shared memory that this takes.
static_assert(sizeof(ColumnTask) == 96);

}  // namespace gdelta::cuda
