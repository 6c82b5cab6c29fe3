// Whether values that may be floats have exponents such as measured numbers have.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "codec/detect/layout_cost.h"
#include "gdelta/types.h"

namespace gdelta {

/// Whether nearly all values of four or eight bytes, cut so, have the exponent of a number between
/// 1e-12 and 1e9 (f32) or 1e-30 and 1e30 (f64). Integers fail this: their upper bits are all zeros
/// or all ones. Looks at about `most` values.
bool looks_like_floats(std::span<const std::byte> sample, const Cut& cut, std::uint64_t most);

/// f16 or bf16 if values of two bytes, cut so, look like one of them. In two bytes only signs
/// tell: lanes with values of both signs, but hardly any whose upper bits are those of small
/// integers.
std::optional<ValueType> short_float_type(std::span<const std::byte> sample, const Cut& cut,
                                          std::uint64_t most);

}  // namespace gdelta
