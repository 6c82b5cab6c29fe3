// The order of each lane under coders of symbols: what the classes of sampled residuals and their offsets
// would take at every order.
#pragma once

#include <optional>

#include "codec/plan/lane_orders.h"

namespace gdelta {

/// Chooses as choose_orders of lane_orders.h does, from the same groups. `highest`: the order up to which each lane is
/// looked at.
LaneOrders choose_symbol_orders(const ResidualSource& source, std::optional<int> asked,
                                const std::uint8_t* highest, std::uint64_t column_groups,
                                Workers& workers, Work* work = nullptr);

}  // namespace gdelta
