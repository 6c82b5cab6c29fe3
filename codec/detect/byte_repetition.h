// Whether bytes repeat wherever they stand, as those of programs do, more than the values that they may be cut into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/detect/layout_cost.h"
#include "gdelta/types.h"

namespace gdelta {

/// Whether zstd makes the sample's bytes clearly shorter than its values by that column, and shorter than packed values of
/// `packed_cost` (as layout_cost has it) by so much that it is tried on numbers at all. Looks at no stretches or at some.
bool bytes_repeat_more(std::span<const std::byte> sample, const Column& column,
                       std::uint64_t packed_cost, Stretches stretches);

}  // namespace gdelta
