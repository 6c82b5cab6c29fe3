// XXH3-64 of one input by eight neighbouring threads of a warp: thread `place` keeps accumulator
// `place`, so a stripe of 64 bytes is one load of eight bytes a thread. See xxh3.h. Cannot fail.
#pragma once

#include "kernels/checksum/xxh3.h"

namespace gdelta::xxh3 {

/// Eight bytes in as few loads as their alignment allows; never reads beyond them.
__device__ inline std::uint64_t load64(const unsigned char* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  if ((address & 7) == 0) return *reinterpret_cast<const std::uint64_t*>(p);
  if ((address & 3) == 0) {
    const auto* words = reinterpret_cast<const std::uint32_t*>(p);
    return words[0] | (static_cast<std::uint64_t>(words[1]) << 32);
  }
  if ((address & 1) == 0) {
    const auto* halves = reinterpret_cast<const std::uint16_t*>(p);
    std::uint64_t value = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) value |= static_cast<std::uint64_t>(halves[i]) << (16 * i);
    return value;
  }
  return read64(p);
}

/// The secret where all threads of a block reach it fast. Synchronise the block before its use.
struct SharedSecret {
  std::uint64_t words[kSecretBytes / 8];
  __device__ void load() {
    if (threadIdx.x < kSecretBytes / 8) words[threadIdx.x] = secret_word(threadIdx.x);
  }
};

/// All eight threads of `mask` call it with the same input; all get the hash.
__device__ inline std::uint64_t hash_by_eight(const SharedSecret& secret, const unsigned char* p,
                                              std::uint64_t length, int place, unsigned mask) {
  if (length <= kMidBytes) return hash_short(p, length);
  std::uint64_t sum = first_accumulator(place);
  const auto add = [&](std::uint64_t data, std::uint64_t key) {
    sum += keyed_product(data, key) + __shfl_xor_sync(mask, data, 1);
  };
  const std::uint64_t stripes = (length - 1) / kStripeBytes;
  const std::uint64_t whole_blocks = stripes / kBlockStripes;
  const bool aligned = (reinterpret_cast<std::uintptr_t>(p) & 7) == 0;
  for (std::uint64_t block = 0; block < whole_blocks; ++block) {
    // All loads of a block before the first use: a shuffle is a barrier for the compiler.
    std::uint64_t data[kBlockStripes];
    const unsigned char* from = p + block * kBlockBytes + 8 * place;
    if (aligned) {
#pragma unroll
      for (int i = 0; i < kBlockStripes; ++i)
        data[i] = *reinterpret_cast<const std::uint64_t*>(from + i * kStripeBytes);
    } else {
#pragma unroll
      for (int i = 0; i < kBlockStripes; ++i) data[i] = load64(from + i * kStripeBytes);
    }
#pragma unroll
    for (int i = 0; i < kBlockStripes; ++i) add(data[i], secret.words[i + place]);
    sum = scramble(sum, secret.words[kScrambleSecret / 8 + place]);
  }
  for (std::uint64_t i = whole_blocks * kBlockStripes; i < stripes; ++i)
    add(load64(p + i * kStripeBytes + 8 * place), secret.words[i % kBlockStripes + place]);
  add(load64(p + length - kStripeBytes + 8 * place), secret_at(kLastStripeSecret + 8 * place));
  const std::uint64_t keyed = sum ^ secret_at(kMergeSecret + 8 * place);
  std::uint64_t folded = fold_product(keyed, __shfl_xor_sync(mask, keyed, 1));
  folded += __shfl_xor_sync(mask, folded, 2);
  folded += __shfl_xor_sync(mask, folded, 4);
  return avalanche(length * kPrime64_1 + folded);
}

}  // namespace gdelta::xxh3
