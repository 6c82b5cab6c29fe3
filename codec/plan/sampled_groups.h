// The groups of a lane that a planner looks at.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "codec/coders/residual_source.h"
#include "kernels/bitpack/order_cost.h"

namespace gdelta {

/// Words of a whole sampled group, with the history that it has.
inline constexpr std::size_t kHistoryAndGroup = kMaxOrder + kGroupValues;

/// Calls function(words, count) for sampled groups [begin, end): kMaxOrder values before the group, then
/// `count` of it, which it may destroy.
template <class Word, class Function>
void for_sampled_groups(const ResidualSource& source, int lane, const GroupSample& sample,
                        std::uint64_t begin, std::uint64_t end, const Function& function) {
  for (std::uint64_t k = begin; k < end; ++k) {
    Word words[kMaxOrder + kGroupValues];
    const std::uint64_t first = sample.first_tuple(k);
    const std::uint64_t count = std::min<std::uint64_t>(kGroupValues, source.records() - first);
    source.values_with_history(lane, first, count, kMaxOrder, History::first_value, words);
    function(words, count);
  }
}

}  // namespace gdelta
