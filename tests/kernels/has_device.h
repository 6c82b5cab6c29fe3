// For tests on a GPU.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

inline bool has_device() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

/// Skips the test with its reason if there is no GPU.
#define GDELTA_NEEDS_DEVICE() \
  if (!has_device()) GTEST_SKIP() << "this machine has no CUDA device"
