// Distances at which a column resembles itself: the rows of an image, the frames of a simulation,
// the turns of a lidar. Where nobody says that they are there, they are looked for.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/coders/residual_source.h"
#include "codec/coders/work.h"
#include "codec/plan/encode_settings.h"
#include "codec/plan/levels.h"

namespace gdelta {

/// Strides that a column is tried with before others are looked for, in tuples; 0: none.
struct TriedStrides {
  std::uint64_t stride = 0;  ///< or kFindStride
  std::uint64_t other = 0;   ///< that is taken if it saves more
};

/// The one that is asked for. Levels that look for none by themselves take rows and planes of the array, if its head tells them
/// (for others these are two of the candidates).
TriedStrides strides_tried_first(const EncodeSettings& settings);

/// Candidate strides of a lane, most promising first, at most eight; each from 2 up to the longest.
/// Looks at |x[i] - x[i - P]| for sampled i and every P up to the longest, of the values and of their
/// differences.
std::vector<std::uint32_t> find_strides(const ResidualSource& source, int lane,
                                        const StridePolicy& policy, Work* work = nullptr);

}  // namespace gdelta
