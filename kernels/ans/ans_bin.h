// A bin of the ans coder: a range of residuals, 2^offset_bits of them from `lower` up, modulo 2^w. A residual is
// coded as its bin and, plainly, its offset in it. Shared by host code and kernels.
#pragma once

#include <cstdint>

namespace gdelta {

template <class Word>
struct AnsBin {
  Word lower = 0;  // sign-extended from the width of the type
  std::uint16_t frequency = 0;
  std::uint8_t offset_bits = 0;
};

}  // namespace gdelta
