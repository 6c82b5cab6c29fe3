// A grid for columns side by side, each cut into slices.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

namespace gdelta::device {

inline constexpr std::uint64_t kSliceBytes = 4096;  ///< that are worth a block: few words a thread

/// Columns in x, of which a block takes one at a time; slices of each in y: `most_slices` for all columns together, and
/// none that would be left without bytes if the longest column had eight times what the others have.
/// `bytes`   of all columns together, at most
inline dim3 column_grid(std::uint32_t num_columns, std::uint32_t most_columns,
                        std::uint32_t most_slices, std::uint64_t bytes) {
  constexpr std::uint64_t kUneven = 8;
  const std::uint64_t longest = bytes / num_columns * kUneven;
  const std::uint64_t filled = std::min(longest, bytes) / kSliceBytes + 1;
  const std::uint64_t slices = std::max(most_slices / num_columns, 1u);
  return {std::min(num_columns, most_columns),
          static_cast<unsigned>(std::min<std::uint64_t>(slices, filled))};
}

}  // namespace gdelta::device
