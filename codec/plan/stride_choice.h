// The strides that suit a column best, by what it would take packed.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/coders/residual_source.h"
#include "codec/coders/work.h"
#include "codec/coders/workers.h"
#include "codec/plan/encode_settings.h"

namespace gdelta {

struct StridedFront {
  format::Front front;
  std::uint64_t bits = 0;  ///< that it is expected to take
};

/// Adds those that save enough to a front without strides, by what the level looks at.
void choose_strides(const ColumnBytes& column, const EncodeSettings& settings, Workers& workers,
                    StridedFront& chosen, Work* work = nullptr);

/// What lower levels that look for strides choose, best map and orders included, and its first stride alone, where those are
/// other ones than `chosen` has, each once: they look at less, and may find what suits coders that do not pack.
std::vector<format::Front> strided_fronts_of_lower_levels(const ColumnBytes& column,
                                                          const EncodeSettings& settings,
                                                          Workers& workers,
                                                          const format::Front& chosen);

}  // namespace gdelta
