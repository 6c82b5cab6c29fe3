// Whether values that may be floats have exponents such as measured numbers have.
#pragma once

#include <cstddef>
#include <span>

#include "codec/layout_cost.h"

namespace gdelta {

/// True where nearly all values, cut so, have the exponent of a number between 1e-12 and 1e9 (f32,
/// bf16) or 1e-30 and 1e30 (f64). Integers fail this: their upper bits are all zeros or all ones.
bool looks_like_floats(std::span<const std::byte> sample, const Cut& cut);

}  // namespace gdelta
