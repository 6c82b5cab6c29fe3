// The checks of a column's parts, over values that stand in records. Spec: spec.md, section 7.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/coders/column_bytes.h"
#include "codec/coders/workers.h"
#include "formats/gdelta/model.h"

namespace gdelta {

/// The check of part `part` of a column that is coded so.
/// Complexity  one pass over the part
std::uint32_t check_of_part(const ColumnBytes& column, const format::Section& section,
                            std::uint64_t part);

/// The checks of all parts, in order.
std::vector<std::uint32_t> checks_of_parts(const ColumnBytes& column,
                                           const format::Section& section, Workers& workers);

}  // namespace gdelta
