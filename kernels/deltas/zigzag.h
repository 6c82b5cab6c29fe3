// Zigzag: numbers near zero become small unsigned numbers. Spec: spec.md, section 5.
#pragma once

#include <type_traits>

#include "kernels/device/host_device.h"

namespace gdelta {

/// A residual of `value_bits` bits (higher bits are ignored) as 2r or -2r - 1, below 2^value_bits.
template <class Word>
GDELTA_HD Word zigzag_encode(Word residual, int value_bits) {
  using Signed = std::make_signed_t<Word>;
  const int spare = static_cast<int>(8 * sizeof(Word)) - value_bits;
  const Signed r = static_cast<Signed>(residual << spare) >> spare;
  return (static_cast<Word>(r) << 1) ^ static_cast<Word>(r >> (8 * sizeof(Word) - 1));
}

/// The inverse; right modulo 2^w for every width w that the number was made for.
template <class Word>
GDELTA_HD Word zigzag_decode(Word z) {
  return (z >> 1) ^ (Word{0} - (z & 1));
}

}  // namespace gdelta
