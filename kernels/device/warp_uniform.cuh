// What all threads of a warp have alike, said so that the compiler knows. It cannot tell of what depends on threadIdx or
// comes from memory, so behind a branch by that every shuffle and every vote gets code for a warp that is parted, and
// stays where it is.
#pragma once

#include "kernels/device/warp.cuh"

namespace gdelta::device {

/// A value that all threads of the warp have. The whole warp calls it.
template <class Value>
__device__ Value warp_uniform(Value value) {
  return __shfl_sync(kWholeWarp, value, 0);
}

__device__ inline bool warp_uniform(bool value) {
  return __shfl_sync(kWholeWarp, static_cast<int>(value), 0) != 0;
}

/// Which warp of the block this is. The whole warp calls it.
__device__ inline int warp_number() { return warp_uniform(static_cast<int>(threadIdx.x / 32)); }

}  // namespace gdelta::device
