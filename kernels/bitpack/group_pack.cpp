#include "kernels/bitpack/group_pack.h"

#include <bit>
#include <cstring>

namespace gdelta {
namespace {

std::uint64_t load64(const unsigned char* p) {
  std::uint64_t value;
  std::memcpy(&value, p, sizeof value);
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
  return value;
}

void store64(unsigned char* p, std::uint64_t value) {
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
  std::memcpy(p, &value, sizeof value);
}

int residual_of_slot(int slot) { return 8 * (slot & 15) + (slot >> 4); }

}  // namespace

template <class Word>
void count_bit_lengths(const Word* residuals, std::uint8_t* counts) {
  // Two tables: neighbours often have the same length, and a table's entry is a dependency.
  std::uint8_t odd[65] = {};
  std::memset(counts, 0, 65);
  for (int i = 0; i < kPackGroup; i += 2) {
    ++counts[std::bit_width(residuals[i])];
    ++odd[std::bit_width(residuals[i + 1])];
  }
  for (int b = 0; b < 65; ++b) counts[b] = static_cast<std::uint8_t>(counts[b] + odd[b]);
}

template <class Word>
void pack_group(const Word* residuals, int width, unsigned char* packed) {
  if (width == 0) return;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width);
  std::uint64_t pending = 0;
  int bits = 0;
  for (int slot = 0; slot < kPackGroup; ++slot) {
    const std::uint64_t field = residuals[residual_of_slot(slot)] & mask;
    pending |= field << bits;
    bits += width;
    if (bits >= 64) {
      store64(packed, pending);
      packed += 8;
      bits -= 64;
      // The part of the field that did not fit; a shift by 64 is no shift at all, so take two.
      pending = bits == 0 ? 0 : field >> (width - bits);
    }
  }
}

template <class Word>
void unpack_group(const unsigned char* packed, int width, Word* residuals) {
  if (width == 0) {
    std::memset(residuals, 0, kPackGroup * sizeof(Word));
    return;
  }
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width);
  if (width <= 57) {
    for (int slot = 0; slot < kPackGroup; ++slot) {
      const unsigned bit = static_cast<unsigned>(slot * width);
      residuals[residual_of_slot(slot)] =
          static_cast<Word>((load64(packed + (bit >> 3)) >> (bit & 7)) & mask);
    }
    return;
  }
  for (int slot = 0; slot < kPackGroup; ++slot) {
    const unsigned bit = static_cast<unsigned>(slot * width);
    const unsigned char* at = packed + (bit >> 3);
    const unsigned shift = bit & 7;
    const std::uint64_t low = load64(at) >> shift;
    const std::uint64_t high = static_cast<std::uint64_t>(at[8]) << 1 << (63 - shift);
    residuals[residual_of_slot(slot)] = static_cast<Word>((low | high) & mask);
  }
}

template void count_bit_lengths(const std::uint32_t*, std::uint8_t*);
template void count_bit_lengths(const std::uint64_t*, std::uint8_t*);
template void pack_group(const std::uint32_t*, int, unsigned char*);
template void pack_group(const std::uint64_t*, int, unsigned char*);
template void unpack_group(const unsigned char*, int, std::uint32_t*);
template void unpack_group(const unsigned char*, int, std::uint64_t*);

}  // namespace gdelta
