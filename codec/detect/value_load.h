// Loads the values of a cut.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace gdelta {

template <class Word>
Word swapped(Word value) {
  if constexpr (sizeof(Word) == 8) return __builtin_bswap64(value);
  if constexpr (sizeof(Word) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(Word) == 2) return __builtin_bswap16(value);
  return value;
}

/// A value of `kBytes` bytes in the upper bits of Word, so that arithmetic wraps at its width.
template <class Word, int kBytes, bool kBigEndian>
Word load_value(const std::byte* at) {
  Word value = 0;
  if constexpr (kBytes == sizeof(Word)) {
    std::memcpy(&value, at, kBytes);
    if constexpr (kBigEndian != (std::endian::native == std::endian::big)) value = swapped(value);
    return value;
  } else {
    for (int i = 0; i < kBytes; ++i)
      value = value << 8 | std::to_integer<Word>(at[kBigEndian ? i : kBytes - 1 - i]);
    return value << 8 * (static_cast<int>(sizeof(Word)) - kBytes);
  }
}

/// Values `stride` bytes apart.
template <class Word, int kBytes, bool kBigEndian>
void load_values(const std::byte* at, std::uint64_t stride, std::span<Word> values) {
  if (stride == kBytes) {  // a loop that vectorises
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = load_value<Word, kBytes, kBigEndian>(at + i * kBytes);
    return;
  }
  for (Word& value : values) {
    value = load_value<Word, kBytes, kBigEndian>(at);
    at += stride;
  }
}

}  // namespace gdelta
