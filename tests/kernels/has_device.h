// For tests on a GPU.
#pragma once

#include <cuda_runtime.h>

inline bool has_device() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}
