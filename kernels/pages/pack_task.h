// One column of one chunk that is to be packed, as kernels see it.
#pragma once

#include <cstdint>

#include "kernels/pages/column_task.h"
#include "kernels/pages/page_limits.h"

namespace gdelta::cuda {

inline constexpr int kUnitGroups = 32;
/// Of wide tuples whose pages are short a unit has as many neighbouring lanes at most: a strip.
inline constexpr int kStripLanes = kUnitGroups / kWidePathGroups;

struct PackTask {
  const unsigned char* values;  // the column's first byte in the first record
  /// If `values` are words behind maps in a pass of their own: the values themselves. Else null.
  const unsigned char* source;
  std::uint32_t records;  // >= 1
  std::uint32_t record_bytes;
  std::uint32_t page_groups;
  std::uint32_t num_pages;
  std::uint32_t page_units;   // of a page; the last page may leave some empty, but no strips
  std::uint32_t first_page;   // pages of the tasks before
  std::uint32_t state_bytes;  // at the start of every page
  std::uint32_t map_bytes;    // that the head has of such maps,
  std::uint32_t step_bytes;   // and of steps; 0: there are none
  std::uint32_t table_bytes;  // of dictionaries, behind the section
  std::uint64_t first_value;  // values of the tasks before
  TaskStride strides[2];
  std::uint8_t num_strides;
  std::uint8_t value_bytes;
  std::uint8_t tuple;
  std::uint8_t map;  // value_maps.h
  bool big_endian;
  bool planned_raw;  // nothing is looked at
  std::uint8_t orders[kMaxLanes];
  /// Of narrow tuples: lane l is packed less lane sources[l] - 1 (lane_steps.h), which is an earlier one; if 0 as it is.
  std::uint8_t sources[kWarpPathTuple];

  GDELTA_HD bool is_mapped() const { return source != nullptr; }
  GDELTA_HD bool has_steps() const { return step_bytes > 0; }
  /// What decoding gives, `record_bytes` apart.
  GDELTA_HD const unsigned char* decoded() const { return is_mapped() ? source : values; }
  GDELTA_HD std::uint64_t raw_bytes() const {
    return static_cast<std::uint64_t>(records) * value_bytes * tuple;
  }
  template <class Lane>
  GDELTA_HD int order_of(Lane lane) const {
    return orders[lane];
  }

  /// Whether units are strips.
  static GDELTA_HD bool has_strips(std::uint32_t page_groups, int tuple) {
    return is_wide(tuple) && page_groups <= kWidePathGroups;
  }
  GDELTA_HD bool has_strips() const { return has_strips(page_groups, tuple); }
  /// Units of a page of so many groups a lane, in a chunk of so many.
  static GDELTA_HD std::uint32_t units(std::uint32_t page_groups, std::uint32_t chunk_groups,
                                       int tuple) {
    if (has_strips(page_groups, tuple)) return (tuple + kStripLanes - 1) / kStripLanes;
    const std::uint32_t groups = page_groups < chunk_groups ? page_groups : chunk_groups;
    return (groups * tuple + kUnitGroups - 1) / kUnitGroups;
  }
};

}  // namespace gdelta::cuda
