// Sums over a long stride, in place on packed little-endian values: what undoes a stride link. Spec:
// spec.md, section 5. Cannot fail.
//
// values       [num_values] of value_bytes each (1, 2, 3, 4 or 8), any alignment
// distance     in values (stride × tuple), ≥ 1; the values before the first are zero
#pragma once

#include <cstddef>

namespace gdelta {

/// values[j] += values[j - distance], `order` times.
void sum_stride(unsigned char* values, std::size_t num_values, int value_bytes,
                std::size_t distance, int order);

}  // namespace gdelta
