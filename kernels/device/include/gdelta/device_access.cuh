// What the installed kernels need and CUDA C++ has no name for: shared memory whose size the launch
// decides, and words that order memory. Kernels use these functions and no `asm`, so that tests can
// run them if there is no GPU (tests/simulator).
#pragma once

#include <cuda_runtime.h>

namespace gdelta::device {

/// The shared memory that the launch asked for; 128-byte aligned.
__device__ __forceinline__ unsigned char* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char dynamic[];
  return dynamic;
}

/// Writes a word after everything that this thread has written before.
__device__ __forceinline__ void store_release(unsigned* p, unsigned value) {
  asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

/// Reads a word before everything that this thread reads afterwards.
__device__ __forceinline__ unsigned load_acquire(const unsigned* p) {
  unsigned value;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}

}  // namespace gdelta::device
