// Little-endian loads and stores, and a bounded cursor over bytes. Shared by host code and CUDA
// kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define GDELTA_HD __host__ __device__
#else
#define GDELTA_HD
#endif
// Before a loop of a parser: compilers of kernels leave it a loop. Unrolled and inlined everywhere, the parser of
// heads was 330 KB of machine code.
#if defined(__CUDA_ARCH__)
#define GDELTA_ROLLED _Pragma("unroll 1")
#else
#define GDELTA_ROLLED
#endif

namespace gdelta::format {

using Byte = unsigned char;

/// Reads `bytes` (1..8) bytes as a little-endian number. Any alignment.
GDELTA_HD inline std::uint64_t load_le(const Byte* p, int bytes) {
  std::uint64_t value = 0;
  GDELTA_ROLLED
  for (int i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(p[i]) << (8 * i);
  return value;
}

GDELTA_HD inline void store_le(Byte* p, int bytes, std::uint64_t value) {
  for (int i = 0; i < bytes; ++i) p[i] = static_cast<Byte>(value >> (8 * i));
}

inline constexpr int kMaxVarintBytes = 10;

/// Bytes that `write_varint` writes for this value.
GDELTA_HD inline int varint_bytes(std::uint64_t value) {
  int bytes = 1;
  while (value >>= 7) ++bytes;
  return bytes;
}

/// Writes the shortest form; returns how many bytes.
GDELTA_HD inline int write_varint(Byte* p, std::uint64_t value) {
  int bytes = 0;
  while (value >= 0x80) {
    p[bytes++] = static_cast<Byte>(value | 0x80);
    value >>= 7;
  }
  p[bytes++] = static_cast<Byte>(value);
  return bytes;
}

/// A place in a bounded stretch of bytes. After a failed read `failed` stays set and reads give
/// zero; `cut` says that bytes were missing, and not that a varint was none.
struct Cursor {
  const Byte* data = nullptr;
  std::uint64_t size = 0;
  std::uint64_t at = 0;
  bool failed = false;
  bool cut = false;

  GDELTA_HD std::uint64_t left() const { return size - at; }
  GDELTA_HD bool done() const { return !failed && at == size; }

  GDELTA_HD std::uint64_t fixed(int bytes) {
    if (failed || left() < static_cast<std::uint64_t>(bytes)) {
      cut = cut || !failed;
      failed = true;
      return 0;
    }
    const std::uint64_t value = load_le(data + at, bytes);
    at += bytes;
    return value;
  }

  GDELTA_HD Byte byte() { return static_cast<Byte>(fixed(1)); }

  GDELTA_HD std::uint64_t varint() {
    constexpr int kLastShift = 7 * (kMaxVarintBytes - 1);
    std::uint64_t value = 0;
    GDELTA_ROLLED
    for (int shift = 0; !failed; shift += 7) {
      if (at >= size) {
        cut = failed = true;
        break;
      }
      const Byte b = data[at++];
      const bool overflows = shift == kLastShift && b > 1;
      const bool longer_than_needed = shift > 0 && b == 0;
      failed = overflows || longer_than_needed;
      value |= static_cast<std::uint64_t>(b & 0x7f) << shift;
      if (b < 0x80 && !failed) return value;
    }
    return 0;
  }

  GDELTA_HD bool skip(std::uint64_t bytes) {
    if (failed || left() < bytes) {
      cut = cut || !failed;
      failed = true;
      return false;
    }
    at += bytes;
    return true;
  }
};

}  // namespace gdelta::format
