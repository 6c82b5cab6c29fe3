// The check of a part that a warp decodes tile by tile, from registers: each thread has a run of words of
// a tile, the runs follow each other, and so do the tiles.
//
// A thread adds up its runs by Horner's rule from the first tile to the last, with the inverse of the
// power by which tiles lie apart, and puts the powers right at the end: a product of 64 bits a tile.
#pragma once

#include <cstdint>

#include "kernels/checksum/part_check.h"
#include "kernels/device/warp.cuh"

namespace gdelta::cuda {

/// Modulo 2^64, of an odd number: each step doubles the bits that are right.
GDELTA_HD constexpr std::uint64_t inverse_of(std::uint64_t odd) {
  std::uint64_t inverse = odd;
  for (int step = 0; step < 5; ++step) inverse *= 2 - odd * inverse;
  return inverse;
}

/// kStep^count for count < 2^kBits.
template <std::uint64_t kStep, int kBits = 5>
__device__ inline std::uint64_t small_power(unsigned count) {
  constexpr std::uint64_t k2 = kStep * kStep, k4 = k2 * k2, k8 = k4 * k4, k16 = k8 * k8;
  constexpr std::uint64_t kSquares[] = {
      kStep, k2, k4, k8, k16, k16 * k16, (k16 * k16) * (k16 * k16)};
  static_assert(kBits <= static_cast<int>(sizeof kSquares / sizeof *kSquares));
  std::uint64_t power = 1;
#pragma unroll
  for (int bit = 0; bit < kBits; ++bit)
    if ((count >> bit & 1) != 0) power *= kSquares[bit];
  return power;
}

/// base^exponent, of exponents that differ from thread to thread.
__device__ inline std::uint64_t power_of_base(unsigned exponent) {
  std::uint64_t power = 1, square = kCheckBase;
#pragma unroll 1
  for (; exponent > 0; exponent >>= 1, square *= square)
    if ((exponent & 1) != 0) power *= square;
  return power;
}

/// The polynomial over a run.
template <int kWords>
__device__ inline std::uint64_t run_polynomial(const std::uint32_t (&words)[kWords]) {
  std::uint64_t run = 0;
#pragma unroll
  for (int i = 0; i < kWords; ++i) run += words[i] * check_power(i);
  return run;
}

/// kWords: of a thread's run.
template <int kWords>
struct PageCheck {
  static constexpr std::uint64_t kTilePower = check_power(32 * kWords);

  __device__ void add(const std::uint32_t (&words)[kWords]) {
    constexpr std::uint64_t kBack = inverse_of(kTilePower);
    sum = sum * kBack + run_polynomial(words);
  }
  /// The check of so many tiles, at most 2^kTileBits, and tuples; the whole warp calls it and gets it.
  template <int kTileBits = 5>
  __device__ std::uint32_t value(unsigned tiles, std::uint64_t tuples, int thread) const {
    constexpr std::uint64_t kRunPower = check_power(kWords);
    const std::uint64_t mine = sum * small_power<kTilePower, kTileBits>(tiles - 1) *
                               small_power<kRunPower>(static_cast<unsigned>(thread));
    return finish_check(tuples, device::warp_sum(mine));
  }

  std::uint64_t sum = 0;
};

/// Zeroes what lies behind the first `bytes` bytes of a run; `bytes` may be negative.
template <int kWords>
__device__ inline void keep_bytes(std::uint32_t (&words)[kWords], int bytes) {
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    const int left = bytes - 4 * i;
    if (left <= 0) words[i] = 0;
    if (left > 0 && left < 4) words[i] &= (1u << (8 * left)) - 1;
  }
}

}  // namespace gdelta::cuda
