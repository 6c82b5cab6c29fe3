// How much a value resembles those before it: the measure by which strides are found. Cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdelta {

/// costs[k] += bits of |value - before[k]|, 0 if they are equal, for k < count.
void add_stride_costs(std::uint32_t value, const std::uint32_t* before, std::size_t count,
                      std::uint32_t* costs);

}  // namespace gdelta
