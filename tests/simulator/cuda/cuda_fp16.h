// Stands in for CUDA's half precision.
#pragma once

#include "kernels/scan/algebra/half_float.h"

struct __half {
  std::uint16_t bits = 0;
  __half() = default;
  explicit __half(float value) : bits(gdelta::scan::Binary16::from_float(value)) {}
  operator float() const { return gdelta::scan::Binary16::to_float(bits); }
};
