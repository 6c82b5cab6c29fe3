// What XXH3-64 with seed 0 is made of, written from the algorithm's description (github.com/Cyan4973/xxHash,
// doc/xxhash_spec.md). The CPU path of the library calls libxxhash; this one exists because kernels cannot.
// Cannot fail.
//
// Bytes may lie at any alignment. Short inputs (up to 240 bytes) are a chain of 128-bit products;
// longer ones run eight accumulators over stripes of 64 bytes; `xxh3_warp.cuh` spreads both over the
// threads of a warp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/host_device.h"

namespace gdelta::xxh3 {

inline constexpr std::uint32_t kPrime32_1 = 0x9E3779B1u;
inline constexpr std::uint32_t kPrime32_2 = 0x85EBCA77u;
inline constexpr std::uint32_t kPrime32_3 = 0xC2B2AE3Du;
inline constexpr std::uint64_t kPrime64_1 = 0x9E3779B185EBCA87ull;
inline constexpr std::uint64_t kPrime64_2 = 0xC2B2AE3D27D4EB4Full;
inline constexpr std::uint64_t kPrime64_3 = 0x165667B19E3779F9ull;
inline constexpr std::uint64_t kPrime64_4 = 0x85EBCA77C2B2AE63ull;
inline constexpr std::uint64_t kPrime64_5 = 0x27D4EB2F165667C5ull;
inline constexpr std::uint64_t kPrimeMx1 = 0x165667919E3779F9ull;
inline constexpr std::uint64_t kPrimeMx2 = 0x9FB21C651E98DF25ull;

inline constexpr int kSecretBytes = 192;
inline constexpr int kStripeBytes = 64;
inline constexpr int kBlockStripes = 16;  // (192 - 64) / 8
inline constexpr std::size_t kTinyBytes = 16;
inline constexpr int kBothEndsBytes = 128;     // inputs up to here are mixed from both ends
inline constexpr std::size_t kMidBytes = 240;  // longer inputs take the stripes
// Where in the secret the keys of mixed inputs begin: of products 8 and on, and of the last.
inline constexpr int kSecondMixSecret = 3, kLastMixSecret = 136 - 17;

/// The default secret as little-endian words.
inline constexpr std::uint64_t kSecret[kSecretBytes / 8] = {
    0xbe4ba423396cfeb8ull, 0x1cad21f72c81017cull, 0xdb979083e96dd4deull, 0x1f67b3b7a4a44072ull,
    0x78e5c0cc4ee679cbull, 0x2172ffcc7dd05a82ull, 0x8e2443f7744608b8ull, 0x4c263a81e69035e0ull,
    0xcb00c391bb52283cull, 0xa32e531b8b65d088ull, 0x4ef90da297486471ull, 0xd8acdea946ef1938ull,
    0x3f349ce33f76faa8ull, 0x1d4f0bc7c7bbdcf9ull, 0x3159b4cd4be0518aull, 0x647378d9c97e9fc8ull,
    0xc3ebd33483acc5eaull, 0xeb6313faffa081c5ull, 0x49daf0b751dd0d17ull, 0x9e68d429265516d3ull,
    0xfca1477d58be162bull, 0xce31d07ad1b8f88full, 0x280416958f3acb45ull, 0x7e404bbbcafbd7afull};
#if defined(__CUDACC__) || defined(__CUDA_ARCH__)
// Threads index it by their number: in memory, so that it is not rebuilt on every thread's stack.
static __device__ const std::uint64_t kDeviceSecret[kSecretBytes / 8] = {
    0xbe4ba423396cfeb8ull, 0x1cad21f72c81017cull, 0xdb979083e96dd4deull, 0x1f67b3b7a4a44072ull,
    0x78e5c0cc4ee679cbull, 0x2172ffcc7dd05a82ull, 0x8e2443f7744608b8ull, 0x4c263a81e69035e0ull,
    0xcb00c391bb52283cull, 0xa32e531b8b65d088ull, 0x4ef90da297486471ull, 0xd8acdea946ef1938ull,
    0x3f349ce33f76faa8ull, 0x1d4f0bc7c7bbdcf9ull, 0x3159b4cd4be0518aull, 0x647378d9c97e9fc8ull,
    0xc3ebd33483acc5eaull, 0xeb6313faffa081c5ull, 0x49daf0b751dd0d17ull, 0x9e68d429265516d3ull,
    0xfca1477d58be162bull, 0xce31d07ad1b8f88full, 0x280416958f3acb45ull, 0x7e404bbbcafbd7afull};
#endif

GDELTA_HD inline std::uint64_t secret_word(int word) {
#if defined(__CUDA_ARCH__)
  return kDeviceSecret[word];
#else
  return kSecret[word];
#endif
}

/// Eight bytes of the secret from any byte on.
GDELTA_HD inline std::uint64_t secret_at(int byte) {
  const int word = byte >> 3, shift = 8 * (byte & 7);
  if (shift == 0) return secret_word(word);
  return (secret_word(word) >> shift) | (secret_word(word + 1) << (64 - shift));
}

GDELTA_HD inline std::uint64_t read64(const unsigned char* p) {
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value |= static_cast<std::uint64_t>(p[i]) << (8 * i);
  return value;
}
GDELTA_HD inline std::uint32_t read32(const unsigned char* p) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(p[i]) << (8 * i);
  return value;
}

GDELTA_HD inline std::uint64_t swap64(std::uint64_t x) {
  x = ((x & 0x00ff00ff00ff00ffull) << 8) | ((x >> 8) & 0x00ff00ff00ff00ffull);
  x = ((x & 0x0000ffff0000ffffull) << 16) | ((x >> 16) & 0x0000ffff0000ffffull);
  return (x << 32) | (x >> 32);
}

GDELTA_HD inline std::uint64_t rotate_left(std::uint64_t x, int by) {
  return (x << by) | (x >> (64 - by));
}

/// Low half XOR high half of the 128-bit product.
GDELTA_HD inline std::uint64_t fold_product(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
  return (a * b) ^ __umul64hi(a, b);
#else
  const std::uint64_t a_low = a & 0xffffffffu, a_high = a >> 32;
  const std::uint64_t b_low = b & 0xffffffffu, b_high = b >> 32;
  const std::uint64_t low = a_low * b_low, cross = a_high * b_low + (low >> 32);
  const std::uint64_t middle = a_low * b_high + (cross & 0xffffffffu);
  return (a * b) ^ (a_high * b_high + (cross >> 32) + (middle >> 32));
#endif
}

GDELTA_HD inline std::uint64_t avalanche(std::uint64_t h) {
  h ^= h >> 37;
  h *= kPrimeMx1;
  return h ^ (h >> 32);
}
GDELTA_HD inline std::uint64_t avalanche_64(std::uint64_t h) {  // that of XXH64
  h ^= h >> 33;
  h *= kPrime64_2;
  h ^= h >> 29;
  h *= kPrime64_3;
  return h ^ (h >> 32);
}

/// Inputs of up to 16 bytes.
GDELTA_HD inline std::uint64_t hash_tiny(const unsigned char* p, int n) {
  if (n == 0) return avalanche_64(secret_at(56) ^ secret_at(64));
  if (n <= 3) {
    const std::uint32_t combined = (static_cast<std::uint32_t>(p[0]) << 16) |
                                   (static_cast<std::uint32_t>(p[n >> 1]) << 24) | p[n - 1] |
                                   (static_cast<std::uint32_t>(n) << 8);
    const std::uint64_t secret = secret_at(0);
    return avalanche_64(combined ^ ((secret ^ (secret >> 32)) & 0xffffffffu));
  }
  if (n <= 8) {
    const std::uint64_t both = read32(p + n - 4) + (static_cast<std::uint64_t>(read32(p)) << 32);
    std::uint64_t h = both ^ secret_at(8) ^ secret_at(16);
    h ^= rotate_left(h, 49) ^ rotate_left(h, 24);
    h *= kPrimeMx2;
    h ^= (h >> 35) + static_cast<std::uint64_t>(n);
    h *= kPrimeMx2;
    return h ^ (h >> 28);
  }
  const std::uint64_t low = read64(p) ^ secret_at(24) ^ secret_at(32);
  const std::uint64_t high = read64(p + n - 8) ^ secret_at(40) ^ secret_at(48);
  return avalanche(n + swap64(low) + high + fold_product(low, high));
}

// ---- Long inputs: accumulator `place` (0 ... 7) sees eight bytes of each stripe

GDELTA_HD inline std::uint64_t first_accumulator(int place) {
  switch (place) {
    case 0:
      return kPrime32_3;
    case 1:
      return kPrime64_1;
    case 2:
      return kPrime64_2;
    case 3:
      return kPrime64_3;
    case 4:
      return kPrime64_4;
    case 5:
      return kPrime32_2;
    case 6:
      return kPrime64_5;
    default:
      return kPrime32_1;
  }
}

/// What a place's own accumulator adds; its neighbour (place XOR 1) adds `data` itself.
GDELTA_HD inline std::uint64_t keyed_product(std::uint64_t data, std::uint64_t secret) {
  const std::uint64_t keyed = data ^ secret;
  return (keyed & 0xffffffffu) * (keyed >> 32);
}
GDELTA_HD inline std::uint64_t scramble(std::uint64_t accumulator, std::uint64_t secret) {
  accumulator ^= accumulator >> 47;
  accumulator ^= secret;
  return accumulator * kPrime32_1;
}

inline constexpr int kScrambleSecret = kSecretBytes - kStripeBytes;
inline constexpr int kLastStripeSecret = kSecretBytes - kStripeBytes - 7;
inline constexpr int kMergeSecret = 11;

}  // namespace gdelta::xxh3
