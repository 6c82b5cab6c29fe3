// Words at any address, read by aligned loads.
#pragma once

#include <cstdint>

namespace gdelta::cuda {

/// Four bytes from any address, in aligned loads: reads only words that hold one of them.
__device__ inline std::uint32_t load_u32_anywhere(const unsigned char* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const auto* words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
  const unsigned shift = 8 * (address & 3);
  return shift == 0 ? words[0] : __funnelshift_r(words[0], words[1], shift);
}

/// Eight bytes, in the same way.
__device__ inline std::uint64_t load_u64_anywhere(const unsigned char* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const auto* words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
  const unsigned shift = 8 * (address & 3);
  const std::uint32_t low = words[0], middle = words[1], high = shift == 0 ? 0 : words[2];
  return __funnelshift_r(low, middle, shift) |
         static_cast<std::uint64_t>(__funnelshift_r(middle, high, shift)) << 32;
}

}  // namespace gdelta::cuda
