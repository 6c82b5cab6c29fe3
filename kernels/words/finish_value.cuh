// The last steps of decoding a value: value map and byte order undone.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/words/value_maps.h"

namespace gdelta::cuda {

template <int ValueBytes>
using WordOf = std::conditional_t<ValueBytes == 8, std::uint64_t, std::uint32_t>;

/// Gives ones in the low `value_bits` bits.
template <class Word>
__device__ inline Word value_mask(int value_bits) {
  return static_cast<Word>(~Word{0}) >> (8 * sizeof(Word) - value_bits);
}

/// The low `value_bytes` bytes the other way round; what lies above them becomes zero.
template <class Word>
__device__ inline Word swap_value(Word value, int value_bytes) {
  const int spare = 8 * (static_cast<int>(sizeof(Word)) - value_bytes);
  if constexpr (sizeof(Word) == 8) {
    const std::uint32_t low = static_cast<std::uint32_t>(value);
    const std::uint32_t high = static_cast<std::uint32_t>(value >> 32);
    const std::uint64_t swapped = (static_cast<std::uint64_t>(__byte_perm(low, 0, 0x0123)) << 32) |
                                  __byte_perm(high, 0, 0x0123);
    return swapped >> spare;
  } else {
    return __byte_perm(value, 0, 0x0123) >> spare;
  }
}

template <class Word>
__device__ inline Word finish_value(Word value, int value_bytes, std::uint8_t map,
                                    bool big_endian) {
  with_map(map, [&](auto of) { value = decltype(of)::undo(value, 8 * value_bytes); });
  if (big_endian) value = swap_value(value, value_bytes);
  return value;
}

/// A value at any address; `aligned` says that the address is a multiple of the width (1, 2, 4, 8).
template <class Word>
__device__ inline Word load_value(const unsigned char* p, int value_bytes, bool aligned) {
  if (aligned) {
    if constexpr (sizeof(Word) == 8) return *reinterpret_cast<const std::uint64_t*>(p);
    if (value_bytes == 4) return *reinterpret_cast<const std::uint32_t*>(p);
    if (value_bytes == 2) return *reinterpret_cast<const std::uint16_t*>(p);
  }
  Word value = 0;
  for (int i = 0; i < value_bytes; ++i) value |= static_cast<Word>(p[i]) << (8 * i);
  return value;
}

template <class Word>
__device__ inline void store_value(unsigned char* p, int value_bytes, bool aligned, Word value) {
  if (aligned) {
    if constexpr (sizeof(Word) == 8) {
      *reinterpret_cast<std::uint64_t*>(p) = value;
      return;
    }
    if (value_bytes == 4) {
      *reinterpret_cast<std::uint32_t*>(p) = static_cast<std::uint32_t>(value);
      return;
    }
    if (value_bytes == 2) {
      *reinterpret_cast<std::uint16_t*>(p) = static_cast<std::uint16_t>(value);
      return;
    }
  }
  for (int i = 0; i < value_bytes; ++i) p[i] = static_cast<unsigned char>(value >> (8 * i));
}

/// Whether all values of a column lie at multiples of their width.
__device__ inline bool is_value_aligned(const void* first, std::uint64_t step_bytes,
                                        int value_bytes) {
  return value_bytes != 3 &&
         ((reinterpret_cast<std::uintptr_t>(first) | step_bytes) & (value_bytes - 1)) == 0;
}

}  // namespace gdelta::cuda
