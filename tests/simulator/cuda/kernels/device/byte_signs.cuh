// Stands in for kernels/device/byte_signs.cuh.
#pragma once

#include <cstdint>

namespace gdelta::device {

inline std::uint32_t byte_signs(std::uint32_t bytes) { return (bytes >> 7 & 0x01010101) * 255; }

}  // namespace gdelta::device
