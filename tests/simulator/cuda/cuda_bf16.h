// Stands in for CUDA's bfloat16.
#pragma once

#include "kernels/scan/algebra/half_float.h"

struct __nv_bfloat16 {
  std::uint16_t bits = 0;
  __nv_bfloat16() = default;
  explicit __nv_bfloat16(float value) : bits(gdelta::scan::BFloat16::from_float(value)) {}
  operator float() const { return gdelta::scan::BFloat16::to_float(bits); }
};
