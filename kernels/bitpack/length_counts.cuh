// How many residuals of a group need how many bits, counted by a warp. The counts of 32 groups lie
// side by side, so that afterwards each thread weighs one group by the rule that all encoders share.
#pragma once

#include <cstdint>

#include "kernels/deltas/lane_residuals.cuh"

namespace gdelta::cuda {

__device__ inline int bit_length(std::uint32_t value) { return 32 - __clz(value); }
__device__ inline int bit_length(std::uint64_t value) {
  return 64 - __clzll(static_cast<long long>(value));
}

/// Each warp has one, in shared memory.
template <class Word>
struct LengthCounts {
  // A row is an odd number of words, so that threads with a row each never meet in a bank.
  static constexpr int kRowWords = sizeof(Word) * 2 + 1;
  std::uint32_t bins[4 * kRowWords];
  std::uint32_t rows[kUnitGroups * kRowWords];

  __device__ void clear() {
    for (int i = threadIdx.x & 31; i < 4 * kRowWords; i += 32) bins[i] = 0;
    __syncwarp();  // bins are zero before anyone counts
  }

  /// Counts the residuals of a group into row `row`; leaves the bins empty.
  __device__ void add_group(const Word (&residuals)[kGroupRegisters], int row) {
#pragma unroll
    for (int j = 0; j < kGroupRegisters; ++j) atomicAdd(&bins[bit_length(residuals[j])], 1u);
    __syncwarp();  // all are counted
    const int thread = threadIdx.x & 31;
    if (thread < kRowWords) {
      std::uint32_t packed = 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        packed |= bins[4 * thread + i] << (8 * i);
        bins[4 * thread + i] = 0;
      }
      rows[row * kRowWords + thread] = packed;
    }
    __syncwarp();  // the row is there, and the bins are zero again
  }

  __device__ const std::uint8_t* row(int row) const {
    return reinterpret_cast<const std::uint8_t*>(rows + row * kRowWords);
  }
};

}  // namespace gdelta::cuda
