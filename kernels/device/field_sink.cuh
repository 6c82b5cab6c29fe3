// Where a thread writes fields of a head in memory, one after the other.
#pragma once

#include <cstdint>

namespace gdelta::device {

/// A sink: of what heads ask of one, what fields need.
struct FieldSink {
  unsigned char* at;

  __device__ void le(int bytes, std::uint64_t value) {
    for (int i = 0; i < bytes; ++i) *at++ = static_cast<unsigned char>(value >> 8 * i);
  }
  __device__ void varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7) *at++ = static_cast<unsigned char>(value | 128);
    *at++ = static_cast<unsigned char>(value);
  }
};

}  // namespace gdelta::device
