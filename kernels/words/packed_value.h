// Unaligned little-endian values of 1, 2, 3, 4 or 8 bytes in memory, as words.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace gdelta {

template <int kBytes>
struct PackedValue {
  using Word = std::conditional_t<kBytes == 8, std::uint64_t, std::uint32_t>;
  using Stored = std::conditional_t<
      kBytes == 1, std::uint8_t,
      std::conditional_t<kBytes == 2, std::uint16_t,
                         std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>>>;

  static Word load(const unsigned char* p) {
    if constexpr (kBytes == 3 || std::endian::native != std::endian::little) {
      Word value = 0;
      for (int i = 0; i < kBytes; ++i) value |= static_cast<Word>(p[i]) << (8 * i);
      return value;
    } else {
      Stored value;
      std::memcpy(&value, p, sizeof value);
      return value;
    }
  }

  static void store(unsigned char* p, Word value) {
    if constexpr (kBytes == 3 || std::endian::native != std::endian::little) {
      for (int i = 0; i < kBytes; ++i) p[i] = static_cast<unsigned char>(value >> (8 * i));
    } else {
      const Stored stored = static_cast<Stored>(value);
      std::memcpy(p, &stored, sizeof stored);
    }
  }
};

/// Calls function(integral_constant<int, bytes>) for a width known at run time.
template <class Function>
void for_value_bytes(int value_bytes, Function&& function) {
  switch (value_bytes) {
    case 1:
      return function(std::integral_constant<int, 1>{});
    case 2:
      return function(std::integral_constant<int, 2>{});
    case 3:
      return function(std::integral_constant<int, 3>{});
    case 4:
      return function(std::integral_constant<int, 4>{});
    case 8:
      return function(std::integral_constant<int, 8>{});
  }
}

}  // namespace gdelta
