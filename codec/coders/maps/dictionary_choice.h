// Whether a lane has so few different values that a table of them and indices may take less.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codec/coders/column_bytes.h"

namespace gdelta {

struct FewValues {
  std::vector<std::uint64_t> values;  ///< of a sample, as those of a table stand
  /// How many the whole lane has at least, about: the more of them the sample has seen once, and the fewer twice,
  /// the more it has missed (Chao 1984, "Nonparametric estimation of the number of classes in a population").
  std::uint64_t expected;
};

/// None if there are more than `most`, at least 1, or so much differs in the sample that the whole lane has hardly a table
/// worth its bytes.
std::optional<FewValues> few_values(const std::vector<std::uint64_t>& sample, std::uint64_t most,
                                    ValueType type);

/// That a table of a lane may hold.
std::uint64_t most_table_entries(std::uint64_t records);

/// The table of a lane: none if it would have more than `most` entries.
/// Complexity  one pass over the lane; it ends as soon as there are too many
std::optional<std::vector<std::uint64_t>> table_of_lane(const ColumnBytes& column, int lane,
                                                        std::uint64_t most);

}  // namespace gdelta
