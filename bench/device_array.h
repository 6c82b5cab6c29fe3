// For benches: arrays in device memory. A failure ends the program.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/cuda_check.h"

namespace gdelta::bench {

/// Never empty, so that kernels get a pointer. The caller frees it.
template <class T>
T* device_array(std::uint64_t count) {
  void* data = nullptr;
  GDELTA_CHECK(cudaMalloc(&data, std::max<std::uint64_t>(count * sizeof(T), 16)));
  return static_cast<T*>(data);
}

}  // namespace gdelta::bench
