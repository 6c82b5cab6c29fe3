// The order of each lane under coders of symbols: what the classes of sampled residuals and their offsets
// would take at every order.
#pragma once

#include <cstdint>
#include <optional>

#include "codec/plan/lane_orders.h"

namespace gdelta {

/// How residuals of one byte are counted: like all others, as devices do, or each value by itself, too, as text wants it.
enum class ByteSymbols : std::uint8_t { classes, one_by_one };

/// Chooses as choose_orders of lane_orders.h does, from the same groups. `highest`: the order up to which each lane is
/// looked at.
LaneOrders choose_symbol_orders(const ResidualSource& source, std::optional<int> asked,
                                const std::uint8_t* highest, std::uint64_t column_groups,
                                ByteSymbols byte_symbols, Workers& workers, Work* work = nullptr);

}  // namespace gdelta
