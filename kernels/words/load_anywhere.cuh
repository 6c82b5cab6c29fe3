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

}  // namespace gdelta::cuda
