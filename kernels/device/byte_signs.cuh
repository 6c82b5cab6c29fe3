// An instruction of the PTX ISA that CUDA C++ gives without the copies of signs that it makes.
#pragma once

#include <cstdint>

namespace gdelta::device {

/// Each byte's sign in all bits of the byte.
__device__ __forceinline__ std::uint32_t byte_signs(std::uint32_t bytes) {
  std::uint32_t signs;
  asm("prmt.b32 %0, %1, 0, 0xba98;" : "=r"(signs) : "r"(bytes));
  return signs;
}

}  // namespace gdelta::device
