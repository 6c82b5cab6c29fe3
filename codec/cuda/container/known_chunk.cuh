// Whether a stream still has the head that the host has read of a chunk.
#pragma once

#include <algorithm>

#include "codec/cuda/container/take_heads_cuda.h"
#include "kernels/device/warp.cuh"

namespace gdelta::cuda {

/// Those bytes of a word that lie in [begin, end); the word has the bytes from `at` on.
__device__ inline std::uint32_t mask_of_word(int at, int begin, int end) {
  const int low = 8 * std::clamp(begin - at, 0, 4), high = 8 * std::clamp(end - at, 0, 4);
  const std::uint64_t below = (std::uint64_t{1} << high) - 1;
  return static_cast<std::uint32_t>(below >> low << low);
}

/// Whether both have the same bytes; they lie equally far from multiples of 16. The whole warp calls it.
__device__ inline bool are_same(const unsigned char* a, const unsigned char* b,
                                std::uint32_t bytes) {
  const int skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(a) & 15);
  const int end = skew + static_cast<int>(bytes);
  const auto* const words_a = reinterpret_cast<const uint4*>(a - skew);
  const auto* const words_b = reinterpret_cast<const uint4*>(b - skew);
  std::uint32_t differing = 0;
  for (int at = 16 * static_cast<int>(threadIdx.x & 31); at < end; at += 16 * 32) {
    const uint4 x = words_a[at / 16], y = words_b[at / 16];
    differing |= (x.x ^ y.x) & mask_of_word(at, skew, end);
    differing |= (x.y ^ y.y) & mask_of_word(at + 4, skew, end);
    differing |= (x.z ^ y.z) & mask_of_word(at + 8, skew, end);
    differing |= (x.w ^ y.w) & mask_of_word(at + 12, skew, end);
  }
  return !__any_sync(device::kWholeWarp, differing != 0);
}

/// Whether the table says of a chunk's place and sizes what its known head does; if not, it was put together of several.
__device__ inline bool is_of_one_piece(const KnownChunk& known, const ChunkTableHeader& header,
                                       const TableChunk& place) {
  const std::uint64_t record_bytes = place.opaque != 0 ? 1 : header.record_bytes;
  return known.block_bytes == place.block_bytes && (known.head_at - place.block_at) % 16 == 0 &&
         known.records * record_bytes == place.decoded_bytes;
}

}  // namespace gdelta::cuda
