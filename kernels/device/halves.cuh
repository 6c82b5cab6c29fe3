// Numbers of 16 bits, two in a word: the first in its low half. Devices from sm_90 on add both by one instruction.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/device/warp.cuh"

namespace gdelta::device {

/// Whether that takes less than adding them one by one; of the code that is compiled for a device, or simulated.
#if !defined(__CUDACC__) || __CUDA_ARCH__ >= 900
inline constexpr bool kAddsHalves = true;
#else
inline constexpr bool kAddsHalves = false;
#endif

__device__ __forceinline__ std::uint32_t add_halves(std::uint32_t a, std::uint32_t b) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
  return __vadd2(a, b);
#else
  constexpr std::uint32_t kHighest = 0x80008000;
  return ((a & ~kHighest) + (b & ~kHighest)) ^ ((a ^ b) & kHighest);
#endif
}

/// Of two words the low halves.
__device__ __forceinline__ std::uint32_t join_halves(std::uint32_t first, std::uint32_t second) {
  return (first & 0xffff) | second << 16;
}

/// One sum of order 1 over the words of a warp's runs, as sum_tile makes them of numbers that have a word each. Thread k keeps
/// y(k+1) of the state.
template <int Run>
__device__ __forceinline__ void sum_halves(std::uint32_t (&run)[Run], std::uint32_t& state, int k,
                                           int thread) {
  std::uint32_t sum = run[0];
#pragma unroll
  for (int i = 1; i < Run; ++i) sum = add_halves(sum, run[i]);
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t below = __shfl_up_sync(kWholeWarp, sum, distance);
    if (thread >= distance) sum = add_halves(sum, below);
  }
  const std::uint32_t carry = __shfl_sync(kWholeWarp, state, k);
  const std::uint32_t after = add_halves(carry, __shfl_sync(kWholeWarp, sum, 31));
  const std::uint32_t before = __shfl_up_sync(kWholeWarp, sum, 1);
  if (thread == k) state = after;
  sum = thread == 0 ? carry : add_halves(carry, before);
#pragma unroll
  for (std::uint32_t& word : run) word = sum = add_halves(sum, word);
}

}  // namespace gdelta::device
