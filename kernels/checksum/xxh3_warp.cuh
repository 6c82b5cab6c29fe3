// XXH3-64 of one input by a warp. Of a long input, thread t keeps accumulator t mod 8 of every fourth
// stripe: sums between two scrambles may be taken in any order. Of a short one, it takes product t.
// See xxh3.h. Cannot fail.
#pragma once

#include "kernels/checksum/xxh3.h"
#include "kernels/device/warp.cuh"
#include "kernels/words/load_anywhere.cuh"

namespace gdelta::xxh3 {

/// The secret where all threads of a block reach it fast. Synchronise the block before its use.
struct SharedSecret {
  std::uint64_t words[kSecretBytes / 8];
  __device__ void load() {
    if (threadIdx.x < kSecretBytes / 8) words[threadIdx.x] = secret_word(threadIdx.x);
  }
  /// Eight bytes from any byte on.
  __device__ std::uint64_t at(int byte) const {
    return cuda::load_u64_anywhere(reinterpret_cast<const unsigned char*>(words) + byte);
  }
};

namespace detail {

/// Inputs of 17 to 240 bytes, which have 16 products at most.
__device__ inline std::uint64_t hash_products(const SharedSecret& secret, const unsigned char* p,
                                              int n) {
  const int product = threadIdx.x & 15;
  const bool from_both_ends = n <= kBothEndsBytes;
  int at = 16 * product, key = 16 * product;
  bool any = product < n / 16;
  if (from_both_ends) {
    any = product < 2 * ((n - 1) / 32 + 1);
    at = (product & 1) == 0 ? 8 * product : n - 8 * (product + 1);
  } else if (product == 15) {
    any = true;
    at = n - 16;
    key = kLastMixSecret;
  } else if (product >= 8) {
    key += kSecondMixSecret - 16 * 8;
  }
  std::uint64_t sum = 0;
  if (any)
    sum = fold_product(cuda::load_u64_anywhere(p + at) ^ secret.at(key),
                       cuda::load_u64_anywhere(p + at + 8) ^ secret.at(key + 8));
#pragma unroll
  for (int distance = 1; distance < 8; distance *= 2)
    sum += __shfl_xor_sync(device::kWholeWarp, sum, distance);
  const std::uint64_t first = __shfl_sync(device::kWholeWarp, sum, 0);
  const std::uint64_t second = __shfl_sync(device::kWholeWarp, sum, 8);
  const std::uint64_t hash = avalanche(static_cast<std::uint64_t>(n) * kPrime64_1 + first);
  return from_both_ends ? hash : avalanche(hash + second);
}

/// Inputs of more than 240 bytes.
__device__ inline std::uint64_t hash_stripes(const SharedSecret& secret, const unsigned char* p,
                                             std::uint64_t length) {
  constexpr int kStripesAtOnce = 4;
  constexpr int kEach = kBlockStripes / kStripesAtOnce;
  const int place = threadIdx.x & 7, among = threadIdx.x / 8 % kStripesAtOnce;
  const auto term = [&](std::uint64_t data, std::uint64_t key) {
    return keyed_product(data, key) + __shfl_xor_sync(device::kWholeWarp, data, 1);
  };
  std::uint64_t sum = first_accumulator(place);
  const std::uint64_t stripes = (length - 1) / kStripeBytes;
#pragma unroll 1
  for (std::uint64_t first = 0; first < stripes; first += kBlockStripes) {
    std::uint64_t data[kEach];
    // All loads before the first use: a shuffle is a barrier for the compiler.
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const std::uint64_t stripe = first + kStripesAtOnce * i + among;
      data[i] =
          stripe < stripes ? cuda::load_u64_anywhere(p + stripe * kStripeBytes + 8 * place) : 0;
    }
    std::uint64_t added = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int in_block = kStripesAtOnce * i + among;
      const std::uint64_t more = term(data[i], secret.words[in_block + place]);
      if (first + in_block < stripes) added += more;
    }
    added += __shfl_xor_sync(device::kWholeWarp, added, 8);
    added += __shfl_xor_sync(device::kWholeWarp, added, 16);
    sum += added;
    if (first + kBlockStripes <= stripes)
      sum = scramble(sum, secret.words[kScrambleSecret / 8 + place]);
  }
  sum += term(cuda::load_u64_anywhere(p + length - kStripeBytes + 8 * place),
              secret.at(kLastStripeSecret + 8 * place));
  const std::uint64_t keyed = sum ^ secret.at(kMergeSecret + 8 * place);
  std::uint64_t folded = fold_product(keyed, __shfl_xor_sync(device::kWholeWarp, keyed, 1));
  folded += __shfl_xor_sync(device::kWholeWarp, folded, 2);
  folded += __shfl_xor_sync(device::kWholeWarp, folded, 4);
  return avalanche(length * kPrime64_1 + folded);
}

}  // namespace detail

/// The whole warp calls it with the same input; all threads get the hash.
__device__ inline std::uint64_t hash_by_warp(const SharedSecret& secret, const unsigned char* p,
                                             std::uint64_t length) {
  if (length <= kTinyBytes) return hash_tiny(p, static_cast<int>(length));
  if (length <= kMidBytes) return detail::hash_products(secret, p, static_cast<int>(length));
  return detail::hash_stripes(secret, p, length);
}

}  // namespace gdelta::xxh3
