// What the states of a tile named.
#pragma once

#include <cstdint>

#include "kernels/ans/ans_layout.h"

namespace gdelta {

/// The slot that was named for residual i of state s, and how many bits its offset has, at i × states + s. Code for AVX-512
/// keeps, of words of 32 bits, the lower end of the slot's bin in its place.
struct alignas(64) AnsPicks {
  std::uint32_t slots[kMaxAnsTile];
  std::uint32_t offset_bits[kMaxAnsTile];
  // Of code for AVX-512 alone: of all offsets of a state, and of the longest offset.
  std::uint32_t run_bits[kMaxAnsStates];
  std::uint32_t most_offset_bits;
};

}  // namespace gdelta
