// Stands in for kernels/device/highest_bit.cuh.
#pragma once

#include <bit>

namespace gdelta::device {

template <class Word>
int highest_bit(Word value) {
  return static_cast<int>(std::bit_width(value)) - 1;
}

}  // namespace gdelta::device
