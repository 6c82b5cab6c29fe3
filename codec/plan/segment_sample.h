// What some stretches of a column say of differences inside its segments, before all of it is looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "codec/coders/column_bytes.h"
#include "formats/gdelta/model.h"

namespace gdelta {

/// Bits of packed groups, of the whole column.
struct SampledSegmentBits {
  std::uint64_t
      inside;  ///< less differences inside segments and along their heads, at the orders of which the sample takes least
  std::uint64_t without;  ///< as `front` has it
};

/// `front`: deltas along lanes, whose map is that of both; `lengths` are those of the column's segments; orders inside up to
/// `highest`. Nothing of a column that is so short that a sample would be much of it.
std::optional<SampledSegmentBits> sample_segment_bits(const ColumnBytes& column,
                                                      const format::Front& front, ValueMap map,
                                                      std::span<const std::uint32_t> lengths,
                                                      int highest);

}  // namespace gdelta
