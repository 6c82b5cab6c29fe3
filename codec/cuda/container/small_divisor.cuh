// Division of small numbers by one that is known when the kernel runs.
#pragma once

#include <cstdint>

namespace gdelta::cuda {

/// Of numbers below 2^16.
class SmallDivisor {
 public:
  __device__ explicit SmallDivisor(std::uint32_t divisor)
      : one_(divisor == 1), inverse_(divisor == 1 ? 0 : ~0u / divisor + 1) {}
  __device__ std::uint32_t quotient(std::uint32_t number) const {
    return one_ ? number : __umulhi(number, inverse_);
  }

 private:
  bool one_;
  std::uint32_t inverse_;
};

}  // namespace gdelta::cuda
