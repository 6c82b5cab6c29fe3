// What the bytes of a sample look like before they are taken for numbers: text, or records of some
// length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/detect/layout_cost.h"

namespace gdelta {

/// True for ASCII text with separators, such as CSV or MatrixMarket files, as far as at least two
/// stretches tell; they overlap if the sample is short.
bool looks_like_text(std::span<const std::byte> sample, Stretches stretches);

inline constexpr std::uint64_t kMostPeriod = 512;
inline constexpr std::size_t kMostPeriods = 3;

/// Lengths at which bytes repeat more often than at others, at most `longest` (up to kMostPeriod, and a
/// quarter of the sample), kMostPeriods of them at most: the record length of mixed records, and of tuples that are longer
/// than detection tries on its own. Looks at no or at least two stretches, which are longer if `longest`
/// asks for it.
std::vector<std::uint64_t> byte_periods(std::span<const std::byte> sample, Stretches stretches,
                                        std::uint64_t longest);

}  // namespace gdelta
