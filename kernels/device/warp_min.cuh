// The least of all threads' values: an instruction from sm_80 on.
#pragma once

#include <cstdint>

#include "kernels/device/warp.cuh"

namespace gdelta::device {

/// The whole warp calls it.
__device__ __forceinline__ std::uint32_t warp_min(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(kWholeWarp, value);
#else
  for (int distance = 16; distance > 0; distance /= 2)
    value = min(value, __shfl_xor_sync(kWholeWarp, value, distance));
  return value;
#endif
}

}  // namespace gdelta::device
