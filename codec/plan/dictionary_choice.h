// Whether a lane has so few different values that a table of them and indices may take less.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codec/coders/column_bytes.h"

namespace gdelta {

/// What differs in a sample, as the values of a table stand. None if so much does that the whole lane
/// has hardly a table worth its bytes.
std::optional<std::vector<std::uint64_t>> few_values(const std::vector<std::uint64_t>& sample,
                                                     ValueType type);

/// The table of a lane: none if it has more values than a table may hold.
/// Complexity  one pass over the lane; it ends as soon as there are too many
std::optional<std::vector<std::uint64_t>> table_of_lane(const ColumnBytes& column, int lane);

}  // namespace gdelta
