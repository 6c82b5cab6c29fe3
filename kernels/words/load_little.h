// Little-endian numbers at any address, on the host.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace gdelta {

inline std::uint64_t load64(const unsigned char* at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
  return value;
}

inline std::uint32_t load32(const unsigned char* at) {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap32(value);
  return value;
}

}  // namespace gdelta
