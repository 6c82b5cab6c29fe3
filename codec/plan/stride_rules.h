// The rules by which strides are found, by hosts (stride_search.cpp, column_planner.cpp) and devices
// (codec/cuda/container/find_strides.cu) alike: where a search looks, and what is worth a closer look.
#pragma once

#include <cstdint>

#include "kernels/deltas/stride_cost.h"
#include "kernels/device/host_device.h"

namespace gdelta {

/// Of those that a search finds, by values and by differences each.
inline constexpr int kStridesOfSignal = 4;

/// Candidates are compared by orders up to this, and by few groups.
inline constexpr int kQuickOrder = 2;
GDELTA_HD constexpr std::uint64_t quick_groups(std::uint64_t column_groups) {
  constexpr std::uint64_t kMost = 32;
  return column_groups / 4 < kMost ? column_groups / 4 : kMost;
}

/// Strides that cost more than this are not looked at any closer: what the neighbour before does tells as much of a value.
GDELTA_HD constexpr std::uint32_t most_stride_cost(std::uint32_t cost_of_neighbour) {
  return cost_of_neighbour + cost_of_neighbour / 16;
}

/// Whether a better stride may lie beside one by which a column takes so many bits.
GDELTA_HD constexpr bool is_near_stride(std::uint64_t bits, std::uint64_t bits_without) {
  return bits <= bits_without + bits_without / 8;
}

/// Where a search looks for strides of a lane: windows of values, each with kStrideSamples of which every one is compared
/// with the `window` values before it.
struct StrideWindows {
  std::uint64_t window;  ///< the longest stride and one
  std::uint64_t spacing;
  std::uint64_t room;  ///< places where one may begin
  std::uint64_t count;

  /// Values of a window.
  GDELTA_HD constexpr std::uint64_t length() const { return length_of(window, spacing); }
  /// Where window k begins: scattered a little, so that a period of the sampling does not fall on one of the data.
  GDELTA_HD constexpr std::uint64_t place(std::uint64_t k) const {
    const std::uint64_t first = k * room / count, behind = (k + 1) * room / count;
    return first + k * k * 7919 % (behind - first);
  }

  /// Of so many records, which must be 12 or more, with strides from 3 up to the longest, by about so many comparisons.
  GDELTA_HD static constexpr StrideWindows of(std::uint64_t records, std::uint64_t longest,
                                              std::uint64_t comparisons) {
    constexpr std::uint64_t kFewestSamples = 64, kMostSamples = 512;
    constexpr std::uint64_t kComparisonsOfTuple = 16;
    const std::uint64_t window = longest + 1;
    const std::uint64_t samples = between(
        kFewestSamples, less(comparisons, kComparisonsOfTuple * records) / window, kMostSamples);
    const std::uint64_t spacing =
        less(most_spacing(longest), (records - window - 1) / kStrideSamples);
    const std::uint64_t room = records - length_of(window, spacing) + 1;
    return {window, spacing, room, less(samples / kStrideSamples, room)};
  }
  /// The longest window of such a search.
  GDELTA_HD static constexpr std::uint64_t most_length(std::uint64_t longest) {
    return length_of(longest + 1, most_spacing(longest));
  }

 private:
  /// Samples are as far from each other, or by this part of the longest stride: near enough to share a window, too far to
  /// say the same.
  GDELTA_HD static constexpr std::uint64_t most_spacing(std::uint64_t longest) {
    constexpr std::uint64_t kSpacing = 997, kSpacingShare = 8;
    return less(kSpacing, longest / kSpacingShare | 1);
  }
  GDELTA_HD static constexpr std::uint64_t less(std::uint64_t a, std::uint64_t b) {
    return a < b ? a : b;
  }
  GDELTA_HD static constexpr std::uint64_t between(std::uint64_t least, std::uint64_t value,
                                                   std::uint64_t most) {
    return value < least ? least : less(value, most);
  }
  GDELTA_HD static constexpr std::uint64_t length_of(std::uint64_t window, std::uint64_t spacing) {
    return window + 1 + (kStrideSamples - 1) * spacing;
  }
};

}  // namespace gdelta
