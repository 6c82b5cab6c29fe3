// What lanes and columns cost once packed, from some of their groups: the measure by which planners
// compare orders and maps. Integers only, and positions that depend on lengths alone, so that host and
// device choose alike.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.h"
#include "kernels/pages/page_limits.h"

namespace gdelta {

/// The groups of a lane that a planner looks at: `count` of `groups`, spread evenly. Whole groups
/// alone, unless the lane has none; then the one it has, filled with zero residuals. `Count` is u64, or u32 where count ×
/// groups fits it: devices divide words of 64 bits by a call.
template <class Count>
struct GroupSampleOf {
  Count groups = 1;
  Count count = 1;
  /// First tuple of sampled group k.
  GDELTA_HD Count first_tuple(Count k) const { return k * groups / count * kGroupValues; }
};
using GroupSample = GroupSampleOf<std::uint64_t>;

/// `column_groups`: how many are looked at of all lanes together. A lane gets its share, but at least
/// eight.
template <class Count = std::uint64_t>
GDELTA_HD inline GroupSampleOf<Count> sample_groups(Count tuples, int tuple, Count column_groups) {
  GroupSampleOf<Count> sample;
  sample.groups = tuples < kGroupValues ? 1 : tuples / kGroupValues;
  sample.count = column_groups / static_cast<Count>(tuple);
  if (sample.count < 8) sample.count = 8;
  if (sample.count > sample.groups) sample.count = sample.groups;
  return sample;
}

/// Bits of a whole lane from those of its sampled groups, with the states at the start of its pages.
template <class Count>
GDELTA_HD inline std::uint64_t lane_cost_bits(Count sampled_bits, GroupSampleOf<Count> sample,
                                              std::uint64_t pages, int order, int value_bits) {
  const Count whole = sampled_bits / sample.count, rest = sampled_bits % sample.count;
  return static_cast<std::uint64_t>(whole) * sample.groups + rest * sample.groups / sample.count +
         pages * static_cast<std::uint64_t>(order * value_bits);
}

/// Whether packing looks smaller than the values as they are. The orders of the lanes count too,
/// which short columns may not be worth.
GDELTA_HD inline bool looks_worth_packing(std::uint64_t packed_bits, int tuple,
                                          std::uint64_t column_bytes) {
  return packed_bits + 8 * static_cast<std::uint64_t>(tuple) < 8 * column_bytes;
}

/// Whether maps in a pass of their own save as much as a second pass has to.
GDELTA_HD constexpr bool saves_a_pass(std::uint64_t bits, std::uint64_t bits_without,
                                      std::uint64_t gain_permille) {
  return bits * 1000 < bits_without * (1000 - gain_permille);
}

/// Whether a pack or zstd section is smaller than raw: a rule that the format leaves to encoders.
/// `part_bytes` are those of the page directory or the frame sizes in the head.
GDELTA_HD constexpr bool worth_keeping(std::uint64_t section_bytes, std::uint64_t part_bytes,
                                       std::uint64_t raw_bytes) {
  return section_bytes + part_bytes < raw_bytes;
}

}  // namespace gdelta
