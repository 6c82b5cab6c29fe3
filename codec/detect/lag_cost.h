// What values of a width cost in tuples of several lengths, by a look so short that all of them can
// be looked at: it leaves a few that layout_cost weighs.
#pragma once

#include <cstdint>
#include <span>

#include "codec/detect/layout_cost.h"

namespace gdelta {

/// Sets costs[i] for tuples of tuples[i] to 1/65536 bits for each byte of values of so many bytes: the average of the
/// residuals at order 0 or, if that is less, of the differences of values so many places apart. Lanes
/// and groups make no difference. kUnknownCost if the sample holds too little to tell. All integers.
void lag_costs(std::span<const std::byte> sample, int bytes, bool big_endian, Stretches stretches,
               std::span<const std::uint8_t> tuples, std::span<std::uint64_t> costs);

}  // namespace gdelta
