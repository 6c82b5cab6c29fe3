// How many bits a number needs.
#pragma once

#include <cstdint>

namespace gdelta::cuda {

__device__ inline int bit_length(std::uint32_t value) { return 32 - __clz(value); }
__device__ inline int bit_length(std::uint64_t value) {
  return 64 - __clzll(static_cast<long long>(value));
}

}  // namespace gdelta::cuda
