// A sink (formats/gdelta/byte_sinks.h) by which a warp writes a head to memory: its threads call the same
// functions with the same arguments.
#pragma once

#include "formats/gdelta/byte_sinks.h"

namespace gdelta::cuda {

struct WarpSink {
  format::Byte* at;  // where the next byte goes
  int thread;        // of the warp

  __device__ void le(int bytes, std::uint64_t value) {
    if (thread == 0) format::store_le(at, bytes, value);
    at += bytes;
  }
  __device__ void varint(std::uint64_t value) {
    if (thread == 0) format::write_varint(at, value);
    at += format::varint_bytes(value);
  }
  __device__ void bytes(const format::ByteStretch& stretch) {
    for (std::uint64_t i = thread; i < stretch.count; i += 32) at[i] = stretch.first[i];
    at += stretch.count;
  }
  __device__ void words(const format::WordStretch& stretch) {
    for (std::uint64_t i = thread; i < stretch.count; i += 32)
      format::store_le(at + 4 * i, 4, stretch.first[i]);
    at += 4 * stretch.count;
  }
};

}  // namespace gdelta::cuda
