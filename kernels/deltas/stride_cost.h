// How much values resemble those before them: the measure by which strides are found. Cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdelta {

/// So many values of a stretch are compared with those before them at once.
inline constexpr int kStrideSamples = 4;

/// Sample j is words[j × spacing + count]. For each of them and k < count, costs[k] grows by the bits of
/// |sample - words[j × spacing + k]|, 0 if they are equal, and for 0 < k < count difference_costs[k] by those of what
/// both grow by from the word before, compared likewise.
/// Reads words[0 .. (kStrideSamples - 1) × spacing + count]
void add_stride_costs(const std::uint32_t* words, std::size_t count, std::size_t spacing,
                      std::uint32_t* costs, std::uint32_t* difference_costs);

}  // namespace gdelta
