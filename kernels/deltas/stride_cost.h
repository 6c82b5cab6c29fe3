// How much values resemble those before them: the measure by which strides are found. Cannot fail.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/device/host_device.h"

namespace gdelta {

/// The bits of a difference, whatever its sign; 0 of none. They come from the exponent of a float: one instruction of a vector
/// unit, and exact enough to rank. A value just below a power of two counts as one bit more, on every machine.
GDELTA_HD inline std::uint32_t stride_cost_of(std::uint32_t difference) {
  const auto number = static_cast<float>(static_cast<std::int32_t>(difference));
  const auto exponent =
      static_cast<std::int32_t>((std::bit_cast<std::uint32_t>(number) >> 23) & 0xff);
  return static_cast<std::uint32_t>(exponent > 126 ? exponent - 126 : 0);
}

/// So many values of a stretch are compared with those before them at once.
inline constexpr int kStrideSamples = 4;

/// Sample j is words[j × spacing + count]. For each of them and k < count, costs[k] grows by the bits of
/// |sample - words[j × spacing + k]|, and for 0 < k < count difference_costs[k] by those of what
/// both grow by from the word before, compared likewise.
/// Reads words[0 .. (kStrideSamples - 1) × spacing + count]
void add_stride_costs(const std::uint32_t* words, std::size_t count, std::size_t spacing,
                      std::uint32_t* costs, std::uint32_t* difference_costs);

}  // namespace gdelta
