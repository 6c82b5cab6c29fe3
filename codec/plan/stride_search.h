// Distances at which a column resembles itself: the rows of an image, the frames of a simulation,
// the turns of a lidar. Nobody says that they are there; they are looked for.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/coders/residual_source.h"
#include "codec/coders/work.h"
#include "codec/plan/levels.h"

namespace gdelta {

/// Candidate strides of a lane, most promising first, at most eight; each from 2 up to the longest.
/// Looks at |x[i] - x[i - P]| for sampled i and every P up to the longest, of the values and of their
/// differences.
std::vector<std::uint32_t> find_strides(const ResidualSource& source, int lane,
                                        const StridePolicy& policy, Work* work = nullptr);

}  // namespace gdelta
