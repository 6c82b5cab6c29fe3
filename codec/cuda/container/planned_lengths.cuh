// How many residuals of a group need how many bits, for a planner, which weighs many groups: a row each, in which a
// word counts a length. Adding one to it is an instruction that takes the threads with the same length together.
#pragma once

#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/length_counts.cuh"

namespace gdelta::cuda {

/// Each warp has one, in shared memory. What is asked of LengthCounts, and rows are cleared once they have been weighed.
template <class Word>
struct PlannedLengths : LengthCounts<Word> {
  __device__ void clear_row(int /*row*/) {}  // the next group fills it
};

template <>
struct PlannedLengths<std::uint32_t> {
  static constexpr int kRowWords = 33;  // odd, so that threads with a row each never meet in a bank
  std::uint32_t rows[kUnitGroups * kRowWords];

  __device__ void clear() {
    for (int i = threadIdx.x & 31; i < kUnitGroups * kRowWords; i += 32) rows[i] = 0;
    __syncwarp();  // rows are zero before anyone counts
  }
  __device__ void add_group(const std::uint32_t (&residuals)[kGroupRegisters], int row) {
#pragma unroll
    for (const std::uint32_t residual : residuals)
      atomicAdd(&rows[row * kRowWords + bit_length(residual)], 1u);
  }
  __device__ const std::uint32_t* row(int row) const { return rows + row * kRowWords; }
  __device__ void clear_row(int row) {
#pragma unroll
    for (int i = 0; i < kRowWords; ++i) rows[row * kRowWords + i] = 0;
  }
};

}  // namespace gdelta::cuda
