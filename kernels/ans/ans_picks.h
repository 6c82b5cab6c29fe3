// What the states of a tile named.
#pragma once

#include <cstdint>

#include "kernels/ans/ans_layout.h"

namespace gdelta {

/// The slot that was named for residual i of state s, and how many bits its offset has, at i × states + s.
struct alignas(64) AnsPicks {
  std::uint32_t
      slots[kMaxAnsTile];  ///< of code for AVX-512 and words of 32 bits: the lower end of its bin
  std::uint32_t offset_bits[kMaxAnsTile];
  std::uint32_t run_bits[kMaxAnsStates];  ///< of all offsets of a state; of code for AVX-512 alone
};

}  // namespace gdelta
