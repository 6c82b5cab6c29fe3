// What the threads of a block do together.
#pragma once

#include "kernels/device/warp.cuh"

namespace gdelta::device {

/// The sum of `carry`, of this thread's value and of those of the threads before it in the block;
/// adds all of them to `carry`. All threads call it, with an array in shared memory that has a place
/// for each warp.
template <class Value, int kWarps>
__device__ Value block_prefix(Value value, Value (&warp_sums)[kWarps], Value& carry) {
  const int thread = threadIdx.x & 31, warp = threadIdx.x / 32;
  Value sum = warp_prefix(value);
  if (thread == 31) warp_sums[warp] = sum;
  __syncthreads();  // the sums of all warps are there
  Value all = carry;
  sum += carry;
  for (int w = 0; w < kWarps; ++w) {
    if (w < warp) sum += warp_sums[w];
    all += warp_sums[w];
  }
  carry = all;
  __syncthreads();  // and have been read
  return sum;
}

}  // namespace gdelta::device
